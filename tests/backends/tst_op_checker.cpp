// SPDX-License-Identifier: Apache-2.0
#include "backends/op_checker.h"
#include "backends/registry.h"
#include "graph/op_registry.h"

#include <QtTest>

using namespace espalier;
using namespace espalier::testing;

namespace {

constexpr Gradients every_choice[] = {Gradients::none, Gradients::all, Gradients::first_alone, Gradients::others_alone};

QString row_name(const OpCase& op_case, Gradients gradients) {
    constexpr const char* suffix[] = {"", ", all gradients", ", first gradient", ", other gradients"};
    return QString::fromStdString(op_case.name) + suffix[static_cast<int>(gradients)];
}

} // namespace

/// Every op on every backend: the reference against finite differences, the others against the reference.
class OpChecker : public QObject {
    Q_OBJECT

    const std::vector<OpCase> cases_ = op_cases();
    std::unique_ptr<Backend> reference_ = make_backend("reference", {});

private Q_SLOTS:
    void every_kind_has_a_case() {
        std::set<std::string> seen;
        for (const auto& op_case : cases_)
            for (auto gradients : every_choice)
                if (applies(op_case, gradients))
                    seen.merge(run_case(op_case, gradients, *reference_).kinds);
        for (const auto& kind : OpRegistry::instance().kinds())
            QVERIFY2(seen.contains(kind), ("no case runs the op " + kind).c_str());
    }

    void gradients_are_the_finite_differences_data() {
        QTest::addColumn<std::size_t>("index");
        for (std::size_t i = 0; i < cases_.size(); ++i)
            if (applies(cases_[i], Gradients::all))
                QTest::newRow(cases_[i].name.c_str()) << i;
    }
    void gradients_are_the_finite_differences() {
        QFETCH(std::size_t, index);
        const auto errors = gradient_errors(cases_[index], *reference_);
        QVERIFY2(errors.empty(), errors.c_str());
    }

    void a_wrong_result_is_found() {
        const OpCase op_case{"relu", "relu", {data({2, 3})}};
        const auto expected = run_case(op_case, Gradients::none, *reference_);
        auto found = expected;
        QVERIFY(differences(expected, found, 0).empty());
        found.values["output 0"][4] += 0.01F;
        QVERIFY(!differences(expected, found, 1e-4).empty());
        found.values["output 0"][4] = std::numeric_limits<float>::quiet_NaN(); // as what was not written is
        QVERIFY(!differences(expected, found, 1e9).empty());
    }

    void backends_agree_with_the_reference_data() {
        QTest::addColumn<QString>("backend");
        QTest::addColumn<bool>("exact");
        for (const auto& status : available_backends()) {
            if (!status.available)
                qInfo("%s is not available: %s", status.name.c_str(), status.available.reason.c_str());
            else
                for (const bool exact : {false, true})
                    QTest::newRow((status.name + (exact ? ", exact" : ", fast")).c_str())
                        << QString::fromStdString(status.name) << exact;
        }
    }
    void backends_agree_with_the_reference() {
        QFETCH(QString, backend);
        QFETCH(bool, exact);
        BackendOptions options;
        options.winograd = !exact;
        options.deterministic = exact;
        const auto tested = make_backend(backend.toStdString(), options);
        int ran = 0;
        for (const auto& op_case : cases_)
            for (auto gradients : every_choice) {
                if (!applies(op_case, gradients))
                    continue;
                const auto name = row_name(op_case, gradients).toStdString();
                if (const auto support = supports_case(op_case, gradients, *tested); !support) {
                    qInfo("%s refuses %s: %s", tested->name().data(), name.c_str(), support.reason.c_str());
                    continue;
                }
                const auto expected = run_case(op_case, gradients, *reference_);
                const auto found = run_case(op_case, gradients, *tested);
                const auto tolerance = options.winograd ? std::max(op_case.tolerance, 5e-6) : op_case.tolerance;
                if (const auto text = differences(expected, found, tolerance); !text.empty())
                    QTest::qFail((name + "\n" + text).c_str(), __FILE__, __LINE__);
                ++ran;
            }
        QVERIFY(ran > 0);
    }

    /// A wrong kernel is far off; halves round each result once.
    void backends_agree_in_halves_data() {
        QTest::addColumn<QString>("backend");
        QTest::addColumn<int>("type");
        for (const auto& status : available_backends())
            if (status.available && status.name != "reference")
                for (const auto type : {DType::f16, DType::bf16})
                    QTest::newRow((status.name + ", " + std::string(name_of(type))).c_str())
                        << QString::fromStdString(status.name) << static_cast<int>(type);
    }
    void backends_agree_in_halves() {
        QFETCH(QString, backend);
        QFETCH(int, type);
        const auto half = static_cast<DType>(type);
        const auto tested = make_backend(backend.toStdString(), {});
        int ran = 0;
        for (const auto& op_case : cases_)
            for (auto gradients : every_choice) {
                if (!applies(op_case, gradients) || !supports_case(op_case, gradients, *tested, half))
                    continue;
                const auto expected = run_case(op_case, gradients, *reference_, half);
                const auto found = run_case(op_case, gradients, *tested, half);
                const auto text = differences(expected, found, half == DType::f16 ? 4e-3 : 3e-2);
                if (!text.empty())
                    QTest::qFail((row_name(op_case, gradients).toStdString() + "\n" + text).c_str(), __FILE__,
                                 __LINE__);
                ++ran;
            }
        qInfo("%d cases", ran);
    }

    /// Ops that read f32 beside halves find what a cast would give.
    void casts_are_absorbed_data() {
        QTest::addColumn<QString>("backend");
        QTest::addColumn<int>("type");
        for (const auto& status : available_backends())
            if (status.available && status.name != "cpu") // in f32 alone
                for (const auto type : {DType::f16, DType::bf16})
                    QTest::newRow((status.name + ", " + std::string(name_of(type))).c_str())
                        << QString::fromStdString(status.name) << static_cast<int>(type);
    }
    void casts_are_absorbed() {
        QFETCH(QString, backend);
        QFETCH(int, type);
        const auto half = static_cast<DType>(type);
        const auto tested = make_backend(backend.toStdString(), {});
        int ran = 0;
        for (const auto& op_case : cases_) {
            const auto& definition = OpRegistry::instance().find(op_case.kind);
            if (definition.wide_inputs.empty() || !supports_case(op_case, Gradients::none, *tested, half))
                continue;
            const auto expected = run_case(op_case, Gradients::none, *tested, half),
                       found = run_case(op_case, Gradients::none, *tested, half, Casts::absorbed);
            // Results that are wide are not rounded.
            const double rounding = half == DType::f16 ? 5e-4 : 4e-3;
            const auto text = differences(expected, found, definition.wide_outputs.empty() ? 0 : rounding);
            if (!text.empty())
                QTest::qFail((op_case.name + "\n" + text).c_str(), __FILE__, __LINE__);
            if (backend == "reference")
                QVERIFY(found.casts < expected.casts);
            ran += found.casts < expected.casts;
        }
        QVERIFY(ran > 10);
    }
};

QTEST_APPLESS_MAIN(OpChecker)
#include "tst_op_checker.moc"
