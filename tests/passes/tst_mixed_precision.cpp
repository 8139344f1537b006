// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/normalization.h"
#include "graph/step_block.h"
#include "nn/network_spec.h"
#include "passes/counting.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "passes/step_values.h"
#include "train/optimizer.h"

#include <QTest>

using namespace espalier;

namespace {

ForwardGraph network(const char* name) {
    const auto spec = NetworkSpec::from_json(Json::parse(name));
    return build_forward(spec, 4, NormMode::training);
}

std::vector<TensorId> parameters(const Graph& graph) {
    std::vector<TensorId> found;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i)
        if (graph.tensors()[i].role == Role::parameter)
            found.push_back(static_cast<TensorId>(i));
    return found;
}

CompiledStep gradients_of(const ForwardGraph& forward, const std::string& precision) {
    return compile_step(forward.graph, forward.loss, parameters(forward.graph), {.precision = precision});
}

Graph trained(const ForwardGraph& forward, const std::string& precision) {
    const auto update = make_update({}, {}, {forward.loss, forward.correct});
    return compile_step(forward.graph, forward.loss, parameters(forward.graph), {.precision = precision}, update).graph;
}

double relative(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += std::abs(a[i] - b[i]);
        size += std::abs(a[i]);
    }
    return size > 0 ? difference / size : difference;
}

constexpr const char* resnet =
    R"({"network": "resnet", "base_width": 4, "stages": [1, 1], "channels": 3, "height": 8, "width": 8, "classes": 4})";
constexpr const char* supernet =
    R"({"network": "supernet", "init_channels": 2, "layers": 3, "channels": 3, "height": 8, "width": 8, "classes": 4})";
constexpr const char* genotype =
    R"({"network": "genotype", "init_channels": 4, "layers": 3, "channels": 3, "height": 8, "width": 8, "classes": 4})";

} // namespace

class TestMixedPrecision : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void products_take_halves_and_sums_stay_single_data() {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {resnet, supernet, genotype})
            QTest::newRow(name) << QByteArray(name);
    }
    void products_take_halves_and_sums_stay_single() {
        QFETCH(QByteArray, name);
        for (const auto type : {DType::f16, DType::bf16}) {
            const auto graph = trained(network(name), std::string(type == DType::f16 ? "fp16" : "bf16"));
            const auto type_of = [&](TensorId id) { return graph.tensor(id).type; };
            int products = 0, casts_of_parameters = 0;
            for (const auto& op : graph.ops()) {
                if (op.kind.starts_with("conv2d") || op.kind.starts_with("linear")) {
                    ++products;
                    QCOMPARE(type_of(op.inputs[0]), type);
                    QCOMPARE(type_of(op.inputs[1]), type);
                    QCOMPARE(type_of(op.outputs[0]), type);
                } else if (op.kind == "batch_norm") {
                    QCOMPARE(type_of(op.outputs[BatchNorm::y]), type);
                    QCOMPARE(type_of(op.outputs[BatchNorm::mean]), DType::f32);
                } else if (op.kind == "softmax" || op.kind == "cross_entropy") {
                    QCOMPARE(type_of(op.inputs[0]), DType::f32);
                } else if (op.kind == "cast" && graph.tensor(op.inputs[0]).role == Role::parameter) {
                    ++casts_of_parameters;
                } else if (op.stage == Stage::update) {
                    QVERIFY2(op.kind != "cast", "a gradient is cast for the update");
                }
            }
            QVERIFY(products > 10);
            QCOMPARE(casts_of_parameters, 1);
            for (const auto& tensor : graph.tensors())
                if (tensor.role == Role::parameter || tensor.role == Role::buffer)
                    QCOMPARE(tensor.type, DType::f32);
        }
    }

    /// The halves of max(x, 0) are the max of x's halves and 0: a ReLU that products alone read takes the halves, and x
    /// is cast with the other parameters.
    void a_relu_for_products_alone_takes_halves() {
        for (const bool kept : {false, true}) {
            Graph graph;
            GraphBuilder builder(graph);
            const auto x = builder.parameter("x", {2, 8, 4, 4}, {}), w = builder.parameter("w", {8, 8, 1, 1}, {});
            const auto positive = builder.apply_one("relu", {x});
            const auto y = builder.apply_one("conv2d", {positive, w});
            if (kept)
                graph.keep(positive);
            const auto step = compile_step(graph, y, std::vector{x, w}, {.precision = "fp16"});
            QCOMPARE(step.graph.tensor(positive).type, kept ? DType::f32 : DType::f16);
            QCOMPARE(count(step.graph, "cast"), kept ? 4 : 2);
        }
    }

    void gradients_stay_close_data() { products_take_halves_and_sums_stay_single_data(); }
    void gradients_stay_close() {
        QFETCH(QByteArray, name);
        const auto forward = network(name);
        const auto single = gradients_of(forward, "fp32"), half = gradients_of(forward, "fp16");
        const auto expected = StepValues::of(single.graph), found = StepValues::of(half.graph);
        QVERIFY(relative(expected.kept.at(forward.loss), found.kept.at(forward.loss)) < 2e-3);
        double worst = 0, sum = 0;
        for (const auto& [parameter, gradient] : single.gradients) {
            const auto error = relative(expected.kept.at(gradient), found.kept.at(half.gradients.at(parameter)));
            worst = std::max(worst, error);
            sum += error;
        }
        QVERIFY2(sum > 0, "halves round nothing");
        // Gradients of this size in halves; without a loss scale the smallest lose digits.
        QVERIFY2(sum / static_cast<double>(single.gradients.size()) < 0.05, std::to_string(sum).c_str());
    }

    /// Powers of two go through everything: the scale changes no digit of the update.
    void the_loss_scale_divides_out() {
        const auto forward = network(resnet);
        const auto graph = trained(forward, "fp16");
        QCOMPARE(count(graph, "loss_scale"), 1);
        QCOMPARE(count(graph, "update_loss_scale"), 1);
        QCOMPARE(count(trained(forward, "bf16"), "loss_scale"), 0);
        QCOMPARE(count(trained(forward, "fp32"), "loss_scale"), 0);

        const auto parameter_after = [&](float scale) {
            const auto backend = make_backend("reference", {});
            Session session(*backend, {.poison = true});
            auto& plan = session.plan("step", graph);
            const auto names = session.names();
            for (const auto& tensor : graph.tensors())
                if ((tensor.role == Role::parameter || tensor.role == Role::buffer) &&
                    std::ranges::find(names, tensor.name) != names.end())
                    session.set(tensor.name, named_values(tensor));
            std::vector<float> block(step_block::size, 0.0F);
            block[step_block::learning_rate] = 0.1F;
            block[step_block::micro_steps] = 1;
            session.set(step_block::name, block);
            session.set(loss_scale_name, std::vector{scale});
            session.set(good_steps_name, std::vector{0.0F});
            std::vector<float> images(4 * 3 * 8 * 8);
            for (std::size_t i = 0; i < images.size(); ++i)
                images[i] = std::sin(static_cast<float>(i));
            const std::vector<std::int32_t> labels{0, 1, 2, 3};
            plan.set_input("images", images.data(), images.size() * sizeof(float));
            plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
            plan.run();
            return std::pair{session.get("classifier.weight"), session.get(loss_scale_name).at(0)};
        };
        const auto [one, scale_one] = parameter_after(1);
        const auto [large, scale_large] = parameter_after(1024);
        QVERIFY(relative(one, large) < 1e-4);
        QCOMPARE(scale_large, 1024.0F);
    }
};

QTEST_APPLESS_MAIN(TestMixedPrecision)
#include "tst_mixed_precision.moc"
