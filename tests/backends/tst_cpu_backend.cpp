// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"
#include "backends/op_checker.h"
#include "base/error.h"

#include <QtTest>
#include <cstring>

using namespace espalier;
using namespace espalier::testing;

namespace {

constexpr std::pair<const char*, cpu::InstructionSet> instruction_sets[] = {{"baseline", cpu::InstructionSet::baseline},
                                                                            {"avx2", cpu::InstructionSet::avx2},
                                                                            {"avx512", cpu::InstructionSet::avx512}};
constexpr Gradients every_choice[] = {Gradients::none, Gradients::all, Gradients::first_alone, Gradients::others_alone};

OpCase convolution(const std::string& name, const Shape& x, std::int64_t filters, std::int64_t kernel,
                   std::int64_t stride, std::int64_t padding, std::int64_t dilation = 1, std::int64_t groups = 1) {
    return {"conv2d " + name,
            "conv2d",
            {data(x), parameter({filters, x[1] / groups, kernel, kernel})},
            {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}},
            {},
            {},
            {},
            3e-6};
}

/// What op_cases() has no need of: sizes at which this backend goes other ways (several blocks, pieces, threads,
/// winograd).
std::vector<OpCase> large_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t channels : {8, 12, 20, 24, 40, 64}) {
        const auto c = std::to_string(channels);
        cases.push_back(convolution("1x1 " + c, {5, channels, 13, 13}, 48, 1, 1, 0));
        cases.push_back(convolution("1x1 to 20 of " + c, {3, channels, 9, 9}, 20, 1, 2, 0));
        cases.push_back(convolution("depthwise 3x3 " + c, {2, channels, 19, 18}, channels, 3, 1, 1, 1, channels));
        cases.push_back(
            convolution("depthwise dilated 5x5 " + c, {2, channels, 17, 9}, channels, 5, 2, 4, 2, channels));
    }
    cases.push_back(convolution("1x1 many channels", {2, 272, 5, 5}, 160, 1, 1, 0));
    cases.push_back(convolution("winograd", {3, 32, 18, 13}, 48, 3, 1, 1));
    cases.push_back(convolution("winograd without padding", {2, 64, 11, 12}, 32, 3, 1, 0));
    cases.push_back(convolution("first", {4, 3, 32, 32}, 48, 3, 1, 1));
    cases.push_back(convolution("strided", {4, 32, 17, 16}, 64, 3, 2, 1));
    const Shape large{9, 40, 23, 19};
    for (const bool relu : {false, true}) {
        OpCase norm{relu ? "batch_norm residual relu large" : "batch_norm large",
                    "batch_norm",
                    {data(large), parameter({40}), parameter({40}), given({40}, {}, Role::buffer),
                     given({40}, {}, Role::buffer)},
                    {},
                    {3, 4},
                    {},
                    {},
                    3e-6};
        if (relu) {
            norm.attributes.set("activation", std::string("relu"));
            norm.inputs.emplace_back(data(large));
        }
        cases.push_back(norm);
    }
    cases.push_back({"add large", "add", {data(large), data(large), data(large)}});
    cases.push_back({"dot large", "dot", {given(large), given(large)}, {}, {}, {}, {}, 1e-5});
    cases.push_back(
        {"concat across blocks", "concat", {data({3, 12, 9, 9}), data({3, 20, 9, 9}), data({3, 16, 9, 9})}});
    cases.push_back({"max_pool2d 20 channels",
                     "max_pool2d",
                     {data({3, 20, 15, 14})},
                     {{"kernel", std::int64_t{3}}, {"stride", std::int64_t{2}}, {"padding", std::int64_t{1}}}});
    cases.push_back(
        {"linear large", "linear", {data({33, 130}), parameter({21, 130}), parameter({21})}, {}, {}, {}, {}, 3e-6});
    return cases;
}

} // namespace

/// Every instruction set's kernels next to the reference, and the promises that only this backend makes.
class CpuBackend : public QObject {
    Q_OBJECT

    std::vector<OpCase> cases_ = op_cases();
    std::unique_ptr<Backend> reference_ = make_backend("reference", {});

private Q_SLOTS:
    void initTestCase() {
        for (auto& op_case : large_cases())
            cases_.push_back(std::move(op_case));
        // This backend computes in single precision alone, and joins no separable convolutions.
        std::erase_if(cases_, [](const OpCase& op_case) {
            return op_case.kind == "cast" || op_case.kind == "loss_scale" || op_case.kind == "update_loss_scale" ||
                   op_case.kind.starts_with("separable_");
        });
    }

    void agrees_with_the_reference_data() {
        QTest::addColumn<int>("set");
        QTest::addColumn<bool>("winograd");
        for (const auto& [name, set] : instruction_sets) {
            if (!cpu::is_available(set)) {
                qInfo("this processor lacks %s", name);
                continue;
            }
            QTest::newRow(name) << static_cast<int>(set) << true;
        }
        QTest::newRow("without winograd") << static_cast<int>(cpu::best_instruction_set()) << false;
    }
    void agrees_with_the_reference() {
        QFETCH(int, set);
        QFETCH(bool, winograd);
        const auto tested =
            make_cpu_backend({.threads = 3, .winograd = winograd}, static_cast<cpu::InstructionSet>(set));
        for (const auto& op_case : cases_)
            for (auto gradients : every_choice) {
                if (!applies(op_case, gradients) || !supports_case(op_case, gradients, *tested))
                    continue;
                const auto expected = run_case(op_case, gradients, *reference_);
                const auto found = run_case(op_case, gradients, *tested);
                const auto tolerance = winograd ? std::max(op_case.tolerance, 5e-6) : op_case.tolerance;
                if (const auto text = differences(expected, found, tolerance); !text.empty())
                    QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
            }
    }

    void supports_every_case() {
        const auto tested = make_cpu_backend({});
        for (const auto& op_case : cases_) {
            const auto support = supports_case(op_case, Gradients::none, *tested);
            QVERIFY2(support.yes, (op_case.name + ": " + support.reason).c_str());
        }
    }

    void repeats_bit_by_bit() {
        for (const auto& op_case : cases_) {
            const auto gradients = applies(op_case, Gradients::all) ? Gradients::all : Gradients::none;
            const auto first = run_case(op_case, gradients, *make_cpu_backend({.threads = 2}));
            const std::vector<std::byte> elsewhere(123457); // other addresses
            const auto second = run_case(op_case, gradients, *make_cpu_backend({.threads = 2}));
            for (const auto& [name, values] : first.values) {
                const auto& again = second.values.at(name);
                QVERIFY2(std::memcmp(values.data(), again.data(), values.size() * sizeof(float)) == 0,
                         (op_case.name + ", " + name).c_str());
            }
        }
    }

    void own_kernels_do_not_depend_on_the_number_of_threads() {
        for (const auto& op_case : cases_) {
            if (op_case.kind.starts_with("conv"))
                continue; // the library cuts its sums by threads
            const auto gradients = applies(op_case, Gradients::all) ? Gradients::all : Gradients::none;
            const auto one = run_case(op_case, gradients, *make_cpu_backend({.threads = 1}));
            const auto four = run_case(op_case, gradients, *make_cpu_backend({.threads = 4}));
            for (const auto& [name, values] : one.values) {
                const auto& other = four.values.at(name);
                QVERIFY2(std::memcmp(values.data(), other.data(), values.size() * sizeof(float)) == 0,
                         (op_case.name + ", " + name).c_str());
            }
        }
    }

    void keeps_its_large_memory_aligned() {
        const auto backend = make_cpu_backend({});
        for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20, std::size_t{9} << 20}) {
            const auto memory = backend->allocate(bytes);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(memory->data()) % 64, std::uintptr_t{0});
            QCOMPARE(memory->bytes(), bytes);
        }
        QVERIFY_EXCEPTION_THROWN(static_cast<void>(backend->allocate(std::size_t{1} << 60)), OutOfMemory);
    }
};

QTEST_APPLESS_MAIN(CpuBackend)
#include "tst_cpu_backend.moc"
