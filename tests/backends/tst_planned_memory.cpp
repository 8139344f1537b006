// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "nn/network_spec.h"
#include "plan/arena.h"
#include "plan/lower.h"
#include "plan/session.h"
#include "train/optimizer.h"

#include <QtTest>

using namespace espalier;

namespace {

/// A whole training step of a network.
CompiledStep training_step(const std::string& spec, std::int64_t batch, const Toggles& toggles) {
    auto forward = build_forward(NetworkSpec::from_json(Json::parse(spec)), batch, NormMode::training);
    std::vector<TensorId> parameters;
    for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i)
        if (forward.graph.tensors()[i].role == Role::parameter)
            parameters.push_back(static_cast<TensorId>(i));
    return compile_step(std::move(forward.graph), forward.loss, parameters, toggles,
                        make_update({}, {}, {forward.loss}));
}

} // namespace

/// The memory of whole networks as it is planned and as it is taken.
class PlannedMemoryTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void recomputation_cuts_the_peak_of_resnet_18() {
        const auto backend = make_backend("cpu", {});
        const auto peak = [&](bool recompute) {
            Toggles toggles;
            toggles.recompute = recompute;
            const auto step =
                training_step(R"({"network": "resnet", "base_width": 64, "stages": [2, 2, 2, 2]})", 64, toggles);
            Session session(*backend, {});
            const auto memory = session.plan("", step.graph).memory();
            return static_cast<double>(memory.activations + memory.workspace);
        };
        const auto stored = peak(false), recomputed = peak(true);
        qInfo("activations of ResNet-18, batch 64: %.1f MiB, recomputed %.1f MiB", stored / 1048576,
              recomputed / 1048576);
        QVERIFY(recomputed <= 0.7 * stored);
    }

    void arenas_come_near_their_lower_bound_data() {
        QTest::addColumn<QString>("spec");
        QTest::newRow("resnet") << R"({"network": "resnet"})";
        QTest::newRow("growing") << R"({"network": "growing"})";
        QTest::newRow("genotype") << R"({"network": "genotype", "init_channels": 16, "layers": 8})";
        QTest::newRow("supernet") << R"({"network": "supernet", "init_channels": 8, "layers": 4})";
    }
    void arenas_come_near_their_lower_bound() {
        QFETCH(QString, spec);
        for (const auto* name : {"cpu", "reference"}) {
            const auto backend = make_backend(name, {});
            PersistentTensors persistent;
            const auto arena = plan_arena(lower(training_step(spec.toStdString(), 16, {}).graph, *backend, persistent));
            QVERIFY(arena.bytes >= arena.live_peak);
            QVERIFY2(arena.bytes <= arena.live_peak + arena.live_peak / 10, name);
        }
    }

    void what_is_planned_is_what_is_taken_data() {
        QTest::addColumn<QString>("spec");
        QTest::newRow("quick") << R"({"network": "quick", "channels": 1, "height": 28, "width": 28})";
        QTest::newRow("resnet") << R"({"network": "resnet", "base_width": 8, "height": 16, "width": 16})";
        QTest::newRow("growing") << R"({"network": "growing", "height": 16, "width": 16})";
        QTest::newRow("supernet")
            << R"({"network": "supernet", "init_channels": 4, "layers": 3, "height": 12, "width": 12})";
    }
    void what_is_planned_is_what_is_taken() {
        QFETCH(QString, spec);
        for (const auto* name : {"cpu", "reference"}) {
            const auto backend = make_backend(name, {});
            Session session(*backend, {});
            auto& plan = session.plan("", training_step(spec.toStdString(), 2, {}).graph);
            const auto planned = plan.memory();
            QCOMPARE(session.allocated(), std::size_t{0});
            const auto parsed = NetworkSpec::from_json(Json::parse(spec.toStdString()));
            const std::vector<float> images(
                static_cast<std::size_t>(2 * parsed.channels * parsed.height * parsed.width));
            const std::vector<std::int32_t> labels(2);
            plan.set_input("images", images.data(), images.size() * sizeof(float));
            plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
            plan.run();
            QCOMPARE(session.allocated(), planned.total());
            QCOMPARE(session.memory().total(), planned.total());
        }
    }
};

QTEST_APPLESS_MAIN(PlannedMemoryTest)
#include "tst_planned_memory.moc"
