// SPDX-License-Identifier: Apache-2.0
#include "backends/op_checker.h"
#include "backends/registry.h"
#include "backends/why_no_gpu.h"
#include "graph/autodiff.h"
#include "graph/builder.h"
#include "plan/session.h"
#include "random_values.h"

#include <QtTest>
#include <algorithm>
#include <random>

using namespace espalier;
using namespace espalier::test;
using namespace espalier::testing;

namespace {

/// A small residual network: convolutions with bias and relu, batch norm with and without a residual, pools. In strict
/// fp32 its first half is row-major on the GPU; the pool gives images channels last, which one convolution takes as
/// they are and one, with enough work a value, turns.
class Network {
public:
    explicit Network(const Shape& x_shape) : builder_(graph_) {
        const auto x = builder_.input("x", x_shape);
        const auto width = x_shape[1] + 3;
        auto y = convolution("a", x, width, 3, true, true);
        const auto skip = y;
        y = batch_norm("b", y, no_tensor, true);
        y = convolution("c", y, width, 3, false, false);
        y = batch_norm("d", y, skip, true);
        y = builder_.apply_one("max_pool2d", {y}, {{"kernel", std::int64_t{2}}, {"stride", std::int64_t{2}}});
        y = builder_.apply_one("add", {y, convolution("e", y, width, 1, true, false)});
        y = convolution("f", y, 70, 3, false, false);
        y = builder_.apply_one("max_pool2d", {y}, {{"kernel", std::int64_t{3}}, {"padding", std::int64_t{1}}});
        y = convolution("g", y, 8, 3, false, true); // 630 products a value
        graph_.keep(y);
        const auto loss = builder_.apply_one("dot", {y, builder_.input("r", graph_.shape(y))});
        std::vector<TensorId> wanted{x};
        for (std::size_t i = 0; i < graph_.tensors().size(); ++i)
            if (graph_.tensors()[i].role == Role::parameter)
                wanted.push_back(static_cast<TensorId>(i));
        kept_["output"] = y;
        for (const auto& [of, gradient] : differentiate(graph_, loss, wanted)) {
            kept_["gradient of " + graph_.tensor(of).name] = gradient;
            graph_.keep(gradient);
        }
    }

    [[nodiscard]] CaseResult run(Backend& backend, std::vector<std::string>* kernels = nullptr) const {
        Session::Options options;
        options.poison = true;
        Session session(backend, options);
        auto& plan = session.plan("network", graph_);
        CaseResult result;
        unsigned seed = 0;
        for (const auto& tensor : graph_.tensors()) {
            auto values = random_values(tensor.shape.count(), ++seed);
            if (tensor.name.ends_with("var"))
                std::fill(values.begin(), values.end(), 1.0F);
            if (tensor.role == Role::input)
                plan.set_input(tensor.name, values.data(), values.size() * sizeof(float));
            else if (tensor.role == Role::parameter || tensor.role == Role::buffer)
                session.set(tensor.name, values);
        }
        plan.run();
        for (const auto& [name, tensor] : kept_)
            result.values[name] = plan.read(tensor);
        for (const auto& tensor : graph_.tensors())
            if (tensor.role == Role::buffer)
                result.values[tensor.name] = session.get(tensor.name);
        if (kernels != nullptr)
            for (const auto& op : plan.ops())
                kernels->push_back(op.kind + ": " + op.kernel);
        return result;
    }

private:
    TensorId convolution(const std::string& name, TensorId x, std::int64_t filters, std::int64_t window, bool bias,
                         bool relu) {
        const auto channels = graph_.shape(x)[1];
        std::vector<TensorId> inputs{x, builder_.parameter(name + ".weight", {filters, channels, window, window}, {})};
        if (bias)
            inputs.push_back(builder_.parameter(name + ".bias", {filters}, {}));
        Attributes attributes{{"padding", window / 2}};
        if (relu)
            attributes.set("activation", std::string("relu"));
        return builder_.apply_one("conv2d", inputs, attributes);
    }

    TensorId batch_norm(const std::string& name, TensorId x, TensorId residual, bool relu) {
        const Shape channels{graph_.shape(x)[1]};
        const auto mean = builder_.buffer(name + ".mean", channels, {}),
                   var = builder_.buffer(name + ".var", channels, {});
        std::vector<TensorId> inputs{x, builder_.parameter(name + ".weight", channels, {}),
                                     builder_.parameter(name + ".bias", channels, {}), mean, var};
        if (residual != no_tensor)
            inputs.push_back(residual);
        Attributes attributes;
        if (relu)
            attributes.set("activation", std::string("relu"));
        return builder_.apply("batch_norm", inputs, attributes, {mean, var}).front();
    }

    Graph graph_;
    GraphBuilder builder_;
    std::map<std::string, TensorId> kept_;
};

} // namespace

/// The orders in which images lie on the GPU, and the copies between them.
class GpuLayouts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void strict_fp32_agrees_with_the_reference_data() {
        QTest::addColumn<QList<int>>("shape");
        QTest::newRow("odd planes") << QList<int>{2, 5, 9, 7};
        QTest::newRow("whole fours") << QList<int>{4, 13, 12, 12};
        QTest::newRow("several slices") << QList<int>{40, 6, 16, 12};
        QTest::newRow("several slices, odd") << QList<int>{1, 4, 97, 95};
    }
    void strict_fp32_agrees_with_the_reference() {
        QFETCH(QList<int>, shape);
        const Network network({shape[0], shape[1], shape[2], shape[3]});
        const auto expected = network.run(*make_backend("reference", {}));
        QVERIFY(!expected.values.empty());
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        for (const bool deterministic : {false, true}) {
            BackendOptions options;
            options.deterministic = deterministic;
            options.winograd = false;
            std::vector<std::string> kernels;
            const auto found = network.run(*make_backend("cuda", options), &kernels);
            // One value of relu near zero may fall on the other side.
            const auto text = differences(expected, found, 1e-4);
            QVERIFY2(text.empty(), text.c_str());
            QVERIFY(std::ranges::find(kernels, "batch_norm: batch norm, row-major") != kernels.end());
            QVERIFY(std::ranges::find(kernels, "batch_norm_gradient: batch norm gradient, row-major") != kernels.end());
            QVERIFY(std::ranges::find(kernels, "reorder: reorder") != kernels.end());
        }
    }

    /// With factors of 10 bits on tensor cores images lie channels last, packed where they have few channels.
    void tf32_agrees_with_the_reference() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        BackendOptions options;
        options.tf32 = true;
        const auto tested = make_backend("cuda", options), reference = make_backend("reference", {});
        int ran = 0;
        for (const auto& op_case : op_cases()) {
            if (!op_case.kind.starts_with("conv"))
                continue;
            const auto text = differences(run_case(op_case, Gradients::all, *reference),
                                          run_case(op_case, Gradients::all, *tested), 2e-3);
            if (!text.empty())
                QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
            ++ran;
        }
        QVERIFY(ran > 10);
    }

    /// The kernel for images of few channels: rows of more than one block, several blocks of filters, both widths.
    void first_layers_agree_with_the_reference() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        struct Case {
            Shape x, w;
            std::int64_t stride_h, padding;
        };
        const auto reference = make_backend("reference", {});
        for (const auto& [x, w, stride_h, padding] : {Case{{2, 3, 40, 300}, {70, 3, 7, 7}, 2, 3},
                                                      {{1, 1, 21, 18}, {8, 1, 3, 3}, 2, 1},
                                                      {{3, 4, 17, 40}, {24, 4, 5, 2}, 1, 0},
                                                      {{2, 2, 9, 33}, {64, 2, 8, 8}, 2, 4}}) {
            OpCase op_case{"conv2d", "conv2d", {data(x), parameter(w), parameter({w[0]})}};
            op_case.attributes.set("stride", std::vector<std::int64_t>{stride_h, 2});
            op_case.attributes.set("padding", padding);
            for (const auto type : {DType::f32, DType::f16, DType::bf16}) {
                BackendOptions options;
                options.tf32 = true;
                const auto tested = make_backend("cuda", options);
                const auto text =
                    differences(run_case(op_case, Gradients::none, *reference, type),
                                run_case(op_case, Gradients::none, *tested, type), type == DType::bf16 ? 1e-2 : 2e-3);
                QVERIFY2(text.empty(), (x.text() + " " + std::string(name_of(type)) + "\n" + text).c_str());
            }
        }
    }
};

QTEST_APPLESS_MAIN(GpuLayouts)
#include "tst_gpu_layouts.moc"
