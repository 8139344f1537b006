// SPDX-License-Identifier: Apache-2.0
// Networks as ONNX files: accepted by ONNX's checker, read back and computing the same; damage and differences are
// noticed.
#include "backends/registry.h"
#include "base/error.h"
#include "data/hash_random.h"
#include "io/onnx_export.h"
#include "io/onnx_import.h"
#include "worker/onnx_comparison.h"

#include <QtTest>
#include <limits>

using namespace espalier;

namespace {

/// A network whose values are all away from the first ones: statistics that were moved, scales and alphas not zero.
Checkpoint trained_checkpoint(const Json& spec, std::uint64_t seed = 1) {
    Checkpoint checkpoint;
    checkpoint.info.network = NetworkSpec::from_json(spec);
    checkpoint.info.class_names = {"T-shirt", "Größe \"7\"", "袋"};
    for (std::int64_t i = 0; i < checkpoint.info.network.channels; ++i) {
        checkpoint.info.mean.push_back(0.3 + 0.1 * static_cast<double>(i));
        checkpoint.info.deviation.push_back(0.2 + 0.05 * static_cast<double>(i));
    }
    auto& store = checkpoint.store;
    store.add_missing(build_forward(checkpoint.info.network, 2, NormMode::training).graph, seed);
    HashRandom random{seed};
    for (auto& entry : store.entries())
        for (auto& value : entry.values)
            if (entry.name.ends_with("running_var"))
                value = static_cast<float>(0.5 + random.uniform());
            else if (entry.shape.rank() == 1 || entry.name.starts_with("alpha"))
                value = static_cast<float>(value + random.uniform() - 0.5);
    return checkpoint;
}

Json spec_of(const Json& network, int channels, int height, int width) {
    Json spec{{"channels", channels}, {"height", height}, {"width", width}, {"classes", 3}};
    spec.update(network);
    return spec;
}

const Json small{{"network", "quick"}, {"widths", {4, 8}}};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

QString error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return "nothing was thrown";
}

} // namespace

class TestOnnx : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        register_all_backends();
        if (why_no_onnx().empty())
            return;
        const auto text = error_of([] { (void)onnx_model(trained_checkpoint(spec_of(small, 1, 8, 8))); });
        QVERIFY2(text.contains("without the ONNX library"), qPrintable(text));
        QSKIP("this build has no ONNX library");
    }

    void every_network_is_the_same_in_the_file_data() {
        QTest::addColumn<QString>("network");
        QTest::addColumn<int>("height");
        QTest::addColumn<int>("width");
        const std::vector<std::pair<const char*, Json>> networks = {
            {"quick", small},
            {"resnet", {{"network", "resnet"}, {"base_width", 4}, {"stages", {1, 1, 1}}}},
            {"supernet", {{"network", "supernet"}, {"init_channels", 2}, {"layers", 3}}},
            {"genotype", {{"network", "genotype"}, {"init_channels", 2}, {"layers", 3}}},
            {"growing",
             {{"network", "growing"},
              {"stem", 6},
              {"blocks",
               {{{"width", 6}, {"stride", 1}, {"residual", true}},
                {{"width", 8}, {"stride", 2}, {"branches", {{{"width", 5}}, {{"width", 8}}}}}}}}}};
        for (const auto& [name, network] : networks)
            for (const auto& [height, width] : {std::pair{12, 12}, {9, 14}, {70, 66}})
                if (height < 70 || std::string(name) == "resnet") // its other stem
                    QTest::addRow("%s %dx%d", name, height, width)
                        << QString::fromStdString(network.dump()) << height << width;
    }
    void every_network_is_the_same_in_the_file() {
        QFETCH(QString, network);
        QFETCH(int, height);
        QFETCH(int, width);
        const auto checkpoint = trained_checkpoint(spec_of(Json::parse(network.toStdString()), 3, height, width));
        const auto model = onnx_model(checkpoint);
        check_onnx(model);
        const auto images = sample_images("", checkpoint.info.network, 30); // a whole batch, and a part of one
        const auto difference = compare_onnx(model, checkpoint, images, "cpu");
        QVERIFY2(difference < 1e-5, std::to_string(difference).c_str());
        // Another graph and another backend: double precision, plain loops.
        QVERIFY(compare_onnx(model, checkpoint, sample_images("", checkpoint.info.network, 2), "reference") < 1e-5);
    }

    void grey_images_and_metadata() {
        const auto checkpoint = trained_checkpoint(spec_of(small, 1, 8, 8));
        const auto model = onnx_model(checkpoint);
        check_onnx(model);
        QVERIFY(compare_onnx(model, checkpoint, sample_images("synthetic:1x8x8,3,60", checkpoint.info.network, 7),
                             "cpu") < 1e-5);
        const auto metadata = read_onnx(model, 2).metadata;
        QVERIFY(Json::parse(metadata.at("class_names")) == Json(checkpoint.info.class_names));
        const auto normalization = Json::parse(metadata.at("normalization"));
        QCOMPARE(normalization.at("mean").at(0).get<double>(), checkpoint.info.mean[0]);
        QCOMPARE(normalization.at("deviation").at(0).get<double>(), checkpoint.info.deviation[0]);
        QCOMPARE(Json::parse(metadata.at("network")).at("network").get<std::string>(), std::string("quick"));
        QVERIFY(!metadata.at("espalier_version").empty());
    }

    void the_batch_is_symbolic() {
        const auto model = onnx_model(trained_checkpoint(spec_of(small, 1, 8, 8)));
        for (const std::int64_t batch : {1, 5, 64}) {
            const auto network = read_onnx(model, batch);
            QVERIFY(network.graph.shape(network.image) == (Shape{batch, 1, 8, 8}));
            QVERIFY(network.graph.shape(network.output) == (Shape{batch, 3}));
        }
    }

    void images_come_from_the_data_set_where_there_is_one() {
        const auto network = NetworkSpec::from_json(spec_of(small, 1, 8, 8));
        const auto found = sample_images("synthetic:1x8x8,3,60", network, 200);
        QVERIFY2(found.origin.starts_with("synthetic:1x8x8,3,60"), found.origin.c_str());
        QVERIFY(found.count > 0 && found.count < 200);
        QCOMPARE(found.pixels.size(), static_cast<std::size_t>(found.count) * 64);
        for (const char* data : {"", "idx:/nowhere", "synthetic:3x8x8,3,60", "no such thing"}) {
            const auto random = sample_images(data, network, 20);
            QVERIFY2(random.origin.starts_with("random pixels ("), random.origin.c_str());
            QCOMPARE(random.count, std::int64_t{20});
        }
    }

    /// Photos as people have them: some can be read by nobody, and training leaves those out as well.
    void image_files_that_cannot_be_read_are_left_out() {
        const auto network = NetworkSpec::from_json(spec_of(small, 3, 8, 8));
        const QTemporaryDir folder;
        const auto write = [&](int number, bool sound) {
            QDir(folder.path()).mkpath("cat");
            QFile file(folder.filePath(QStringLiteral("cat/%1.ppm").arg(number)));
            const QByteArray pixels(3 * 8 * 8, static_cast<char>(number));
            return file.open(QIODevice::WriteOnly) &&
                   file.write(sound ? "P6 8 8 255\n" + pixels : QByteArray("<html>404</html>")) > 0;
        };
        const auto data = "folder:" + folder.path().toStdString();
        for (int i = 0; i < 40; ++i)
            QVERIFY(write(i, i % 3 != 0)); // the first one, too
        const auto found = sample_images(data, network, 10);
        QVERIFY2(found.origin.starts_with(data), found.origin.c_str());
        QCOMPARE(found.count, std::int64_t{10});
        QCOMPARE(found.pixels.size(), std::size_t{10 * 3 * 8 * 8});
        for (std::size_t i = 0; i < 10; ++i) { // of each fourth stretch one, and all of its pixels
            const int number = found.pixels[i * 192];
            QVERIFY(number / 4 == int(i) && number % 3 != 0);
            QCOMPARE(int(found.pixels[i * 192 + 191]), number);
        }
        QCOMPARE(sample_images(data, network, 1000).count, std::int64_t{26});
        for (int i = 0; i < 40; ++i)
            QVERIFY(write(i, false));
        const auto random = sample_images(data, network, 10);
        QVERIFY2(random.origin.starts_with("random pixels (" + data), random.origin.c_str());
        QVERIFY2(random.origin.find("web page") != std::string::npos, random.origin.c_str());
        QCOMPARE(random.count, std::int64_t{10});
    }

    void another_network_is_noticed() {
        const auto spec = spec_of(small, 1, 8, 8);
        const auto checkpoint = trained_checkpoint(spec, 1);
        const auto images = sample_images("", checkpoint.info.network, 20);
        const auto other =
            error_of([&] { compare_onnx(onnx_model(trained_checkpoint(spec, 2)), checkpoint, images, "cpu"); });
        QVERIFY2(other.contains("probabilities differ by up to 0."), qPrintable(other));

        auto shifted = checkpoint; // a normalisation that is a little off
        shifted.info.mean[0] += 0.02;
        const auto text = error_of([&] { compare_onnx(onnx_model(shifted), checkpoint, images, "cpu"); });
        QVERIFY2(text.contains("probabilities differ by up to"), qPrintable(text));
    }

    void weights_that_are_no_numbers_are_not_exported() {
        auto checkpoint = trained_checkpoint(spec_of(small, 1, 8, 8));
        checkpoint.store.at("classifier.weight").values[0] = std::numeric_limits<float>::quiet_NaN();
        const auto images = sample_images("", checkpoint.info.network, 20);
        const auto text = error_of([&] { compare_onnx(onnx_model(checkpoint), checkpoint, images, "cpu"); });
        QVERIFY2(text.contains("are not numbers"), qPrintable(text));
    }

    void the_checker_refuses_what_onnx_does_not_know() {
        const auto model = onnx_model(trained_checkpoint(spec_of(small, 1, 8, 8)));
        const auto renamed = replaced(model, "MaxPool", "MaxPuul");
        QVERIFY(renamed != model);
        const auto text = error_of([&] { check_onnx(renamed); });
        QVERIFY2(text.contains("checker refuses") && text.contains("MaxPuul"), qPrintable(text));
        const auto read = error_of([&] { (void)read_onnx(renamed, 1); });
        QVERIFY2(read.contains("MaxPuul"), qPrintable(read));
        // A name that no node computes.
        const auto torn = replaced(model, "normalization.scaled", "normalization.scalde");
        QVERIFY(error_of([&] { check_onnx(torn); }).contains("checker refuses"));
    }

    void damage_is_noticed() {
        const auto model = onnx_model(trained_checkpoint(spec_of(small, 1, 8, 8)));
        const auto half = model.substr(0, model.size() / 2);
        QVERIFY(error_of([&] { check_onnx(half); }).contains("damaged"));
        QVERIFY(error_of([&] { (void)read_onnx(half, 1); }).contains("damaged"));
        QVERIFY(error_of([] { check_onnx("no model at all"); }).contains("damaged"));
        QVERIFY(error_of([] { (void)read_onnx("", 1); }).contains("cannot be read back"));
    }

    /// Whatever bit is wrong, the reader throws or gives a graph; it never crashes.
    void no_damage_brings_the_reader_down() {
        const auto model = onnx_model(trained_checkpoint(spec_of(small, 1, 8, 8)));
        HashRandom random{7};
        int refused = 0;
        for (int i = 0; i < 2000; ++i) {
            auto hurt = model;
            hurt[random.below(hurt.size())] ^= static_cast<char>(1u << random.below(8));
            try {
                (void)read_onnx(hurt, 1);
            } catch (const Error&) {
                ++refused;
            }
        }
        QVERIFY(refused > 0);
    }
};

QTEST_GUILESS_MAIN(TestOnnx)
#include "tst_onnx.moc"
