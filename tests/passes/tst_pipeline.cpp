// SPDX-License-Identifier: Apache-2.0
#include "graph/op_registry.h"
#include "nn/network_spec.h"
#include "passes/liveness.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "passes/step_values.h"

#include <QTest>

using namespace espalier;

namespace {

NetworkSpec spec(const char* json) { return NetworkSpec::from_json(Json::parse(json)); }

std::vector<TensorId> parameters(const Graph& graph) {
    std::vector<TensorId> found;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            found.push_back(static_cast<TensorId>(i));
    return found;
}

CompiledStep compiled(const ForwardGraph& forward, const Toggles& toggles) {
    return compile_step(forward.graph, forward.loss, parameters(forward.graph), toggles);
}

Toggles all_off() { return {.fused = false, .share = false}; }

double flops(const Graph& graph) {
    double sum = 0;
    for (const auto& op : graph.ops())
        if (!op.recomputed)
            sum += cost_of(graph, op).flops;
    return sum;
}

constexpr const char* resnet18 =
    R"({"network": "resnet", "base_width": 64, "stages": [2, 2, 2, 2], "channels": 3, "height": 32, "width": 32, "classes": 10})";
constexpr const char* supernet_small =
    R"({"network": "supernet", "init_channels": 8, "layers": 4, "channels": 3, "height": 32, "width": 32, "classes": 10})";

} // namespace

class TestPipeline : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void toggles_choose_the_passes() {
        const auto forward = build_forward(
            spec(R"({"network": "resnet", "base_width": 4, "stages": [1], "height": 8, "width": 8, "classes": 4})"), 2,
            NormMode::training);
        using Order = std::vector<std::string>;
        QCOMPARE(compiled(forward, {}).pass_order, (Order{"share", "autodiff", "fuse", "prune"}));
        QCOMPARE(compiled(forward, {.recompute = true}).pass_order,
                 (Order{"share", "autodiff", "fuse", "recompute", "reapply", "prune"}));
        QCOMPARE(compiled(forward, all_off()).pass_order, (Order{"autodiff", "prune"}));
        QCOMPARE(compiled(forward, {.safe_mode = true}).pass_order, (Order{"share", "autodiff", "prune"}));
        const auto evaluation = compile_step(forward.graph, forward.loss, {}, {.recompute = true});
        QCOMPARE(evaluation.pass_order, (Order{"share", "fuse", "prune"}));
        QVERIFY(evaluation.gradients.empty());
        for (const auto& pass : compiled(forward, {}).pass_order)
            QVERIFY(compiled(forward, {}).ops_after.contains(pass));
    }

    void safe_mode_overrides_what_is_asked() {
        const auto toggles = Toggles{.precision = "bf16", .winograd = true, .safe_mode = true}.effective();
        QCOMPARE(toggles.precision, std::string("fp32"));
        QVERIFY(!toggles.fused && toggles.reference_separable && !toggles.cuda_graphs && !toggles.winograd);
        QVERIFY(Toggles{}.effective().fused);
    }

    /// The update reads gradients before the passes over the whole graph; what it does not read goes.
    void updates_are_part_of_the_graph() {
        const auto forward = build_forward(
            spec(R"({"network": "resnet", "base_width": 4, "stages": [1], "height": 8, "width": 8, "classes": 4})"), 2,
            NormMode::training);
        const auto step = compile_step(
            forward.graph, forward.loss, parameters(forward.graph), {}, [](Graph& graph, const auto& gradients) {
                GraphBuilder builder(graph);
                builder.set_stage(Stage::update);
                const auto block = builder.buffer("step", {16}, {});
                const auto [parameter, gradient] = *gradients.rbegin();
                const auto momentum = builder.buffer("m", graph.shape(parameter), {});
                static_cast<void>(
                    builder.apply("sgd", {block, no_tensor, parameter, gradient, momentum}, {}, {parameter, momentum}));
            });
        QCOMPARE(step.graph.ops().back().kind, std::string("sgd"));
        QVERIFY(
            std::ranges::none_of(step.graph.ops(), [](const Op& op) { return op.kind == "conv2d_weight_gradient"; }));
    }

    void results_do_not_depend_on_the_passes_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("residual") << QByteArray(
            R"({"network": "resnet", "base_width": 4, "stages": [1, 2], "channels": 2, "height": 8, "width": 8, "classes": 4})");
        QTest::newRow("supernet") << QByteArray(
            R"({"network": "supernet", "init_channels": 2, "layers": 3, "channels": 2, "height": 8, "width": 8, "classes": 4})");
        QTest::newRow("genotype") << QByteArray(
            R"({"network": "genotype", "init_channels": 2, "layers": 3, "channels": 2, "height": 9, "width": 8, "classes": 4})");
        QTest::newRow("growing") << QByteArray(
            R"({"network": "growing", "channels": 2, "height": 8, "width": 8, "classes": 4})");
        QTest::newRow("quick") << QByteArray(
            R"({"network": "quick", "channels": 1, "height": 12, "width": 12, "classes": 4})");
    }
    void results_do_not_depend_on_the_passes() {
        QFETCH(QByteArray, json);
        for (const auto mode : {NormMode::training, NormMode::training_frozen_stats}) {
            const auto forward = build_forward(spec(json), 3, mode, {.label_smoothing = 0.1});
            const auto plain = compiled(forward, all_off());
            const auto expected = StepValues::of(plain.graph);
            for (const auto& toggles :
                 {Toggles{}, Toggles{.fused = false}, Toggles{.share = false}, Toggles{.recompute = true},
                  Toggles{.fused = false, .share = false, .recompute = true}, Toggles{.safe_mode = true}}) {
                const auto step = compiled(forward, toggles);
                QCOMPARE(flops(step.graph) <= flops(plain.graph), true); // share may save some, recompute counts none
                const auto values = StepValues::of(step.graph);
                QVERIFY(difference(expected.kept.at(forward.loss), values.kept.at(forward.loss)) < 1e-6);
                for (const auto& [tensor, gradient] : plain.gradients) {
                    const auto error =
                        difference(expected.kept.at(gradient), values.kept.at(step.gradients.at(tensor)));
                    QVERIFY2(error < 1e-5,
                             qPrintable(QString("%1: %2").arg(forward.graph.tensor(tensor).name.c_str()).arg(error)));
                }
                for (const auto& [name, value] : expected.persistent) {
                    if (mode == NormMode::training_frozen_stats && !values.persistent.contains(name))
                        continue; // running statistics of shared norms, which this step does not touch
                    QVERIFY2(difference(value, values.persistent.at(name)) < 1e-6, name.c_str());
                }
            }
        }
    }

    /// The architecture's step: gradients of alpha alone, none of weights, the same with every set of passes.
    void alpha_steps_have_no_weight_gradients() {
        const auto forward = build_forward(
            spec(
                R"({"network": "supernet", "init_channels": 2, "layers": 3, "channels": 2, "height": 8, "width": 8, "classes": 4})"),
            3, NormMode::training_frozen_stats);
        const std::vector<TensorId> alpha{*forward.graph.find("alpha_normal"), *forward.graph.find("alpha_reduce")};
        std::map<TensorId, std::vector<float>> expected;
        for (const auto& toggles : {all_off(), Toggles{}, Toggles{.recompute = true}, Toggles{.safe_mode = true}}) {
            const auto step = compile_step(forward.graph, forward.loss, alpha, toggles);
            QCOMPARE(step.gradients.size(), std::size_t{2});
            for (const auto& op : step.graph.ops())
                QVERIFY(op.kind != "conv2d_weight_gradient" && op.kind != "linear_weight_gradient");
            const auto values = StepValues::of(step.graph).kept;
            for (const auto& [tensor, gradient] : step.gradients) {
                const auto& value = values.at(gradient);
                const auto& first = expected.try_emplace(tensor, value).first->second;
                QVERIFY(std::ranges::any_of(value, [](float v) { return v != 0; }));
                QVERIFY(difference(first, value) < 1e-5);
            }
        }
    }

    void recompute_cuts_the_peak_of_resnet_18() {
        const auto forward = build_forward(spec(resnet18), 64, NormMode::training);
        const auto stored = compiled(forward, {}), repeated = compiled(forward, {.recompute = true});
        const auto before = peak_of_activations(stored.graph), after = peak_of_activations(repeated.graph);
        QVERIFY2(static_cast<double>(after) <= 0.6 * static_cast<double>(before),
                 qPrintable(QString("%1 -> %2 bytes").arg(before).arg(after)));
        QCOMPARE(flops(repeated.graph), flops(stored.graph));
    }

    /// Stated in docs/BENCHMARKS.md: of the small search network's step share takes away at least 15 % of the ops, fuse
    /// 5 %.
    void share_and_fuse_cut_the_supernet() {
        const auto forward = build_forward(spec(supernet_small), 16, NormMode::training);
        const auto none = compiled(forward, all_off()), shared = compiled(forward, {.fused = false}),
                   both = compiled(forward, {});
        const auto ops = [](const CompiledStep& step) { return static_cast<double>(step.graph.ops().size()); };
        qInfo("ops: %.0f; with share %.0f; with share and fuse %.0f", ops(none), ops(shared), ops(both));
        QVERIFY(ops(shared) <= 0.85 * ops(none));
        QVERIFY(ops(both) <= 0.95 * ops(shared));
    }

    void inference_graphs_are_fused_too() {
        const auto forward = build_forward(spec(resnet18), 8, NormMode::inference);
        const auto step = compile_step(forward.graph, forward.loss, {}, {});
        for (const auto& op : step.graph.ops())
            QVERIFY(op.kind != "relu" && op.kind != "add");
    }
};

QTEST_APPLESS_MAIN(TestPipeline)
#include "tst_pipeline.moc"
