// SPDX-License-Identifier: Apache-2.0
#include "graph/builder.h"
#include "passes/step_values.h"

#include <QTest>

using namespace espalier;

namespace {

/// A graph ending in a loss of shape [1]; every parameter is checked.
using Build = std::function<TensorId(GraphBuilder&)>;

/// A sum of y with random weights: the sum of squares would hide gradients behind a batch norm, which makes it
/// constant.
TensorId weighed(GraphBuilder& builder, TensorId y) {
    return builder.apply_one("dot", {y, builder.input("target", builder.graph().shape(y))});
}

Attributes pool(std::int64_t stride) {
    return {{"kernel", std::int64_t{3}}, {"stride", stride}, {"padding", std::int64_t{1}}};
}

TensorId norm(GraphBuilder& builder, TensorId x, const std::string& name, TensorId residual = no_tensor,
              bool relu = false) {
    const GraphBuilder::Scope scope(builder, name);
    const Shape channels{builder.graph().shape(x)[1]};
    const auto weight = builder.parameter("weight", channels, {}), bias = builder.parameter("bias", channels, {});
    const auto mean = builder.buffer("running_mean", channels, {}), var = builder.buffer("running_var", channels, {});
    return builder.apply("batch_norm", {x, weight, bias, mean, var, residual},
                         {{"activation", std::string(relu ? "relu" : "")}}, {mean, var})[0];
}

} // namespace

Q_DECLARE_METATYPE(Build)

/// Gradients of composed graphs against central differences, in double precision. Each op alone is checked with the
/// backends.
class TestGradients : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void agree_with_finite_differences_data() {
        QTest::addColumn<Build>("build");
        const auto row = [](const char* name, Build build) { QTest::newRow(name) << build; };
        row("convolution, norm with residual, relu", [](GraphBuilder& b) {
            const auto x = b.parameter("x", {2, 3, 5, 4}, {});
            const auto y = b.apply_one("conv2d", {x, b.parameter("w", {3, 3, 3, 3}, {}), b.parameter("bias", {3}, {})},
                                       {{"padding", std::int64_t{1}}});
            return weighed(b, norm(b, y, "n", x, true));
        });
        row("convolutions of 3 and 2 dimensions", [](GraphBuilder& b) {
            const auto image =
                b.apply_one("conv2d", {b.parameter("x", {3, 5, 4}, {}), b.parameter("w", {2, 3, 2, 2}, {})});
            const auto map =
                b.apply_one("conv_transpose2d", {b.parameter("z", {3, 2}, {}), b.parameter("v", {1, 2, 2, 2}, {})});
            return weighed(b, b.apply_one("add", {image, map}));
        });
        row("separable, strided, dilated", [](GraphBuilder& b) {
            auto y = b.apply_one("relu", {b.parameter("x", {2, 4, 7, 6}, {})});
            y = b.apply_one("conv2d", {y, b.parameter("w", {4, 1, 3, 3}, {})},
                            {{"padding", std::int64_t{2}},
                             {"dilation", std::int64_t{2}},
                             {"stride", std::int64_t{2}},
                             {"groups", std::int64_t{4}}});
            y = b.apply_one("conv2d", {y, b.parameter("v", {3, 4, 1, 1}, {})});
            return weighed(b, norm(b, y, "n"));
        });
        row("transposed convolution", [](GraphBuilder& b) {
            const auto x = b.parameter("x", {2, 4, 3, 4}, {});
            return weighed(b, b.apply_one("conv_transpose2d",
                                          {x, b.parameter("w", {4, 2, 3, 3}, {}), b.parameter("bias", {4}, {})},
                                          {{"stride", std::int64_t{2}},
                                           {"padding", std::int64_t{1}},
                                           {"output_padding", std::int64_t{1}},
                                           {"groups", std::int64_t{2}}}));
        });
        row("pools, concat, global pool", [](GraphBuilder& b) {
            const auto x = b.parameter("x", {2, 2, 6, 5}, {});
            const auto max = b.apply("max_pool2d", {x}, pool(2))[0], average = b.apply_one("avg_pool2d", {x}, pool(2));
            return weighed(
                b, b.apply_one("global_avg_pool", {b.apply_one("softmax", {b.apply_one("concat", {max, average})})}));
        });
        row("weighted sum by softmax", [](GraphBuilder& b) {
            const auto x = b.parameter("x", {2, 3}, {});
            const auto w = b.apply_one("softmax", {b.parameter("alpha", {2, 4}, {})});
            const auto candidates = [&](std::int64_t r) {
                return b.apply_one("weighted_sum", {w, x, b.apply_one("relu", {x})},
                                   {{"row", r}, {"columns", std::vector<std::int64_t>{1, 3}}});
            };
            return weighed(b, b.apply_one("add", {candidates(0), candidates(1)}));
        });
        row("slices and a scale", [](GraphBuilder& b) {
            const auto x = b.parameter("x", {2, 4, 5, 4}, {});
            const auto shifted =
                b.apply_one("shifted_slice", {x}, {{"offset", std::int64_t{1}}, {"stride", std::int64_t{2}}});
            const auto part = b.apply_one("slice", {shifted}, {{"begin", std::int64_t{1}}, {"end", std::int64_t{3}}});
            return weighed(b, b.apply_one("scale", {part, b.parameter("c", {1}, {})}));
        });
        row("classifier with label smoothing", [](GraphBuilder& b) {
            const auto y = b.apply_one(
                "linear", {b.input("images", {5, 3}), b.parameter("w", {4, 3}, {}), b.parameter("bias", {4}, {})});
            return b.apply("cross_entropy", {y, b.input("labels", {5}, DType::i32)}, {{"label_smoothing", 0.1}})[0];
        });
        row("segmentation", [](GraphBuilder& b) {
            const auto y = b.apply_one("conv2d", {b.input("images", {2, 3, 4, 4}), b.parameter("w", {4, 3, 1, 1}, {})});
            return b.apply_one("generalized_dice", {y, b.input("labels", {2, 4, 4}, DType::i32)});
        });
    }
    void agree_with_finite_differences() {
        QFETCH(Build, build);
        Graph graph;
        GraphBuilder builder(graph);
        const auto loss = build(builder);
        std::vector<TensorId> parameters;
        for (std::size_t i = 0; i < graph.tensors().size(); ++i)
            if (graph.tensors()[i].role == Role::parameter)
                parameters.push_back(static_cast<TensorId>(i));
        for (const bool passes : {false, true}) {
            const auto step = compile_step(graph, loss, parameters, {.fused = passes, .share = passes});
            const auto gradients = StepValues::of(step.graph).kept;
            for (auto parameter : parameters)
                check(graph, loss, parameter, gradients.at(step.gradients.at(parameter)));
        }
    }

private:
    /// Moves some elements of a parameter up and down and compares the change of the loss with the gradient.
    static void check(const Graph& forward, TensorId loss, TensorId parameter, const std::vector<float>& gradient) {
        const auto backend = make_backend("reference", {});
        Session session(*backend, {});
        const auto step = compile_step(forward, loss, {}, {});
        auto& plan = session.plan("forward", step.graph);
        const auto run = [&](std::size_t element, float move) {
            for (const auto& tensor : step.graph.tensors()) {
                if (tensor.role == Role::activation)
                    continue;
                auto values = named_values(tensor);
                if (tensor.role != Role::input) {
                    if (tensor.name == forward.tensor(parameter).name)
                        values[element] += move;
                    session.set(tensor.name, values);
                } else if (tensor.type == DType::i32) {
                    std::vector<std::int32_t> labels(values.size());
                    for (std::size_t i = 0; i < labels.size(); ++i)
                        labels[i] = static_cast<std::int32_t>(i % 4);
                    plan.set_input(tensor.name, labels.data(), labels.size() * sizeof(std::int32_t));
                } else {
                    plan.set_input(tensor.name, values.data(), values.size() * sizeof(float));
                }
            }
            plan.run();
            return static_cast<double>(plan.read(loss)[0]);
        };
        double scale = 0;
        for (auto value : gradient)
            scale = std::max(scale, std::abs(static_cast<double>(value)));
        QVERIFY2(scale > 0, forward.tensor(parameter).name.c_str());
        constexpr float move = 0.0009765625F; // 2^-10: exact in float
        const auto stride = std::max<std::size_t>(1, gradient.size() / 7);
        for (std::size_t i = 0; i < gradient.size(); i += stride) {
            const double numeric = (run(i, move) - run(i, -move)) / (2.0 * move);
            QVERIFY2(std::abs(numeric - gradient[i]) <= 5e-3 * scale + 1e-3,
                     qPrintable(QString("%1[%2]: %3, numerically %4")
                                    .arg(forward.tensor(parameter).name.c_str())
                                    .arg(i)
                                    .arg(gradient[i])
                                    .arg(numeric)));
        }
    }
};

QTEST_APPLESS_MAIN(TestGradients)
#include "tst_gradients.moc"
