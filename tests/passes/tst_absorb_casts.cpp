// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/separable.h"
#include "nn/cell.h"
#include "passes/counting.h"
#include "passes/step_values.h"

#include <QTest>

using namespace espalier;

namespace {

const Supports everything = [](const Graph&, const Op&) { return true; };

/// Whether images and filters of an op are of one type.
bool is_uniform(const Graph& graph, const Op& op) {
    std::set<DType> types;
    for (const auto& ids : {op.inputs, op.outputs})
        for (const auto id : ids)
            if (id != no_tensor && graph.shape(id).rank() == 4)
                types.insert(graph.tensor(id).type);
    return types.size() == 1;
}

/// A separable block behind x, and what `behind` makes of it.
struct Network {
    Graph graph;
    TensorId y = no_tensor;

    explicit Network(const std::function<TensorId(LayerBuilder&, TensorId)>& behind = {}) {
        GraphBuilder builder(graph);
        const auto x = builder.parameter("x", {2, 6, 7, 5}, {});
        LayerBuilder layers(builder, NormMode::training);
        y = candidate(layers, "sep_conv_3x3", x, 1, true, false);
        if (behind)
            y = behind(layers, y);
    }
    [[nodiscard]] CompiledStep compile(const Supports& supports, const std::string& precision = "fp16") const {
        std::vector<TensorId> parameters;
        for (std::size_t i = 0; i < graph.tensors().size(); ++i)
            if (graph.tensors()[i].role == Role::parameter)
                parameters.push_back(static_cast<TensorId>(i));
        return compile_step(graph, y, parameters, {.precision = precision}, {}, supports);
    }
};

bool ran(const CompiledStep& step) {
    return std::ranges::find(step.pass_order, "absorb_casts") != step.pass_order.end();
}

} // namespace

/// Ops that read and write f32 themselves give what they give between casts, on the reference.
class TestAbsorbCasts : public QObject {
    Q_OBJECT

    static void compare(const CompiledStep& expected, const CompiledStep& found) {
        const auto a = StepValues::of(expected.graph), b = StepValues::of(found.graph);
        QCOMPARE(b.kept.size(), a.kept.size());
        for (const auto& [tensor, values] : a.kept)
            QVERIFY2(difference(values, b.kept.at(tensor)) < 1e-6, std::to_string(tensor).c_str());
        for (const auto& [name, values] : a.persistent)
            QVERIFY2(difference(values, b.persistent.at(name)) < 1e-6, name.c_str());
    }

private Q_SLOTS:
    void a_block_does_without() {
        for (const std::string precision : {"fp16", "bf16"}) {
            const Network network;
            const auto with = network.compile(is_uniform, precision), without = network.compile(everything, precision);
            QCOMPARE(count(with.graph, "cast"), 2); // of all parameters, and of their gradients
            QCOMPARE(count(without.graph, "cast"), 0);
            QCOMPARE(count(without.graph, "separable_conv2d"), 2);
            const auto half = precision == "fp16" ? DType::f16 : DType::bf16;
            for (const auto& op : without.graph.ops()) {
                if (op.kind != "separable_conv2d")
                    continue;
                QCOMPARE(without.graph.tensor(op.inputs[Separable::filter]).role, Role::parameter);
                QCOMPARE(without.graph.tensor(op.inputs[Separable::matrix]).role, Role::parameter);
                QCOMPARE(without.graph.tensor(op.outputs[Separable::d]).type, half);
            }
            compare(with, without);
        }
    }

    /// The whole cast stays for one reader: it is launched anyhow.
    void a_cast_stays_for_one_reader() {
        const Network network([](LayerBuilder& layers, TensorId x) {
            auto& builder = layers.ops();
            return builder.apply_one("conv2d", {x, builder.parameter("w", {3, 6, 1, 1}, {})});
        });
        const auto with = network.compile(is_uniform), without = network.compile(everything);
        QCOMPARE(count(without.graph, "cast"), count(with.graph, "cast"));
        compare(with, without);
    }

    void casts_stay_beside_ops_that_the_backend_refuses() {
        const Network network;
        for (const char* kind : {"separable_conv2d", "separable_pointwise_gradient", "separable_depthwise_gradient",
                                 "separable_filter_gradient"}) {
            const auto step = network.compile(
                [&](const Graph& graph, const Op& op) { return op.kind != kind || is_uniform(graph, op); });
            const bool backward_alone = std::string(kind) != "separable_conv2d";
            // Of the gradients the cast may go though that of the parameters stays.
            QCOMPARE(count(step.graph, "cast"), backward_alone ? 2 : 1);
            for (const auto& op : step.graph.ops())
                QVERIFY(op.kind != kind || is_uniform(step.graph, op));
            compare(network.compile(is_uniform), step);
        }
    }

    void halves_that_are_kept_stay() {
        auto graph = Network().compile(is_uniform).graph;
        graph.keep(the(graph, "cast").outputs[0]);
        QCOMPARE(count(absorb_casts(std::move(graph), everything), "cast"), 1);
    }

    /// A copy from before a change is another tensor.
    void a_parameter_that_changes_is_read_from_its_copy() {
        for (const bool changes : {false, true}) {
            Graph graph;
            GraphBuilder builder(graph);
            const auto x = builder.buffer("x", {2, 3, 4, 4}, {}), gd = builder.input("gd", {2, 3, 4, 4}, DType::f16);
            const auto halves = builder.apply_one("cast", {x}, {{"type", std::string("f16")}});
            if (changes) {
                const auto step = builder.buffer("step", {16}, {});
                builder.apply("accumulate", {step, builder.input("g", {2, 3, 4, 4}), x}, {}, {x});
            }
            graph.keep(builder.apply_one("separable_filter_gradient", {gd, halves},
                                         {{"weight_shape", std::vector<std::int64_t>{3, 1, 3, 3}}}));
            QCOMPARE(count(absorb_casts(std::move(graph), everything), "cast"), changes ? 1 : 0);
        }
    }

    void it_runs_in_halves_alone() {
        const Network network;
        QVERIFY(ran(network.compile(everything)));
        QVERIFY(!ran(network.compile(everything, "tf32")));
        QVERIFY(!ran(network.compile({})));
    }
};

QTEST_APPLESS_MAIN(TestAbsorbCasts)
#include "tst_absorb_casts.moc"
