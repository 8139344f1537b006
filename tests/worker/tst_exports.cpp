// SPDX-License-Identifier: Apache-2.0
// What the real espalier-train writes of a run for others: networks, weights, ONNX, reports.
#include "io/checkpoint.h"
#include "io/onnx_export.h"
#include "train_program.h"
#include "worker/protocol.h"

#include <QtTest>

using namespace espalier;

class TestExports : public QObject, private test::TrainProgram {
    Q_OBJECT

private Q_SLOTS:
    /// What `export --format network` writes is the same network again, for whatever reads it.
    void a_network_comes_back_from_its_json_data() {
        QTest::addColumn<QString>("network");
        QTest::newRow("quick") << R"({"network": "quick", "widths": [4, 8]})";
        QTest::newRow("resnet") << R"({"network": "resnet", "base_width": 4, "stages": [1, 1]})";
        QTest::newRow("supernet") << R"({"network": "supernet", "init_channels": 2, "layers": 3})";
        QTest::newRow("genotype") << R"({"network": "genotype", "init_channels": 2, "layers": 3})";
        QTest::newRow("growing") << R"({"network": "growing"})";
    }
    void a_network_comes_back_from_its_json() {
        QFETCH(QString, network);
        const auto out = folder_.filePath("as-json"), again = folder_.filePath("from-json");
        QDir(out).removeRecursively();
        QDir(again).removeRecursively();
        const auto config =
            QString(R"({"network": %1, "data": "synthetic:1x16x16,2,32", "batch": 16, "epochs": 1})").arg(network);
        const auto trained = run({"run", "--config", written("network-config.json", config.toUtf8()), "--out", out});
        QVERIFY2(trained.code == 0, trained.errors);
        const auto file = folder_.filePath("new/folders/" + QString(QTest::currentDataTag()) + ".json");
        QDir(folder_.filePath("new")).removeRecursively();
        const auto exported = run({"export", out, "--format", "network", "--out", file});
        QCOMPARE(exported.code, 0);
        QCOMPARE(exported.output.count("Folder made: "), 2);
        const auto json = Json::parse(read(file).toStdString());
        QCOMPARE(json, read_checkpoint_info((out + "/checkpoints/last.safetensors").toStdString()).network.to_json());

        const auto second = run({"run", "--network", file, "--data", "synthetic:1x16x16,2,32", "--set", "batch=16",
                                 "--set", "epochs=1", "--out", again});
        QVERIFY2(second.code == 0, second.errors);
        QCOMPARE(Json::parse(read(again + "/config.json").toStdString()).at("network"), json);
        QCOMPARE(run({"export", again, "--format", "network", "--out", file}).output.count("Folder made: "), 0);
        QCOMPARE(Json::parse(read(file).toStdString()), json);
    }

    /// As an export's.
    void the_folders_of_a_report_are_made_and_named() {
        const auto out = folder_.filePath("reported"), file = folder_.filePath("reports/of/today.zip");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        QCOMPARE(run({"report", out, "--out", file}).output.count("Folder made: "), 2);
        QVERIFY(QFile::exists(file));
        const auto refused = run({"report", out, "--out", folder_.path()});
        QCOMPARE(refused.code, 2);
        QVERIFY2(refused.errors.contains("is a folder"), refused.errors);
    }

    void an_export_that_fails_leaves_no_folder() {
        const auto out = folder_.filePath("no-genotype"), file = folder_.filePath("other/folders/genotype.json");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        QCOMPARE(run({"export", out, "--format", "genotype", "--out", file}).code, 2);
        QVERIFY(!QFile::exists(folder_.filePath("other")));
    }

    void an_export_spares_the_files_of_a_run() {
        const auto out = folder_.filePath("exported");
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto config = read(out + "/config.json");
        const auto to = [&](const QString& place) {
            return run({"export", out, "--format", "safetensors", "--out", place}).code;
        };
        QCOMPARE(to(out + "/config.json"), 2);
        QCOMPARE(to(out + "/checkpoints/best.safetensors"), 2);
        QCOMPARE(to(folder_.path()), 2);
        QCOMPARE(read(out + "/config.json"), config);
        QCOMPARE(to(out + "/exports/network.safetensors"), 0);
        QCOMPARE(to(folder_.filePath("network.safetensors")), 0);
    }

    void an_onnx_file_is_compared_before_it_stands_there() {
        if (!why_no_onnx().empty())
            QSKIP("this build has no ONNX library");
        const auto out = folder_.filePath("to-onnx"), file = out + "/exports/network.onnx";
        QCOMPARE(run(QStringList{"run"} + tiny + QStringList{"--set", "epochs=1", "--out", out}).code, 0);
        const auto exported = run({"export", out, "--format", "onnx", "--out", file, "--json"});
        QVERIFY2(exported.code == 0, exported.errors);
        const auto answer = Json::parse(exported.output.toStdString());
        const auto& compared = answer.at("compared");
        QVERIFY(compared.at("images").get<int>() > 0);
        QVERIFY(compared.at("origin").get<std::string>().starts_with("synthetic:1x16x16,2,128"));
        QVERIFY(compared.at("largest_difference").get<double>() <= compared.at("tolerance").get<double>());
        check_onnx(read(file).toStdString());
        QVERIFY(run({"export", out, "--format", "onnx", "--out", file}).output.contains("differ by at most"));

        const auto refused = run({"export", out, "--format", "onyx", "--out", folder_.filePath("network.onyx")});
        QCOMPARE(refused.code, 2);
        QVERIFY(!QFile::exists(folder_.filePath("network.onyx")));
    }
};

QTEST_GUILESS_MAIN(TestExports)
#include "tst_exports.moc"
