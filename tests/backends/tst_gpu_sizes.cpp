// SPDX-License-Identifier: Apache-2.0
#include "backends/op_checker.h"
#include "backends/registry.h"
#include "backends/why_no_gpu.h"

#include <QtTest>
#include <algorithm>
#include <cstring>
#include <iterator>

using namespace espalier;
using namespace espalier::test;
using namespace espalier::testing;

namespace {

OpCase batch_norm(const Shape& x, bool residual, bool relu) {
    const auto channels = x[1];
    OpCase result{"batch_norm of " + x.text() + (residual ? " with residual" : "") + (relu ? " and relu" : ""),
                  "batch_norm",
                  {data(x), parameter({channels}), parameter({channels}), given({channels}, {}, Role::buffer),
                   given({channels}, {}, Role::buffer)},
                  {},
                  {3, 4}};
    if (residual)
        result.inputs.emplace_back(data(x));
    if (relu)
        result.attributes.set("activation", std::string("relu"));
    result.tolerance = 5e-6;
    return result;
}

/// Depthwise, "same" padding, more pixels than the threads of a chip: the kernels with most outputs a thread, and
/// channels in several blocks.
OpCase depthwise(const Shape& x, std::int64_t window, std::int64_t stride, std::int64_t dilation) {
    return {"depthwise of " + x.text() + ", " + std::to_string(window) + "x" + std::to_string(window) + ", stride " +
                std::to_string(stride) + ", dilation " + std::to_string(dilation),
            "conv2d",
            {data(x), parameter({x[1], 1, window, window}), parameter({x[1]})},
            {{"stride", stride}, {"padding", window / 2 * dilation}, {"dilation", dilation}, {"groups", x[1]}}};
}

OpCase pointwise(const Shape& x, std::int64_t filters, bool ends) {
    OpCase result{"pointwise of " + x.text() + " to " + std::to_string(filters) + (ends ? " with bias and relu" : ""),
                  "conv2d",
                  {data(x), parameter({filters, x[1], 1, 1})}};
    if (ends) {
        result.inputs.emplace_back(parameter({filters}));
        result.attributes.set("activation", std::string("relu"));
    }
    return result;
}

/// Pixels, channels and filters in several blocks and shares.
std::vector<OpCase> pointwise_cases() {
    return {pointwise({6, 70, 41, 37}, 150, false), pointwise({2, 40, 96, 96}, 128, true),
            pointwise({2, 24, 96, 96}, 128, true), pointwise({1, 64, 130, 127}, 256, false),
            pointwise({3, 19, 41, 37}, 300, true)};
}

/// Where reductions go from one launch to two, and tiles of channels are not whole.
std::vector<OpCase> cases() {
    std::vector<OpCase> result;
    for (const Shape& x : {Shape{3, 20, 19, 18}, Shape{6, 24, 41, 37}, Shape{1, 7, 233, 229}, Shape{5, 8, 101, 103},
                           Shape{2, 40, 160, 80}, Shape{2, 520, 5, 4}})
        for (const bool residual : {false, true})
            for (const bool relu : {false, true})
                result.push_back(batch_norm(x, residual, relu));
    for (const Shape& x : {Shape{70, 24}, Shape{70, 10}, Shape{5, 8, 101, 103}, Shape{1, 9, 233, 229}})
        result.push_back({"channel_sum of " + x.text(), "channel_sum", {given(x)}, {}, {}, {}, {}, 3e-6});
    for (const std::int64_t window : {3, 5, 7})
        for (const std::int64_t stride : {1, 2})
            for (const std::int64_t dilation : {1, 2})
                if (window == 3 || stride * dilation == 1)
                    result.push_back(depthwise({16, 132, 33, 31}, window, stride, dilation));
    result.push_back(depthwise({65, 132, 33, 31}, 3, 1, 1)); // a thread sums all rows of the filter
    for (const std::int64_t stride : {1, 2, 3}) {
        const Attributes window{{"kernel", std::int64_t{3}}, {"stride", stride}, {"padding", std::int64_t{1}}};
        const auto name = " with stride " + std::to_string(stride);
        result.push_back({"max_pool2d" + name, "max_pool2d", {data({9, 20, 15, 14})}, window});
        result.push_back({"avg_pool2d" + name, "avg_pool2d", {data({9, 20, 15, 14})}, window});
    }
    result.push_back({"global_avg_pool", "global_avg_pool", {data({5, 300, 4, 3})}});
    result.push_back({"global_avg_pool of one pixel", "global_avg_pool", {data({9, 20, 1, 1})}});
    add_large_separable_cases(result);
    add_joined_separable_cases(result);
    std::ranges::copy(pointwise_cases(), std::back_inserter(result));
    return result;
}

} // namespace

/// The GPU next to the reference at sizes where its kernels go other ways than in the small cases of every op.
class GpuSizes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// What serves where the library refuses: our direct kernel, and no depthwise kernels before it.
    void convolutions_do_without_the_library() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        BackendOptions options;
        options.library = false;
        options.reference_separable = true;
        const auto tested = make_backend("cuda", options), reference = make_backend("reference", {});
        int ran = 0;
        for (const auto& op_case : op_cases()) {
            if (!op_case.kind.starts_with("conv"))
                continue;
            const auto gradients = applies(op_case, Gradients::all) ? Gradients::all : Gradients::none;
            const auto text = differences(run_case(op_case, gradients, *reference),
                                          run_case(op_case, gradients, *tested), op_case.tolerance);
            if (!text.empty())
                QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
            ++ran;
        }
        QVERIFY(ran > 10);
    }

    void agree_with_the_reference_data() {
        QTest::addColumn<std::size_t>("index");
        const auto all = cases();
        for (std::size_t i = 0; i < all.size(); ++i)
            QTest::newRow(all[i].name.c_str()) << i;
    }
    void agree_with_the_reference() {
        QFETCH(std::size_t, index);
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        const auto tested = make_backend("cuda", {}), reference = make_backend("reference", {});
        const auto op_case = cases()[index];
        const auto gradients = applies(op_case, Gradients::all) ? Gradients::all : Gradients::none;
        const auto found = run_case(op_case, gradients, *tested), again = run_case(op_case, gradients, *tested);
        const auto text = differences(run_case(op_case, gradients, *reference), found, op_case.tolerance);
        QVERIFY2(text.empty(), text.c_str());
        for (const auto& [name, values] : found.values) {
            const auto& repeated = again.values.at(name);
            QVERIFY2(std::memcmp(values.data(), repeated.data(), values.size() * sizeof(float)) == 0,
                     (name + " has other bits the second time").c_str());
        }
    }

    void rounded_convolutions_agree_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<double>("tolerance");
        QTest::newRow("tf32") << static_cast<int>(DType::f32) << 4e-3;
        QTest::newRow("fp16") << static_cast<int>(DType::f16) << 4e-3;
        QTest::newRow("bf16") << static_cast<int>(DType::bf16) << 3e-2;
    }
    void rounded_convolutions_agree() {
        QFETCH(int, type);
        QFETCH(double, tolerance);
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        BackendOptions options;
        options.tf32 = true;
        const auto tested = make_backend("cuda", options), reference = make_backend("reference", {});
        auto convolutions = pointwise_cases();
        add_convolution_cases(convolutions);
        for (const auto& op_case : convolutions) {
            if (!op_case.kind.starts_with("conv"))
                continue;
            const auto gradients = applies(op_case, Gradients::all) ? Gradients::all : Gradients::none;
            const auto text = differences(run_case(op_case, gradients, *reference, static_cast<DType>(type)),
                                          run_case(op_case, gradients, *tested, static_cast<DType>(type)), tolerance);
            if (!text.empty())
                QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
        }
    }

    void separable_convolutions_agree_in_halves() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        const auto tested = make_backend("cuda", {}), reference = make_backend("reference", {});
        std::vector<OpCase> separable;
        add_large_separable_cases(separable);
        add_joined_separable_cases(separable);
        int absorbed = 0;
        for (const auto type : {DType::f16, DType::bf16})
            for (const auto& op_case : separable) {
                QVERIFY2(supports_case(op_case, Gradients::none, *tested, type), op_case.name.c_str());
                const double tolerance = type == DType::f16 ? 4e-3 : 3e-2;
                const auto expected = run_case(op_case, Gradients::none, *reference, type),
                           found = run_case(op_case, Gradients::none, *tested, type),
                           without_casts = run_case(op_case, Gradients::none, *tested, type, Casts::absorbed);
                auto text = differences(expected, found, tolerance) + differences(expected, without_casts, tolerance);
                if (op_case.kind == "separable_conv2d") // rounds what it reads as a cast does
                    text += differences(found, without_casts, 0);
                if (!text.empty())
                    QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
                absorbed += without_casts.casts < found.casts;
            }
        QVERIFY(absorbed > 100);
    }

    void separable_convolutions_agree_in_tf32() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
        BackendOptions options;
        options.tf32 = true;
        const auto tested = make_backend("cuda", options), reference = make_backend("reference", {});
        std::vector<OpCase> separable;
        add_separable_cases(separable);
        add_joined_separable_cases(separable);
        for (const auto& op_case : separable) {
            const auto text = differences(run_case(op_case, Gradients::none, *reference),
                                          run_case(op_case, Gradients::none, *tested), 4e-3);
            if (!text.empty())
                QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
        }
    }
};

QTEST_APPLESS_MAIN(GpuSizes)
#include "tst_gpu_sizes.moc"
