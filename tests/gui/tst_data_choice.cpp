// SPDX-License-Identifier: GPL-3.0-or-later
// What a new run is made with: a folder that is chosen or dropped, and the device. A stand-in for the engine answers.
#include "data_panel.h"
#include "device_summary.h"
#include "folder_kind.h"
#include "run_form.h"
#include "scan_findings.h"
#include "stand_in.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTemporaryDir>
#include <algorithm>

using namespace espalier;
using namespace espalier::test;

namespace {

void make_files(const QString& folder, const QStringList& names) {
    for (const QString& name : names) {
        QDir().mkpath(QFileInfo(folder + QLatin1Char('/') + name).path());
        QFile file(folder + QLatin1Char('/') + name);
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write %s", qPrintable(name));
    }
}

QString data_of(WindowDriver& driver) {
    auto* form = driver.window->findChild<RunForm*>();
    return form->isVisible() ? form->values().value(QStringLiteral("data")).toString() : QString();
}

bool listed(WindowDriver& driver) { // the presets have come
    return QTest::qWaitFor(
        [&] {
            auto* preset = driver.find(QStringLiteral("preset-train-small"));
            return preset && preset->isVisible();
        },
        5000);
}

} // namespace

class TestDataChoice : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs); }

    void a_folder_says_by_its_files_what_it_is_data() {
        QTest::addColumn<QStringList>("files");
        QTest::addColumn<QString>("spec");
        QTest::newRow("images") << QStringList{"cat/1.jpg", "dog/1.jpg"} << "folder:DIR";
        QTest::newRow("parts") << QStringList{"train/cat/1.jpg", "val/cat/1.jpg", "list.csv", "other.csv"}
                               << "folder:DIR";
        QTest::newRow("cifar10") << QStringList{"data_batch_1.bin", "test_batch.bin"} << "cifar10:DIR";
        QTest::newRow("cifar10 inside") << QStringList{"cifar-10-batches-bin/data_batch_1.bin"}
                                        << "cifar10:DIR/cifar-10-batches-bin";
        QTest::newRow("cifar100") << QStringList{"train.bin", "test.bin"} << "cifar100:DIR";
        QTest::newRow("idx") << QStringList{"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"} << "idx:DIR";
        QTest::newRow("table") << QStringList{"labels.csv", "images/1.jpg"} << "csv:DIR/labels.csv";
        QTest::newRow("nothing") << QStringList{} << "folder:DIR";
    }
    void a_folder_says_by_its_files_what_it_is() {
        QFETCH(QStringList, files);
        QFETCH(QString, spec);
        const QTemporaryDir folder;
        make_files(folder.path(), files);
        WindowDriver driver(engine);
        QVERIFY(listed(driver));
        QVERIFY(driver.drop(folder.path()));
        QTRY_COMPARE(data_of(driver), spec.replace(QStringLiteral("DIR"), folder.path()));
    }

    void a_folder_is_chosen_by_its_button() {
        const QTemporaryDir folder;
        make_files(folder.path(), {"cat/1.jpg", "dog/1.jpg"});
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-train-medium")));
        QVERIFY(driver.click(QStringLiteral("chooseFolder")));
        QTRY_VERIFY(driver.find<QFileDialog>(QStringLiteral("dataFolder")));
        auto* dialog = driver.find<QFileDialog>(QStringLiteral("dataFolder"));
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        name->setText(folder.path());
        QTest::keyClick(name, Qt::Key_Return);
        QTRY_COMPARE(data_of(driver), QStringLiteral("folder:") + folder.path());
        QTRY_VERIFY(driver.find<QPushButton>(QStringLiteral("start"))->isEnabled());
    }

    void a_set_that_cannot_be_used_says_why_in_its_own_words() {
        const Json scan{{"data", "folder:/photos"},
                        {"kind", "folder"},
                        {"images", 0},
                        {"bad_count", 1},
                        {"bad", {{{"file", "folder:/photos"}, {"reason", "'/photos' holds no folders of classes."}}}}};
        const auto findings = scan_findings(scan, 0.1);
        QCOMPARE(findings.size(), std::size_t{2});
        QCOMPARE(findings[1].text, QStringLiteral("'/photos' holds no folders of classes."));
    }

    void bad_files_that_keep_a_run_from_beginning_are_not_said_to_be_left_out() {
        const Json scan{{"data", "folder:/photos"},
                        {"kind", "folder"},
                        {"images", 12},
                        {"bad_images", 6},
                        {"warnings", {"Training leaves the bad files out: 6 of 18."}}};
        const auto said = [&](double most_bad) {
            return std::ranges::any_of(scan_findings(scan, most_bad), [](const auto& one) {
                return one.text.contains(QStringLiteral("leaves the bad files out"));
            });
        };
        QVERIFY(!said(0.1));
        QVERIFY(said(0.5));
    }

    /// Whether they were there already or come late: images of other data would be taken for one's own.
    void images_of_the_data_of_before_are_not_shown_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("there") << QStringList{};
        QTest::newRow("late") << QStringList{QStringLiteral("--slow-thumbnails"), QStringLiteral("600")};
    }
    void images_of_the_data_of_before_are_not_shown() {
        QFETCH(QStringList, arguments);
        WindowDriver driver(engine, arguments);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* data = driver.find<QComboBox>(QStringLiteral("field-data"))->lineEdit();
        const auto type = [&](const char* text) {
            data->selectAll();
            QTest::keyClicks(data, QLatin1String(text));
        };
        const auto* images = driver.window->findChild<ThumbnailStrip*>();
        const auto* scan = driver.find(QStringLiteral("scanScroll"));
        const auto scanned = [&](const char* word) {
            const auto labels = scan->findChildren<QLabel*>();
            return std::ranges::any_of(labels,
                                       [&](auto* label) { return label->text().contains(QLatin1String(word)); });
        };
        type("folder:/photos");
        QTRY_VERIFY(scanned("cannot be read"));
        if (arguments.isEmpty())
            QTRY_VERIFY(images->isVisible());
        type("synthetic:1x8x8,3,100");
        QTRY_VERIFY(scanned("images of") && !scanned("cannot be read"));
        QVERIFY(!images->isVisible());
        QTest::qWait(900); // the late ones come now
        QVERIFY(!images->isVisible());
    }

    void a_table_a_run_and_a_checkpoint_are_dropped() {
        const QTemporaryDir folder;
        make_files(folder.path(), {"labels.csv", "notes.txt", "run/config.json", "run/events.jsonl",
                                   "run/checkpoints/best.safetensors"});
        WindowDriver driver(engine);
        QVERIFY(listed(driver));
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("labels.csv"))));
        QTRY_COMPARE(data_of(driver), QStringLiteral("csv:") + folder.filePath(QStringLiteral("labels.csv")));
        for (const char* name : {"run", "run/checkpoints/best.safetensors"}) {
            driver.key(Qt::Key_N, Qt::ControlModifier);
            QVERIFY(driver.drop(folder.filePath(QLatin1String(name))));
            QTRY_VERIFY(driver.window->run_page()->isVisible());
            QCOMPARE(driver.run()->path(), folder.filePath(QStringLiteral("run")));
        }
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("notes.txt"))));
        QTRY_VERIFY(driver.find(QStringLiteral("message"))->accessibleName().contains(QStringLiteral("notes.txt")));
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("labels.csv"))));
        QTRY_VERIFY(!data_of(driver).isEmpty());
        QVERIFY(!driver.find(QStringLiteral("message"))->isVisible()); // it spoke of the other file
    }

    void what_the_command_line_names_is_opened_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("data"); // of the form; empty: a run is shown, or a message
        QTest::newRow("images") << "photos"
                                << "folder:DIR/photos";
        QTest::newRow("table") << "labels.csv"
                               << "csv:DIR/labels.csv";
        QTest::newRow("run") << "run"
                             << "";
        QTest::newRow("checkpoint") << "run/checkpoints/last.safetensors"
                                    << "";
        QTest::newRow("missing") << "lost"
                                 << "";
    }
    void what_the_command_line_names_is_opened() {
        QFETCH(QString, path);
        QFETCH(QString, data);
        const QTemporaryDir folder;
        make_files(folder.path(), {"photos/cat/1.jpg", "photos/dog/1.jpg", "labels.csv", "run/config.json",
                                   "run/events.jsonl", "run/checkpoints/last.safetensors"});
        MainWindow::Options options;
        options.engine = engine;
        options.open = folder.filePath(path);
        MainWindow window(options);
        window.show();
        if (!data.isEmpty()) {
            auto* form = window.findChild<RunForm*>();
            QTRY_COMPARE(form->values().value(QStringLiteral("data")).toString(),
                         data.replace(QStringLiteral("DIR"), folder.path()));
            QVERIFY(form->isVisible());
        } else if (path.startsWith(QStringLiteral("run"))) {
            QTRY_VERIFY(window.run_page()->isVisible());
            QCOMPARE(window.run_page()->run()->path(), folder.filePath(QStringLiteral("run")));
        } else {
            auto* message = window.findChild<QWidget*>(QStringLiteral("message"));
            QTRY_VERIFY(message->accessibleName().contains(folder.filePath(path)));
        }
    }

    void an_image_is_predicted_wherever_it_is_dropped() {
        const QTemporaryDir folder;
        const QString image = folder.filePath(QStringLiteral("boot.png"));
        QImage plain(28, 28, QImage::Format_RGB32);
        plain.fill(Qt::gray);
        QVERIFY(plain.save(image));
        WindowDriver driver(engine);
        QVERIFY(listed(driver));
        auto* band = driver.find(QStringLiteral("message"));
        QVERIFY(driver.drop(image)); // no run is looked at
        QVERIFY(band->isVisible() && band->accessibleName().contains(QStringLiteral("open a finished run first")));
        QVERIFY(!driver.window->run_page()->isVisible());

        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        auto* tabs = driver.find<QTabBar>(QStringLiteral("tabs"));
        auto* words = driver.find<QLabel>(QStringLiteral("predictionWords"));
        for (const char* part : {"runList", "toolBar", "statusStrip"}) {
            driver.window->run_page()->show_tab(0);
            words->clear();
            QVERIFY2(driver.drop(image, driver.find(QLatin1String(part))), part);
            QCOMPARE(tabs->currentIndex(), static_cast<int>(RunPage::results_tab));
            QTRY_VERIFY(words->isVisible() && words->text().startsWith(QStringLiteral("Ankle boot")));
        }
        make_files(folder.path(), {"cat/1.jpg", "dog/1.jpg"});
        QVERIFY(driver.drop(folder.path(), driver.find(QStringLiteral("prediction")))); // is no image there either
        QTRY_COMPARE(data_of(driver), QStringLiteral("folder:") + folder.path());
    }

    /// It may have the plug-in, and else says what to do.
    void a_photo_that_cannot_be_read_here_is_asked_of_the_engine() {
        const QTemporaryDir folder;
        WindowDriver driver(engine);
        QVERIFY(listed(driver));
        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        auto* words = driver.find<QLabel>(QStringLiteral("predictionWords"));
        for (const char* name : {"boot.heic", "boot.HEIF", "boot.avif", "boot.jxl", "boot.webp", "boot.tiff"}) {
            make_files(folder.path(), {QLatin1String(name)});
            for (const char* part : {"runList", "prediction"}) {
                words->clear();
                QVERIFY2(driver.drop(folder.filePath(QLatin1String(name)), driver.find(QLatin1String(part))), name);
                QTRY_VERIFY2(words->isVisible() && words->text().startsWith(QStringLiteral("Ankle boot")), name);
            }
        }
    }

    void a_run_without_a_checkpoint_predicts_nothing_yet() {
        const QTemporaryDir folder;
        make_files(folder.path(), {"boot.png"});
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(3));
        QVERIFY(!driver.run()->checkpoint());
        auto* band = driver.find(QStringLiteral("message"));
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("boot.png"))));
        QVERIFY2(band->accessibleName().contains(QStringLiteral("first checkpoint")),
                 qPrintable(band->accessibleName()));
        QVERIFY(driver.click(QStringLiteral("checkpoint")));
        QTRY_VERIFY(driver.run()->checkpoint());
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("boot.png"))));
        auto* words = driver.find<QLabel>(QStringLiteral("predictionWords"));
        QTRY_VERIFY(words->isVisible() && words->text().startsWith(QStringLiteral("Ankle boot")));
    }

    void a_run_that_ended_without_a_checkpoint_never_predicts() {
        const QTemporaryDir folder;
        make_files(folder.path(), {"boot.png"});
        WindowDriver driver(engine, {QStringLiteral("--fail-at"), QStringLiteral("5")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_state(RunState::failed));
        driver.window->run_page()->show_tab(RunPage::results_tab);
        QVERIFY(driver.drop(folder.filePath(QStringLiteral("boot.png")), driver.find(QStringLiteral("resultsEmpty"))));
        const QString said = driver.find(QStringLiteral("message"))->accessibleName();
        QVERIFY2(said.startsWith(QStringLiteral("This run has no checkpoint")), qPrintable(said));
    }

    void the_device_is_chosen_by_name() {
        WindowDriver driver(engine, {QStringLiteral("--two-gpus")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* box = driver.find<QComboBox>(QStringLiteral("field-backend"));
        QVERIFY(box && box->isVisible());
        QTRY_COMPARE(box->count(), 4);
        QCOMPARE(box->itemText(1), QStringLiteral("RTX 3090"));
        QCOMPARE(box->itemText(2), QStringLiteral("RTX 3090 (1)"));
        QCOMPARE(box->itemData(2).toString(), QStringLiteral("cuda:GPU-2"));
        auto* form = driver.window->findChild<RunForm*>();
        QVERIFY(!form->changes().contains(QStringLiteral("backend")));
        auto* precision = driver.find<QComboBox>(QStringLiteral("field-toggles.precision"));
        const auto fp16_is_there = [&] {
            return qobject_cast<QStandardItemModel*>(precision->model())->item(1)->isEnabled();
        };
        QVERIFY(fp16_is_there());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(form->changes().value(QStringLiteral("backend")).toString(), QStringLiteral("cuda:GPU-2"));
        QVERIFY(fp16_is_there());
        QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(form->changes().value(QStringLiteral("backend")).toString(), QStringLiteral("cpu"));
        QVERIFY(!fp16_is_there()); // the processor computes in fp32 alone
    }
};

WATCHED_TEST_MAIN(TestDataChoice)
#include "tst_data_choice.moc"
