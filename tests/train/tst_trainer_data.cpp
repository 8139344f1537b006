// SPDX-License-Identifier: Apache-2.0
// What a run makes of its data and its configuration.
#include "train/run_setup.h"
#include "train_support.h"

// Behind the engine's headers, which Qt's macros must not meet.
#include "data/photo_folder.h"

#include <QtTest>
#include <fstream>

using namespace espalier;
using namespace espalier::test;

class TestTrainerData : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_single_class_is_warned_of();
    void an_image_folder_is_trained_on_without_its_bad_files();
    void classes_with_names_of_any_bytes_are_found_again();
    void files_that_a_set_lacks_are_told();
    void reading_images_is_told_and_can_be_stopped();
    void a_bad_configuration_fails_in_words();
};

void TestTrainerData::a_single_class_is_warned_of() {
    SmallRun run({"data=synthetic:1x8x8,1,53", "epochs=1", "label_smoothing=0.1"});
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const auto warnings = log.of_type("warning");
    QCOMPARE(warnings.size(), std::size_t{1});
    QVERIFY(warnings.front().dump().find("a single class") != std::string::npos);
    for (const auto& loss : log.column("loss"))
        QCOMPARE(loss.get<double>(), 0.0);
}

void TestTrainerData::an_image_folder_is_trained_on_without_its_bad_files() {
    const PhotoFolder photos;
    for (int i = 0; i < 20; ++i) {
        photos.png("10/" + std::to_string(i) + ".png", QColor(200 + i, 0, 0), 12, 10);
        photos.png("2/" + std::to_string(i) + ".png", QColor(0, 0, 200 + i), 10, 10);
    }
    photos.write("2/bad.jpg", {});
    SmallRun run({"image_size=8", "augmentation.crop=0"});
    run.set("data=" + photos.spec());
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    const auto text = log.of_type("warning").at(0).at("text").get<std::string>();
    QVERIFY2(text.find("1 of 41 files cannot be used") != std::string::npos, text.c_str());
    QVERIFY2(text.find("bad.jpg") != std::string::npos, text.c_str());
    const auto last = run.last();
    QCOMPARE(last.info.class_names, (std::vector<std::string>{"2", "10"}));
    QCOMPARE(last.info.network.channels, 3);
    QCOMPARE(last.info.network.height, 8);
    QVERIFY(log.of_type("evaluation").back().at("best_accuracy").get<double>() > 0.9);

    run.set("max_bad_share=0.02");
    EventLog refused;
    const auto second = run.train(refused);
    QCOMPARE(second.code, ExitCode::bad_data);
    QVERIFY2(second.reason.find("1 of 41 image files") != std::string::npos, second.reason.c_str());
}

/// Names as an archive from an older Windows leaves them on Linux: a checkpoint knows its classes again.
void TestTrainerData::classes_with_names_of_any_bytes_are_found_again() {
    const PhotoFolder photos;
    for (int i = 0; i < 8; ++i) {
        photos.png("caf\xe9/" + std::to_string(i) + ".png", QColor(200 + i, 0, 0));
        photos.png("caf\xe8/" + std::to_string(i) + ".png", QColor(0, 0, 200 + i));
    }
    SmallRun run({"image_size=8", "epochs=1"});
    run.set("data=" + photos.spec());
    EventLog log;
    QCOMPARE(run.fault_of_training(log), std::string());
    QCOMPARE(run.last().info.class_names, (std::vector<std::string>{"caf\xc3\xa8", "caf\xc3\xa9"}));
    run.set("epochs=2");
    QCOMPARE(run.fault_of_training(log), std::string());

    std::filesystem::rename(photos.path() / "caf\xe9", photos.path() / "tea");
    run.set("epochs=3");
    const auto outcome = run.train(log);
    QCOMPARE(outcome.phase, std::string("failed"));
    QVERIFY2(outcome.reason.find("new there: 'tea'; no longer there: 'caf\xc3\xa9'") != std::string::npos,
             outcome.reason.c_str());
}

void TestTrainerData::files_that_a_set_lacks_are_told() {
    QTemporaryDir directory;
    const std::filesystem::path folder = directory.path().toStdString();
    for (const char* name : {"data_batch_1.bin", "data_batch_3.bin"})
        std::ofstream(folder / name, std::ios::binary) << std::string(8 * (1 + 3072), '\1');
    SmallRun run({"data=cifar10:" + folder.string()});
    const auto setup = set_up_run(RunConfig::from_json(read_json(run.folder().config())));
    std::string notes;
    for (const auto& note : setup.notes)
        notes += note;
    for (const int missing : {2, 4, 5})
        QVERIFY2(notes.find("data_batch_" + std::to_string(missing) + ".bin'") != std::string::npos, notes.c_str());
    QVERIFY(notes.find("data_batch_3.bin") == std::string::npos);
}

void TestTrainerData::reading_images_is_told_and_can_be_stopped() {
    const PhotoFolder photos;
    QImage noise(300, 300, QImage::Format_RGB888);
    for (int i = 0; i < 300 * 300; ++i)
        noise.setPixel(i % 300, i / 300, static_cast<uint>(i) * 2654435761u | 0xff000000u);
    photos.write("a/0.png", encoded(noise, "PNG")); // milliseconds each
    for (int i = 1; i < 20000; ++i)
        std::filesystem::create_hard_link(photos.path() / "a/0.png",
                                          photos.path() / "a" / (std::to_string(i) + ".png"));
    SmallRun run({"image_size=8"});
    run.set("data=" + photos.spec());
    /// Stops once the first images are told of.
    class StopWhenTold : public CommandSource {
    public:
        std::optional<Command> poll() override {
            return std::exchange(told, false) ? std::optional(Command::stop) : std::nullopt;
        }
        std::optional<Command> wait(std::chrono::milliseconds) override { return Command::stop; }
        bool told = false, ever_told = false;
    } commands;
    EventLog log;
    log.on_event = [&](const Json& event) {
        const auto reason = event.value("reason", std::string());
        if (reason.starts_with("Reading images: ") && reason.ends_with(" of 20000."))
            commands.told = commands.ever_told = true;
    };
    const auto outcome = run.train(log, commands);
    QCOMPARE(outcome.phase, std::string("stopped"));
    QVERIFY(commands.ever_told);
    QVERIFY2(log.text().find("A checkpoint will be written") == std::string::npos, "there is nothing to write");
    QVERIFY(log.of_type("steps").empty());
}

void TestTrainerData::a_bad_configuration_fails_in_words() {
    SmallRun run;
    Json json = read_json(run.folder().config());
    json["epohcs"] = 3;
    write_json(run.folder().config(), json);
    EventLog log;
    const auto outcome = run.train(log);
    QCOMPARE(outcome.code, ExitCode::bad_configuration);
    QVERIFY(outcome.reason.find("epohcs") != std::string::npos);

    SmallRun no_data({"data=idx:/nonexistent"});
    QCOMPARE(no_data.train(log).code, ExitCode::bad_data);
}

QTEST_GUILESS_MAIN(TestTrainerData)
#include "tst_trainer_data.moc"
