// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/error.h"
#include "texts.h"

#include <QtTest>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

class RegistryTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_name_is_taken_once() {
        BackendRegistry registry;
        registry.add({.name = "one"});
        QVERIFY(has(message_of<ConfigError>([&] { registry.add({.name = "one"}); }), "'one'"));
        QCOMPARE(registry.entries().size(), std::size_t{1});
    }

    void the_preferred_come_first() {
        BackendRegistry registry;
        registry.add({.name = "slow", .preference = 0});
        registry.add({.name = "fast", .preference = 2});
        registry.add({.name = "middle", .preference = 1});
        QCOMPARE(registry.entries()[0].name, "fast");
        QCOMPARE(registry.entries()[1].name, "middle");
        QCOMPARE(registry.entries()[2].name, "slow");
    }

    /// What a device's library does when it is opened is no matter of others.
    void a_backend_is_opened_when_it_is_asked_for() {
        BackendRegistry registry;
        int opened = 0;
        registry.add(BackendRegistry::Entry("one", "the one", 1, [&] {
            ++opened;
            return BackendDefinition{.name = "one", .description = "the one, opened"};
        }));
        registry.add({.name = "other"});
        QCOMPARE(registry.find("other").name, "other");
        QCOMPARE(registry.entries()[0].description, "the one");
        QCOMPARE(opened, 0);
        QCOMPARE(registry.find("one").description, "the one, opened");
        QCOMPARE(registry.find("one").name, "one");
        QCOMPARE(opened, 1);
    }

    void an_unknown_name_lists_the_known_ones() {
        const auto text = message_of<ConfigError>([] { static_cast<void>(make_backend("abacus", {})); });
        QVERIFY2(has(text, "abacus") && has(text, "reference"), text.c_str());
    }

    void every_backend_says_whether_it_is_available() {
        const auto backends = available_backends();
        const auto reference = std::ranges::find(backends, "reference", &BackendStatus::name);
        QVERIFY(reference != backends.end() && reference->available);
        for (const auto& backend : backends) {
            QVERIFY(!backend.description.empty());
            QVERIFY(backend.available || !backend.available.reason.empty());
        }
    }

    /// Nothing but its entry is exported: the classes of its errors are its own copies, told apart by name.
    void an_error_of_the_gpu_engine_keeps_its_type() {
        register_all_backends();
        const auto& definition = BackendRegistry::instance().find("cuda");
        if (!definition.devices)
            QSKIP("The GPU engine is not built, or cannot be opened.");
        const auto text =
            message_of<ConfigError>([&] { static_cast<void>(definition.make({.device = "no such card"})); });
        QVERIFY2(has(text, "There is no GPU \"no such card\""), text.c_str());
    }

    void backends_are_asked_before_one_is_chosen() {
        Graph graph;
        QVERIFY(choose_backend("auto", graph, {})->name() != "reference"); // a faster one
        QCOMPARE(choose_backend("reference", graph, {})->name(), std::string_view("reference"));
        graph.add_op({"transmogrify", {}, {}, {}, "attic"});
        for (const auto* name : {"auto", "reference"}) {
            const auto text = message_of<ConfigError>([&] { static_cast<void>(choose_backend(name, graph, {})); });
            QVERIFY2(has(text, "transmogrify of layer 'attic'") && has(text, "reference:"), text.c_str());
        }
        QVERIFY(
            has(message_of<ConfigError>([&] { static_cast<void>(choose_backend("abacus", graph, {})); }), "abacus"));
    }
};

QTEST_APPLESS_MAIN(RegistryTest)
#include "tst_registry.moc"
