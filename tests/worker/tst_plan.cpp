// SPDX-License-Identifier: Apache-2.0
// The fit check, as serve and the command line ask for it.
#include "backends/registry.h"
#include "base/error.h"
#include "io/run_folder.h"
#include "plan/forwarding_backend.h"
#include "train/run_config.h"
#include "worker/measured_runs.h"
#include "worker/protocol.h"
#include "worker/requests.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;

namespace {

Json small(std::int64_t batch, std::int64_t limit_mib) {
    return {{"data", "synthetic:3x16x16,4,1200"},
            {"network", {{"network", "quick"}, {"widths", {8, 16}}}},
            {"batch", batch},
            {"epochs", 2},
            {"threads", 1},
            {"memory_limit_mib", limit_mib},
            {"backend", "cpu"}};
}

class RefusingBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        if (op.kind == "conv2d")
            throw ConfigError("it refuses.");
        return inner().lower(graph, op, given, given_outputs);
    }
};

struct Asked {
    std::vector<Json> progress;
    Json answer;
};

Asked ask(const Json& config, const Json& more = Json::object(), const std::filesystem::path& root = {}) {
    Asked asked;
    RequestContext context;
    context.runs_root = root;
    context.progress = [&](Json body) { asked.progress.push_back(std::move(body)); };
    Json arguments = more;
    arguments["config"] = config;
    asked.answer = answer_plan(arguments, context);
    return asked;
}

void write_run(const std::filesystem::path& folder, const Json& config, const Json& toggles, double speed) {
    std::filesystem::create_directories(folder);
    write_json(folder / "config.json", RunConfig::from_json(config).to_json());
    std::ofstream events(folder / "events.jsonl");
    events << Json{{"type", "plan"}, {"time", 1}, {"device", "card"}, {"toggles", toggles}}.dump() << '\n';
    for (const double one : {speed / 2, speed}) // the first seconds are slow
        events << Json{{"type", "resources"}, {"time", 2}, {"step", 9}, {"images_per_second", one}}.dump() << '\n';
}

} // namespace

class TestPlan : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void the_quick_part_comes_first() {
        const auto asked = ask(small(32, 0));
        QCOMPARE(asked.progress.size(), std::size_t{2});
        QVERIFY(asked.progress[1].at("fit").contains("estimated_seconds"));
        const auto& fit = asked.progress[0].at("fit");
        QCOMPARE(fit.at("fits"), Json(true));
        QCOMPARE(fit.at("memory"), asked.answer.at("memory"));
        QVERIFY(fit.at("limit").get<double>() > 0);
        for (const char* later : {"layers", "largest_batch", "estimated_seconds", "recompute", "measured"}) {
            QVERIFY2(!fit.contains(later), later);
            QVERIFY2(asked.answer.contains(later), later);
        }
    }

    /// In the quick part already: it is shown before the start.
    void what_becomes_of_the_last_batch_is_told() {
        const auto told = [](std::int64_t batch) {
            const auto fit = ask(small(batch, 0), {{"brief", true}}).progress.at(0).at("fit");
            return fit.contains("last_batch") ? protocol::text_at(fit, "last_batch") : std::string("nothing");
        };
        QCOMPARE(told(64),
                 std::string("1200 images in batches of 64 leave 48 over. The last batch of each epoch has 48."));
        QVERIFY(told(109).find("share the images") != std::string::npos); // one is left over
        QCOMPARE(told(40), std::string("nothing"));
        QCOMPARE(told(1200), std::string("nothing"));
        QCOMPARE(told(1201), std::string("The batch of 1201 is larger than the training set, so all 1200 images make "
                                         "one batch."));
    }

    void the_largest_batch_fits_and_the_next_one_does_not_data() {
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("limit");
        QTest::newRow("fits") << 16 << 4;
        QTest::newRow("does not") << 700 << 4;
        QTest::newRow("few") << 64 << 1;
    }
    void the_largest_batch_fits_and_the_next_one_does_not() {
        QFETCH(int, batch);
        QFETCH(int, limit);
        const auto answer = ask(small(batch, limit)).answer;
        const auto largest = answer.at("largest_batch").get<std::int64_t>();
        QVERIFY(largest > 0 && largest < 1080);
        QCOMPARE(ask(small(largest, limit), {{"brief", true}}).answer.at("fits"), Json(true));
        const auto next = largest + (largest < 64 ? 1 : 8);
        QCOMPARE(ask(small(next, limit), {{"brief", true}}).answer.at("fits"), Json(false));
    }

    void a_batch_of_all_images_may_be_the_largest() {
        const auto answer = ask(small(16, 4096)).answer;
        QCOMPARE(answer.at("largest_batch").get<std::int64_t>(), std::int64_t{1200});
    }

    void what_does_not_fit_says_where_and_how_much() {
        const auto asked = ask(small(700, 4));
        QCOMPARE(asked.answer.at("fits"), Json(false));
        const auto& wanted = asked.answer.at("asked");
        QVERIFY(wanted.at("memory").at("total").get<double>() > 4.0 * (1 << 20));
        QVERIFY(!wanted.at("layer").get<std::string>().empty());
        QVERIFY(asked.answer.at("memory").at("total").get<double>() <= 4.0 * (1 << 20)); // of what would run
        QCOMPARE(asked.progress[0].at("fit").at("asked"), wanted);
        double sum = 0;
        for (const char* part : {"weights", "optimizer", "activations", "workspace"})
            sum += wanted.at("memory").at(part).get<double>();
        QCOMPARE(sum, wanted.at("memory").at("total").get<double>());
    }

    /// Only what is short of memory does not fit.
    void what_stands_in_for_a_kernel_is_told_as_such() {
        BackendRegistry::instance().add({.name = "refusing",
                                         .description = "refuses convolutions",
                                         .preference = 1000,
                                         .make = [](const BackendOptions& options) -> std::unique_ptr<Backend> {
                                             return std::make_unique<RefusingBackend>(make_backend("cpu", options));
                                         }});
        auto config = small(32, 4096);
        config["backend"] = "auto";
        const auto answer = ask(config).answer;
        QCOMPARE(answer.at("fits"), Json(true));
        std::string notes;
        for (const auto& note : answer.at("notes"))
            notes += note.get<std::string>() + '\n';
        QVERIFY2(notes.find("The kernel for conv2d cannot be used: it refuses.") != std::string::npos, notes.c_str());
        QVERIFY2(notes.find("Does not fit") == std::string::npos, notes.c_str());
    }

    void recomputation_is_weighed() {
        const auto cost = ask(small(64, 0)).answer.at("recompute");
        QVERIFY(cost.at("memory_with").get<double>() < cost.at("memory_without").get<double>());
        QVERIFY(cost.at("more_flops").get<double>() > 0 && cost.at("more_flops").get<double>() < 1);
    }

    void a_question_that_is_taken_back_is_left() {
        std::stop_source stop;
        RequestContext context;
        context.stop = stop.get_token();
        context.progress = [&](const Json&) { stop.request_stop(); }; // the form has changed
        try {
            (void)answer_plan({{"config", small(16, 4)}}, context);
            QFAIL("it was answered");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ExitCode::stopped);
        }
    }

    void earlier_runs_tell_what_a_toggle_costs() {
        const QTemporaryDir root;
        const std::filesystem::path path = root.path().toStdString();
        const Json on{{"fused", true}}, off{{"fused", false}};
        write_run(path / "20260101-000001-old", small(32, 0), on, 900);
        write_run(path / "20260101-000002-off", small(32, 0), off, 1310);
        write_run(path / "20260101-000003-on", small(32, 0), on, 1840);
        write_run(path / "20260101-000004-other", small(64, 0), on, 5000); // another batch
        std::filesystem::create_directories(path / "20260101-000005-damaged");
        std::ofstream(path / "20260101-000005-damaged" / "config.json") << "{";
        const auto measured = measured_runs(path, RunConfig::from_json(small(32, 0)));
        QCOMPARE(measured.size(), std::size_t{2});
        QCOMPARE(measured[0].at("images_per_second").get<double>(), 1840.0);
        QCOMPARE(measured[0].at("toggles"), on);
        QCOMPARE(measured[1].at("images_per_second").get<double>(), 1310.0);
        QCOMPARE(ask(small(32, 0), Json::object(), path).answer.at("measured"), measured);
    }
};

QTEST_APPLESS_MAIN(TestPlan)
#include "tst_plan.moc"
