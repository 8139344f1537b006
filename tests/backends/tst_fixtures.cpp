// SPDX-License-Identifier: Apache-2.0
#include "backends/fixture_networks.h"
#include "backends/fixture_ops.h"
#include "backends/registry.h"

#include <QtTest>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

using namespace espalier;
using namespace espalier::testing;

/// Every backend next to numbers of PyTorch in double precision: single ops, and whole networks over three training
/// steps. The folder of the numbers is ESPALIER_FIXTURES, or tests/fixtures.
class Fixtures : public QObject {
    Q_OBJECT

    const std::filesystem::path folder_ =
        std::getenv("ESPALIER_FIXTURES") ? std::getenv("ESPALIER_FIXTURES") : ESPALIER_FIXTURE_DIR;

    /// A backend and how it is set up.
    static void add_backends(const std::string& row, const std::vector<std::pair<const char*, bool>>& more) {
        for (const auto& status : available_backends()) {
            if (!status.available)
                continue;
            for (const bool winograd : {false, true}) {
                if (winograd && status.name == "reference")
                    continue;
                for (const auto& [name, passes] : more)
                    QTest::newRow((row + status.name + (winograd ? " winograd" : "") + name).c_str())
                        << QString::fromStdString(row) << QString::fromStdString(status.name) << winograd << passes;
            }
        }
    }
    static void add_columns() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("backend");
        QTest::addColumn<bool>("winograd");
        QTest::addColumn<bool>("passes");
    }
    static std::unique_ptr<Backend> backend(const QString& name, bool winograd) {
        BackendOptions options;
        options.winograd = winograd;
        return make_backend(name.toStdString(), options);
    }

private Q_SLOTS:
    void ops_data() {
        add_columns();
        add_backends("", {{"", false}});
    }
    void ops() {
        QFETCH(QString, backend);
        QFETCH(bool, winograd);
        const safetensors::Reader file(folder_ / "ops.safetensors");
        const auto tested = Fixtures::backend(backend, winograd);
        const double allowed = backend == "reference" ? 1e-7 : winograd ? 5e-6 : 1e-6;
        const auto names = op_fixture_names(file);
        QVERIFY(!names.empty());
        for (const auto& name : names) {
            const auto errors = op_fixture_errors(file, name, *tested);
            QVERIFY(!errors.empty());
            std::string text;
            bool ok = true;
            for (const auto& [tensor, error] : errors) {
                char part[96];
                std::snprintf(part, sizeof part, " %s %.1e", tensor.c_str(), error);
                text += part;
                ok = ok && error <= allowed;
            }
            std::printf("%-14s %-28s%s\n", QTest::currentDataTag(), name.c_str(), text.c_str());
            if (!ok)
                QTest::qFail((name + ": above " + std::to_string(allowed) + ":" + text).c_str(), __FILE__, __LINE__);
        }
    }

    void networks_data() {
        add_columns();
        std::vector<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            if (entry.path().extension() == ".safetensors" && entry.path().stem() != "ops")
                files.push_back(entry.path().stem().string());
        std::ranges::sort(files);
        for (const auto& file : files)
            add_backends(file + " ", {{", no passes", false}, {", all passes", true}});
    }
    void networks() {
        QFETCH(QString, file);
        QFETCH(QString, backend);
        QFETCH(bool, winograd);
        QFETCH(bool, passes);
        const safetensors::Reader reader(folder_ / (file.trimmed().toStdString() + ".safetensors"));
        Toggles toggles;
        toggles.precision = "fp32";
        toggles.share = toggles.fused = toggles.recompute = passes;
        const auto fixture = read_fixture(reader);
        const auto found = compute_results(fixture, toggles, *Fixtures::backend(backend, winograd));
        const auto comparisons = compare_results(read_results(reader), found);
        QVERIFY(!comparisons.empty());
        const auto& worst = worst_of(comparisons);
        std::printf("%-44s %zu compared, worst %s: %.1e of %.1e allowed;", QTest::currentDataTag(), comparisons.size(),
                    worst.name.c_str(), worst.error, worst.allowed);
        for (const auto& comparison : comparisons)
            if (comparison.name.starts_with("loss"))
                std::printf(" %.1e", comparison.error);
        std::printf("\n");
        if (worst.ok())
            return;
        if (const auto roundings = explaining_roundings(fixture, found, *Fixtures::backend("reference", false))) {
            std::printf("%-44s the oracle finds the same from values that differ by %.1e\n", QTest::currentDataTag(),
                        *roundings);
            return;
        }
        for (const auto& comparison : comparisons)
            if (!comparison.ok())
                QTest::qFail((comparison.name + ": " + std::to_string(comparison.error) + ", allowed " +
                              std::to_string(comparison.allowed))
                                 .c_str(),
                             __FILE__, __LINE__);
    }

    /// One gradient that is wrong by a thousandth, and one update.
    void an_error_is_not_taken_for_rounding_data() {
        QTest::addColumn<QString>("tensor");
        QTest::newRow("gradient") << "grad/";
        QTest::newRow("update") << "after3/";
    }
    void an_error_is_not_taken_for_rounding() {
        QFETCH(QString, tensor);
        const safetensors::Reader reader(folder_ / "growing.safetensors");
        const auto fixture = read_fixture(reader);
        const auto oracle = Fixtures::backend("reference", false);
        auto found = read_results(reader);
        QVERIFY(explaining_roundings(fixture, found, *oracle));
        const auto wrong = std::ranges::find_if(
            found, [&](const auto& entry) { return entry.first.starts_with(tensor.toStdString()); });
        QVERIFY(wrong != found.end());
        for (auto& value : wrong->second)
            value *= 1.001F;
        QVERIFY(!explaining_roundings(fixture, found, *oracle));
    }
};

QTEST_APPLESS_MAIN(Fixtures)
#include "tst_fixtures.moc"
