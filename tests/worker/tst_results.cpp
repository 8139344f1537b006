// SPDX-License-Identifier: Apache-2.0
// What a trained network confuses, as a window asks the real espalier-train for it.
#include "base/error.h"
#include "data/image_decoder.h"
#include "io/checkpoint.h"
#include "schema_check.h"
#include "serve_runs.h"
#include "worker/run_results.h"

#include <QProcess>
#include <QTemporaryDir>
#include <cmath>
#include <fstream>

using namespace espalier;

namespace {

/// Trains to the end. Returns the run's folder.
std::string trained(ServeProcess& serve, const char* name, const Json& changes) {
    auto config = tiny_config(2);
    config.update(changes);
    const auto path = serve.get("start", {{"config", config}, {"name", name}}).value("path", std::string());
    if (path.empty() || !serve.answer(serve.ask("attach", {{"path", path}})).is_object() ||
        state_of(path) != "finished")
        qFatal("the run %s did not finish", name);
    return path;
}

std::int64_t images_in(const Json& cells) {
    std::int64_t sum = 0;
    for (const auto& cell : cells)
        sum += cell[2].get<std::int64_t>();
    return sum;
}

} // namespace

class TestResults : public QObject {
    Q_OBJECT

    QTemporaryDir runs_;
    const SchemaCheck schema_{ESPALIER_SCHEMA};
    std::unique_ptr<ServeProcess> serve_;
    std::string run_; ///< 7 classes, the last quarter of 560 images held back

private Q_SLOTS:
    void initTestCase() {
        serve_ = std::make_unique<ServeProcess>(runs_.path());
        run_ = trained(*serve_, "seven", {{"data", "synthetic:1x12x12,7,560"}, {"validation_share", 0.25}});
    }
    void cleanupTestCase() { serve_.reset(); }

    void nothing_is_known_before_it_is_asked_for() {
        const auto answer = serve_->get("confusion", {{"path", run_}, {"most", 0}});
        QCOMPARE(answer.at("known"), Json(false));
        QVERIFY(serve_->get("cell_images", {{"path", run_}}).contains("error"));
        const auto too_many = serve_->get("confusion", {{"path", run_}, {"most", 100}});
        QCOMPARE(too_many.at("known"), Json(false));
        QCOMPARE(too_many.at("images"), Json(140));
    }

    void the_matrix_counts_what_the_run_held_back() {
        const auto id = serve_->ask("confusion", {{"path", run_}, {"part", "validation"}});
        const auto answer = serve_->answer(id);
        QCOMPARE(QString::fromStdString(schema_.fault(answer, "answer.confusion")), QString());
        QVERIFY(!serve_->progress_of(id).empty());
        QCOMPARE(answer.at("images"), Json(140)); // 20 of the 80 of each class
        QCOMPARE(answer.at("checkpoint"), Json("best"));
        QCOMPARE(answer.at("parts"), Json({"validation", "train"}));
        QCOMPARE(images_in(answer.at("cells")), 140);
        std::vector<std::int64_t> rows(7, 0), columns(7, 0), diagonal(7, 0);
        for (const auto& cell : answer.at("cells")) {
            rows[cell[0].get<std::size_t>()] += cell[2].get<std::int64_t>();
            columns[cell[1].get<std::size_t>()] += cell[2].get<std::int64_t>();
            if (cell[0] == cell[1])
                diagonal[cell[0].get<std::size_t>()] = cell[2];
        }
        std::int64_t found = 0;
        for (std::size_t i = 0; i < 7; ++i) {
            const auto& one = answer.at("per_class")[i];
            QCOMPARE(rows[i], 20);
            QCOMPARE(one.at("images"), Json(20));
            QCOMPARE(one.at("recall").get<double>(), static_cast<double>(diagonal[i]) / 20);
            if (columns[i] > 0)
                QCOMPARE(one.at("precision").get<double>(),
                         static_cast<double>(diagonal[i]) / static_cast<double>(columns[i]));
            else
                QCOMPARE(one.at("precision"), Json("NaN"));
            found += diagonal[i];
        }
        QCOMPARE(answer.at("accuracy").get<double>(), static_cast<double>(found) / 140);
        // The run has measured the same images with the same network.
        double best = -1, loss = 0;
        for (const auto& event : events_in(run_))
            if (protocol::is_event(event, "evaluation") && event.at("accuracy").get<double>() > best) {
                best = event.at("accuracy");
                loss = event.at("loss");
            }
        QCOMPARE(answer.at("accuracy").get<double>(), best);
        QVERIFY(std::abs(answer.at("loss").get<double>() - loss) < 1e-4);
    }

    void the_hardest_come_first() {
        const auto answer = serve_->get("confusion", {{"path", run_}, {"part", "validation"}});
        const auto& hardest = answer.at("hardest");
        QCOMPARE(hardest.size(), std::size_t{100});
        double before = 1e9;
        for (const auto& one : hardest) {
            const auto loss = one.at("loss").get<double>(), probability = one.at("probability").get<double>();
            QVERIFY(loss <= before);
            QVERIFY(std::abs(loss + std::log(probability)) < 1e-5);
            before = loss;
        }
    }

    void a_cell_shows_its_images() {
        const auto answer = serve_->get("confusion", {{"path", run_}, {"part", "validation"}});
        for (const auto& cell : answer.at("cells")) {
            const auto images = serve_->get("cell_images", {{"path", run_},
                                                            {"part", "validation"},
                                                            {"truth", cell[0]},
                                                            {"predicted", cell[1]},
                                                            {"count", 2},
                                                            {"size", 16}});
            QCOMPARE(QString::fromStdString(schema_.fault(images, "answer.cell_images")), QString());
            QCOMPARE(images.at("total"), cell[2]);
            QCOMPARE(images.at("images").size(), std::min<std::size_t>(2, cell[2].get<std::size_t>()));
            for (const auto& one : images.at("images")) {
                QCOMPARE(one.at("truth"), cell[0]);
                QCOMPARE(one.at("predicted"), cell[1]);
                const auto png = QByteArray::fromBase64(QByteArray::fromStdString(one.at("png")));
                const auto image = decode_image(
                    {reinterpret_cast<const std::uint8_t*>(png.constData()), static_cast<std::size_t>(png.size())},
                    "thumbnail", 1);
                QCOMPARE(image.shape.text(), std::string("1x12x12"));
            }
        }
        // Without a cell: all of them, the hardest first, page after page.
        const auto first = serve_->get("cell_images", {{"path", run_}, {"part", "validation"}, {"count", 3}});
        QCOMPARE(first.at("total"), Json(140));
        const auto second =
            serve_->get("cell_images", {{"path", run_}, {"part", "validation"}, {"count", 3}, {"first", 2}});
        QCOMPARE(second.at("images")[0].at("index"), first.at("images")[2].at("index"));
        QCOMPARE(first.at("images")[0].at("index"), answer.at("hardest")[0].at("index"));
    }

    /// The second time nothing is computed; but another checkpoint of that name is another network.
    void what_is_known_is_kept_until_the_checkpoint_changes() {
        const Json arguments{{"path", run_}, {"part", "validation"}, {"most", 0}};
        QCOMPARE(serve_->get("confusion", arguments).at("known"), Json(true));
        const auto best = std::filesystem::path(run_) / "checkpoints" / "best.safetensors";
        const auto written = std::filesystem::last_write_time(best);
        std::filesystem::last_write_time(best, written + std::chrono::seconds(5));
        QCOMPARE(serve_->get("confusion", arguments).at("known"), Json(false));
        std::filesystem::last_write_time(best, written);
        QCOMPARE(serve_->get("confusion", arguments).at("known"), Json(true));
        const auto file = std::filesystem::path(run_) / "results" / "best-validation.json";
        std::filesystem::resize_file(file, 200);
        QCOMPARE(serve_->get("confusion", arguments).at("known"), Json(false));
        QCOMPARE(serve_->get("confusion", {{"path", run_}, {"part", "validation"}}).at("known"), Json(true));
    }

    /// The part that is taken where none is named is known by its name too.
    void a_part_is_known_by_its_name() {
        QCOMPARE(serve_->get("confusion", {{"path", run_}, {"checkpoint", "last"}}).at("set"), Json("validation"));
        const Json arguments{{"path", run_}, {"checkpoint", "last"}, {"part", "validation"}};
        auto known = arguments, other = arguments;
        known["most"] = other["most"] = 0;
        other["part"] = "train";
        QCOMPARE(serve_->get("confusion", known).at("known"), Json(true));
        QCOMPARE(serve_->get("confusion", other).at("known"), Json(false));
        QCOMPARE(serve_->get("cell_images", arguments).at("total"), Json(140));
    }

    void a_checkpoint_that_was_replaced_meanwhile_is_another_one() {
        const std::filesystem::path folder = runs_.path().toStdString();
        const auto checkpoint = folder / "replaced.safetensors", file = folder / "kept" / "results.json";
        std::ofstream(checkpoint) << "first";
        const auto stamp = stamp_of(checkpoint);
        save_results(file, stamp, {});
        QVERIFY(load_results(file, checkpoint));
        std::ofstream(checkpoint) << "second, longer"; // while the first one was evaluated
        save_results(file, stamp, {});
        QVERIFY(!load_results(file, checkpoint));
        std::filesystem::remove(checkpoint);
        QVERIFY_EXCEPTION_THROWN((void)stamp_of(checkpoint), Error);
        QVERIFY(!load_results(file, checkpoint));
    }

    void an_answer_that_cannot_be_kept_is_given() {
        const auto results = std::filesystem::path(run_) / "results";
        const auto aside = std::filesystem::path(run_) / "aside";
        std::filesystem::rename(results, aside);
        std::ofstream(results) << "a file in its place";
        const auto answer = serve_->get("confusion", {{"path", run_}, {"part", "validation"}});
        std::filesystem::remove(results);
        std::filesystem::rename(aside, results);
        QCOMPARE(answer.at("images"), Json(140));
        QVERIFY2(protocol::text_at(answer, "not_kept").find(results.string()) != std::string::npos,
                 answer.dump().c_str());
    }

    void weights_that_have_run_away_are_told() {
        auto checkpoint = load_checkpoint(std::filesystem::path(run_) / "checkpoints" / "last.safetensors");
        for (auto& entry : checkpoint.store.entries())
            std::ranges::fill(entry.values, std::numeric_limits<float>::quiet_NaN());
        const auto file = std::filesystem::path(runs_.path().toStdString()) / "nan.safetensors";
        save_checkpoint(file, checkpoint.info, checkpoint.store);
        const auto answer =
            serve_->get("confusion", {{"checkpoint", file.string()}, {"data", "synthetic:1x12x12,7,560"}});
        const auto text = protocol::text_at(answer.value("error", Json::object()), "text");
        QVERIFY2(text.find("not numbers") != std::string::npos, answer.dump().c_str());
    }

    void images_of_data_that_have_changed_are_not_shown() {
        const std::filesystem::path photos = runs_.filePath("data").toStdString();
        const auto write = [&](const std::string& file, std::uint8_t grey) {
            std::filesystem::create_directories((photos / file).parent_path());
            const auto png = encode_png({{1, 12, 12}, std::vector<std::uint8_t>(144, grey)});
            std::ofstream(photos / file, std::ios::binary)
                .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
        };
        for (std::uint8_t i = 10; i < 26; ++i) {
            write("dark/" + std::to_string(i) + ".png", i);
            write("light/" + std::to_string(i) + ".png", static_cast<std::uint8_t>(255 - i));
        }
        std::ofstream(photos / "dark/empty caf\xe9.png"); // left out, under a name that is not UTF-8
        const auto path =
            trained(*serve_, "photos", {{"data", "folder:" + photos.string()}, {"epochs", 1}, {"batch", 8}});
        const Json arguments{{"path", path}, {"part", "train"}};
        QVERIFY(serve_->get("confusion", arguments).value("images", 0) > 0);
        QVERIFY(serve_->get("cell_images", arguments).contains("total"));
        const auto refused = [&] {
            const auto answer = serve_->get("cell_images", arguments);
            return protocol::text_at(answer.value("error", Json::object()), "text").find("has changed") !=
                   std::string::npos;
        };
        write("dark/09.png", 9); // before all others
        QVERIFY(refused());
        std::filesystem::remove(photos / "dark/09.png");
        QVERIFY(!refused());
        std::filesystem::rename(photos / "dark/10.png", photos / "dark/99.png"); // as many as before
        QVERIFY(refused());
    }

    /// A table in which somebody has put labels right names the same files as before.
    void images_whose_labels_have_changed_are_not_shown() {
        const std::filesystem::path folder = runs_.filePath("table").toStdString();
        std::filesystem::create_directories(folder);
        const auto table = [&](int mended) { // of the images that were dark by mistake
            std::ofstream csv(folder / "images.csv");
            for (int i = 0; i < 32; ++i)
                csv << i << ".png," << (i % 2 == 0 && i >= mended ? "dark" : "light") << '\n';
        };
        for (int i = 0; i < 32; ++i) {
            const auto png =
                encode_png({{1, 12, 12}, std::vector<std::uint8_t>(144, static_cast<std::uint8_t>(i % 2 * 200 + i))});
            std::ofstream(folder / (std::to_string(i) + ".png"), std::ios::binary)
                .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
        }
        table(0);
        const auto path = trained(*serve_, "table",
                                  {{"data", "csv:" + (folder / "images.csv").string()}, {"epochs", 1}, {"batch", 8}});
        const Json arguments{{"path", path}, {"part", "train"}};
        QVERIFY(serve_->get("confusion", arguments).value("images", 0) > 0);
        QVERIFY(serve_->get("cell_images", arguments).contains("total"));
        table(2);
        const auto refused = serve_->get("cell_images", arguments);
        QVERIFY2(protocol::text_at(refused.value("error", Json::object()), "text").find("Evaluate it again") !=
                     std::string::npos,
                 refused.dump().c_str());
        auto again = arguments;
        again["again"] = true;
        QVERIFY(serve_->get("confusion", again).value("images", 0) > 0);
        QVERIFY(serve_->get("cell_images", arguments).contains("total"));
    }

    void an_evaluation_can_be_cancelled() {
        const auto id = serve_->ask("confusion", {{"checkpoint", run_ + "/checkpoints/last.safetensors"},
                                                  {"data", "synthetic:1x12x12,7,2000000"},
                                                  {"part", "train"}});
        QTRY_VERIFY_WITH_TIMEOUT(!serve_->progress_of(id).empty(), patient);
        serve_->ask("cancel", {{"target", id}});
        QCOMPARE(serve_->answer(id).at("error").at("code"), Json(6));
    }

    void wrong_arguments_are_refused() {
        const auto text = [&](const Json& arguments) {
            return QString::fromStdString(
                serve_->get("confusion", arguments).value("error", Json::object()).value("text", std::string()));
        };
        QVERIFY(text({{"path", run_}, {"part", "holiday"}}).contains("holiday"));
        QVERIFY(text({{"path", run_}, {"part", "test"}}).contains("test")); // it has none
        QVERIFY(text({{"path", runs_.path().toStdString()}}).contains("config.json"));
        const auto lone = runs_.path().toStdString() + "/lone.safetensors"; // in no run's folder
        std::filesystem::copy_file(run_ + "/checkpoints/last.safetensors", lone);
        QVERIFY(text({{"checkpoint", lone}}).contains("Say which data are meant"));
        QVERIFY(text({{"path", run_}, {"checkpoint", "step-1"}}).contains("step-1"));
        QVERIFY(text({{"path", run_}, {"data", "builtin"}}).contains("which the network does not know"));
    }

    void two_hundred_classes_fit() {
        const auto path = trained(*serve_, "many", {{"data", "synthetic:1x8x8,200,2000"}, {"epochs", 1}});
        const auto answer = serve_->get("confusion", {{"path", path}, {"part", "train"}});
        QCOMPARE(answer.at("classes").size(), std::size_t{200});
        QCOMPARE(answer.at("per_class").size(), std::size_t{200});
        QCOMPARE(images_in(answer.at("cells")), answer.at("images").get<std::int64_t>());
    }

    void the_command_line_prints_it() {
        const auto run = [&](QStringList arguments) {
            QProcess process;
            process.start(ESPALIER_TRAIN, QStringList{"eval", QString::fromStdString(run_)} + arguments);
            process.waitForFinished(patient);
            return std::pair(process.exitCode(), process.readAllStandardOutput());
        };
        const auto [code, table] = run({"--confusion", "--part", "validation"});
        QCOMPARE(code, 0);
        QVERIFY(table.contains("precision") && table.contains("recall") && table.contains("truth \\ predicted"));
        const auto json = Json::parse(run({"--confusion", "--json"}).second.toStdString());
        QCOMPARE(images_in(json.at("cells")), json.at("images").get<std::int64_t>());
        QVERIFY(run({}).second.startsWith("validation: ")); // on what the run held back
        const QStringList set{"--data", "synthetic:1x12x12,7,70", "--json", "--backend"};
        const auto cpu = run(set + QStringList{"cpu"}), reference = run(set + QStringList{"reference"});
        QCOMPARE(Json::parse(cpu.second.toStdString()).at("accuracy"),
                 Json::parse(reference.second.toStdString()).at("accuracy"));
        QVERIFY(run(set + QStringList{"abacus"}).first != 0);
    }

    void several_images_are_predicted_on_the_named_backend() {
        QTemporaryDir folder;
        QStringList images;
        for (const int grey : {40, 200}) {
            images << folder.filePath(QString::number(grey) + ".pgm");
            std::ofstream(images.back().toStdString(), std::ios::binary)
                << "P5 12 12 255\n"
                << std::string(12 * 12, static_cast<char>(grey));
        }
        const auto predicted = [&](const QStringList& files, const QString& backend) {
            QProcess process;
            process.start(ESPALIER_TRAIN,
                          QStringList{"predict", QString::fromStdString(run_), "--json", "--backend", backend} + files);
            process.waitForFinished(patient);
            std::map<std::string, std::map<std::string, double>> found; // of an image, by class
            for (const auto& line : process.readAllStandardOutput().split('\n'))
                if (const auto answer = Json::parse(line.toStdString(), nullptr, false); answer.is_object())
                    for (const auto& one : answer.at("classes"))
                        found[answer.at("image")][one.at("name")] = one.at("probability");
            return found;
        };
        const auto cpu = predicted(images, "cpu"), reference = predicted(images, "reference");
        QCOMPARE(cpu.size(), std::size_t{2});
        QVERIFY(cpu.at(images[0].toStdString()) != cpu.at(images[1].toStdString()));
        QCOMPARE(predicted({images[1]}, "cpu").at(images[1].toStdString()), cpu.at(images[1].toStdString()));
        for (const auto& [image, classes] : cpu) {
            QCOMPARE(classes.size(), std::size_t{7});
            for (const auto& [name, probability] : classes)
                QVERIFY(std::abs(probability - reference.at(image).at(name)) < 1e-5);
        }
        QVERIFY(predicted(images, "abacus").empty());
    }
};

QTEST_GUILESS_MAIN(TestResults)
#include "tst_results.moc"
