// SPDX-License-Identifier: GPL-3.0-or-later
// The Results tab over the real engine: a run from the form to its end, the matrix, images of a cell, a prediction, and
// an export.
#include "class_table.h"
#include "confusion_matrix.h"
#include "image_grid.h"
#include "prediction_panel.h"
#include "real_runs.h"
#include "results_view.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <array>
#include <numeric>

using namespace espalier;
using namespace espalier::test;

namespace {

WindowDriver open_window() { return WindowDriver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")}); }

void type(WindowDriver& driver, const char* field, const QString& text) {
    auto* editor = driver.find<QWidget>(QLatin1String(field));
    if (auto* box = qobject_cast<QComboBox*>(editor))
        editor = box->lineEdit();
    static_cast<QLineEdit*>(editor)->selectAll();
    QTest::keyClicks(editor, text);
}

/// The images of a class that is red, green or blue.
void write_photos(const QDir& folder) {
    const std::pair<const char*, QColor> classes[] = {
        {"red", QColor(220, 30, 30)}, {"green", QColor(30, 200, 40)}, {"blue", QColor(30, 60, 220)}};
    for (const auto& [name, color] : classes) {
        folder.mkpath(QLatin1String(name));
        for (int i = 0; i < (color.blue() > 200 ? 8 : 40); ++i) {
            QImage image(24, 20, QImage::Format_RGB888);
            image.fill(color.lighter(90 + i));
            image.save(folder.filePath(QStringLiteral("%1/%2.png").arg(QLatin1String(name)).arg(i)));
        }
    }
}

/// A run on the photos, trained to its end. Returns whether it came to it.
bool train(WindowDriver& driver, const QString& data) {
    if (!driver.click(QStringLiteral("preset-quick"), 20000))
        return false;
    type(driver, "field-data", data);
    type(driver, "field-image_size", QStringLiteral("16"));
    type(driver, "field-epochs", QStringLiteral("2"));
    type(driver, "field-batch", QStringLiteral("8"));
    return driver.click(QStringLiteral("start"), 20000) && driver.wait_for_state(RunState::finished, 120000);
}

void press(WindowDriver& driver, const char* list, int index) {
    auto* bar = driver.find<QTabBar>(QLatin1String(list));
    QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(index).center());
}

} // namespace

class TestResultsView : public WatchedTest {
    Q_OBJECT

private slots:
    void from_a_finished_run_to_its_hardest_images() {
        const RealRuns runs;
        const QTemporaryDir photos, elsewhere;
        write_photos(QDir(photos.path()));
        WindowDriver driver = open_window();
        QVERIFY(train(driver, QStringLiteral("folder:") + photos.path()));
        press(driver, "tabs", RunPage::results_tab);

        // A finished run of few images is evaluated unasked.
        auto* matrix = driver.find<ConfusionMatrix>(QStringLiteral("confusion"));
        QTRY_VERIFY_WITH_TIMEOUT(matrix->isVisible() && matrix->counts().classes.size() == 3, 30000);
        const auto& counts = matrix->counts();
        const qint64 images = std::accumulate(counts.counts.begin(), counts.counts.end(), qint64{0});
        QCOMPARE(images, 9); // a tenth of each class: 4, 4 and 1
        auto* table = driver.find<ClassTable>(QStringLiteral("classTable"));
        QCOMPARE(table->model()->rowCount(), 3);
        QVERIFY(driver.find<QLabel>(QStringLiteral("resultsSummary"))->text().contains(QStringLiteral("9 images")));

        // A click on a cell shows what is in it.
        int truth = 0, predicted = 0;
        while (counts.at(truth, predicted) == 0)
            truth = (++predicted) / 3 ? truth + 1 : truth, predicted %= 3;
        QTest::mouseClick(matrix->viewport(), Qt::LeftButton, {}, matrix->cell_rect(truth, predicted).center());
        auto* grid = driver.find<ImageGrid>(QStringLiteral("cellImages"));
        QTRY_COMPARE_WITH_TIMEOUT(static_cast<qint64>(grid->count()), counts.at(truth, predicted), 20000);
        QVERIFY(grid->isVisible());
        const QString words = grid->model()->index(0, 0).data().toString();
        QVERIFY2(words.contains(counts.classes[truth]), qPrintable(words));
        QVERIFY(grid->model()->index(0, 0).data(Qt::ToolTipRole).toString().contains(photos.path()));
        QVERIFY(driver.click(QStringLiteral("hardestImages")));
        QTRY_COMPARE_WITH_TIMEOUT(static_cast<qint64>(grid->count()), images, 20000);

        // The part that was trained with, by choice.
        auto* part = driver.find<QComboBox>(QStringLiteral("resultsPart"));
        QVERIFY(part->isVisible());
        part->setFocus();
        QTest::keyClick(part, Qt::Key_Down);
        emit part->activated(part->currentIndex());
        const auto all = [&] {
            const auto& now = matrix->counts().counts;
            return std::accumulate(now.begin(), now.end(), qint64{0});
        };
        QTRY_COMPARE_WITH_TIMEOUT(all(), 79, 30000);

        // An image of one's own, dropped.
        press(driver, "resultTabs", 2);
        auto* panel = driver.find<PredictionPanel>(QStringLiteral("prediction"));
        QVERIFY(panel->isVisible());
        QVERIFY(driver.drop(photos.filePath(QStringLiteral("red/3.png")), panel));
        auto* bars = driver.find<ProbabilityBars>(QStringLiteral("predictionBars"));
        QTRY_VERIFY_WITH_TIMEOUT(bars->accessibleDescription().contains(QStringLiteral("red")), 30000);
        QCOMPARE(bars->accessibleDescription().count(QLatin1Char('%')), 3);

        // Dropped anywhere while another tab is shown.
        auto* prediction = driver.find<QLabel>(QStringLiteral("predictionWords"));
        driver.window->run_page()->show_tab(0);
        QVERIFY(driver.drop(photos.filePath(QStringLiteral("green/3.png"))));
        QTRY_VERIFY_WITH_TIMEOUT(prediction->isVisible() && prediction->text().contains(QStringLiteral("green")),
                                 30000);

        // And from the band, by a dialog.
        QVERIFY(driver.click(QStringLiteral("band-predict")));
        auto* choose = driver.find<QFileDialog>(QStringLiteral("chooseImageFile"));
        QVERIFY(choose);
        choose->selectFile(photos.filePath(QStringLiteral("green/1.png")));
        QMetaObject::invokeMethod(choose, "accept");
        QTRY_VERIFY_WITH_TIMEOUT(
            driver.find<QLabel>(QStringLiteral("predictionWords"))->text().contains(QLatin1Char('%')), 30000);

        // Taken away as a file.
        QVERIFY(driver.click(QStringLiteral("band-export")));
        auto* save = driver.find<QFileDialog>(QStringLiteral("exportNetwork"));
        QVERIFY(save);
        const QString file = elsewhere.filePath(QStringLiteral("colours.safetensors"));
        save->selectFile(file);
        QMetaObject::invokeMethod(save, "accept");
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(file), 30000);

        // Of the formats in JSON a name typed in full means the network, unless the other one is chosen.
        QVERIFY(driver.click(QStringLiteral("band-export")));
        save = driver.find<QFileDialog>(QStringLiteral("exportNetwork"));
        QVERIFY(save);
        QVERIFY(save->nameFilters().join(QLatin1Char(' ')).contains(QStringLiteral("as JSON (*.json)")));
        const QString network = elsewhere.filePath(QStringLiteral("colours.json"));
        save->selectFile(network);
        QMetaObject::invokeMethod(save, "accept");
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(network), 30000);
        QFile written(network);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QVERIFY(QJsonDocument::fromJson(written.readAll()).object().contains(QStringLiteral("network")));

        // A new window has it at once, without an evaluation.
        QVERIFY(QFile::exists(driver.run()->path() + QStringLiteral("/results/best-unseen.json")));
        WindowDriver again = open_window();
        auto* list = again.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE_WITH_TIMEOUT(list->count(), 1, 20000);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
        QVERIFY(again.wait_for_state(RunState::finished, 20000));
        again.key(static_cast<Qt::Key>(Qt::Key_1 + RunPage::results_tab), Qt::ControlModifier);
        auto* kept = again.find<ConfusionMatrix>(QStringLiteral("confusion"));
        QTRY_VERIFY_WITH_TIMEOUT(kept->isVisible() && kept->counts().classes.size() == 3, 20000);
    }

    void without_a_checkpoint_it_says_so() {
        ResultsView view;
        RunModel run(QStringLiteral("/nowhere"));
        view.show_run(&run);
        view.refresh();
        auto* words = view.findChild<QLabel*>(QStringLiteral("resultsEmpty"));
        QVERIFY(words->text().contains(QStringLiteral("no checkpoint yet")));
        view.show();
        const QSignalSpy actions(&view, &ResultsView::action_requested);
        const QSignalSpy curves(&view, &ResultsView::curves_wanted);
        const auto press = [&](const char* name) { // the only one that is there
            for (const char* other : {"resultsCheckpointNow", "resultsResume", "resultsCurves"})
                QCOMPARE(view.findChild<QPushButton*>(QLatin1String(other))->isVisible(), QLatin1String(other) == name);
            QTest::mouseClick(view.findChild<QPushButton*>(QLatin1String(name)), Qt::LeftButton);
        };
        const auto phase = [&](const char* name) {
            run.apply(read_event({{"type", "phase"}, {"time", 1.0}, {"phase", name}, {"step", 0}, {"epoch", 0}}));
            view.refresh();
        };
        phase("preparing");
        press("resultsCurves");
        QCOMPARE(curves.count(), 1);
        phase("queued");
        QVERIFY(words->text().contains(QStringLiteral("waits in the queue")));
        press("resultsResume");
        phase("training");
        press("resultsCheckpointNow");
        phase("failed");
        QVERIFY(words->text().contains(QStringLiteral("before it had written a checkpoint")));
        press("resultsResume");
        QCOMPARE(actions.count(), 3);
        for (const auto& [index, action] : {std::pair{0, "resume"}, {1, "checkpoint"}, {2, "like"}})
            QCOMPARE(actions[index][0].toString(), QLatin1String(action));
    }

    void every_part_without_an_evaluation_offers_one() {
        ResultsView view;
        RunModel run(QStringLiteral("/nowhere"));
        run.apply(read_event({{"type", "checkpoint"}, {"time", 1.0}, {"step", 10}, {"epoch", 1}, {"file", "x"}}));
        int asked = 0;
        connect(&view, &ResultsView::confusion_wanted, this, [&] { ++asked; });
        view.show_run(&run);
        view.show();
        view.refresh();
        QCOMPARE(asked, 1);
        auto* tabs = view.findChild<QTabBar*>(QStringLiteral("resultTabs"));
        auto* words = view.findChild<QLabel*>(QStringLiteral("detailsEmpty"));
        auto* evaluate = view.findChild<QPushButton*>(QStringLiteral("detailsEvaluate"));
        for (const auto& [tab, text] : {std::pair{0, "Precision and recall"}, {1, "hardest images"}}) {
            view.show_results({{"known", false}, {"images", 25000}});
            tabs->setCurrentIndex(tab);
            QVERIFY(words->isVisible() && words->text().contains(QLatin1String(text)));
            QVERIFY(evaluate->isVisible());
            QTest::mouseClick(evaluate, Qt::LeftButton);
            QCOMPARE(asked, 2 + tab);
            QVERIFY(!evaluate->isVisible()); // it is on its way
        }
        view.show_results({{"known", true}, {"classes", {"cat", "dog"}}, {"cells", Json::array()}});
        QVERIFY(!words->isVisible()); // the images are on their way
        view.show_images_error(QStringLiteral("The data are gone."));
        QVERIFY(words->isVisible() && evaluate->isVisible());
        QCOMPARE(words->text(), QStringLiteral("The data are gone."));
        QCOMPARE(evaluate->text(), QStringLiteral("Evaluate again"));
        tabs->setCurrentIndex(2);
        QVERIFY(!words->isVisible() && view.findChild<QWidget*>(QStringLiteral("prediction"))->isVisible());
    }

    void what_is_large_or_fails_waits_for_a_person() {
        ResultsView view;
        RunModel run(QStringLiteral("/nowhere"));
        run.apply(read_event({{"type", "checkpoint"}, {"time", 1.0}, {"step", 10}, {"epoch", 1}, {"file", "x"}}));
        std::vector<Json> asked;
        connect(&view, &ResultsView::confusion_wanted, this,
                [&](const Json& arguments) { asked.push_back(arguments); });
        view.show_run(&run);
        view.refresh();
        QCOMPARE(asked.size(), std::size_t{1});
        QCOMPARE(asked[0].at("most"), Json(0));            // it trains: only what is known already
        QCOMPARE(asked[0].at("checkpoint"), Json("last")); // nothing is the best before an evaluation
        view.show_results({{"known", false}, {"images", 25000}});
        auto* words = view.findChild<QLabel*>(QStringLiteral("resultsWords"));
        QVERIFY2(words->text().contains(QStringLiteral("25,000")), qPrintable(words->text()));
        view.show();
        auto* evaluate = view.findChild<QPushButton*>(QStringLiteral("evaluate"));
        QTest::mouseClick(evaluate, Qt::LeftButton);
        QCOMPARE(asked.size(), std::size_t{2});
        QVERIFY(!asked[1].contains("most"));
        QVERIFY(!evaluate->isVisible());
        view.show_progress({{"done", 500}, {"total", 25000}});
        QVERIFY(words->text().contains(QStringLiteral("500 of 25,000")));
        view.show_error(QStringLiteral("The data are gone."));
        QCOMPARE(words->text(), QStringLiteral("The data are gone."));
        QVERIFY(evaluate->isVisible());
        view.show_run(nullptr);
    }

    void what_is_on_its_way_ends_with_its_run() {
        ResultsView view;
        RunModel first(QStringLiteral("/first")), second(QStringLiteral("/second"));
        for (RunModel* run : {&first, &second})
            run->apply(read_event({{"type", "checkpoint"}, {"time", 1.0}, {"step", 10}, {"epoch", 1}, {"file", "x"}}));
        const QSignalSpy confusion(&view, &ResultsView::confusion_cancelled);
        const QSignalSpy images(&view, &ResultsView::images_cancelled);
        const QSignalSpy prediction(&view, &ResultsView::prediction_cancelled);
        view.show_run(&first);
        view.refresh();
        view.predict(QStringLiteral("/photos/cat.png"));
        const auto before = std::array{confusion.size(), images.size(), prediction.size()};
        view.show_run(&second);
        QVERIFY(confusion.size() > before[0] && images.size() > before[1] && prediction.size() > before[2]);
        // of another checkpoint the same image may be another thing
        view.refresh();
        view.predict(QStringLiteral("/photos/cat.png"));
        view.show_prediction(Json{{"classes", Json::array({{{"name", "cat"}, {"probability", 0.9}}})}});
        auto* bars = view.findChild<ProbabilityBars*>(QStringLiteral("predictionBars"));
        QVERIFY(bars->accessibleDescription().contains(QStringLiteral("cat")));
        const auto predictions = prediction.size();
        auto* checkpoint = view.findChild<QComboBox*>(QStringLiteral("resultsCheckpoint"));
        checkpoint->setCurrentIndex(1);
        emit checkpoint->activated(1);
        QVERIFY(!bars->accessibleDescription().contains(QStringLiteral("cat")));
        QVERIFY(prediction.size() > predictions);
    }

    void the_best_is_asked_for_where_there_is_one() {
        ResultsView view;
        RunModel run(QStringLiteral("/nowhere"));
        run.apply(read_event({{"type", "checkpoint"}, {"time", 1.0}, {"step", 10}, {"epoch", 1}, {"file", "x"}}));
        std::vector<Json> asked;
        connect(&view, &ResultsView::confusion_wanted, this,
                [&](const Json& arguments) { asked.push_back(arguments); });
        view.show_run(&run);
        view.refresh();
        const auto* choice = view.findChild<QComboBox*>(QStringLiteral("resultsCheckpoint"));
        const QModelIndex best = choice->model()->index(0, 0);
        QVERIFY(!best.flags().testFlag(Qt::ItemIsEnabled));
        run.apply(read_event({{"type", "evaluation"},
                              {"time", 2.0},
                              {"step", 20},
                              {"epoch", 1},
                              {"loss", 1.5},
                              {"accuracy", 0.5},
                              {"best_accuracy", 0.5},
                              {"best_epoch", 1}}));
        QVERIFY(run.best_accuracy());
        view.refresh();
        QVERIFY(best.flags().testFlag(Qt::ItemIsEnabled));
        view.show_run(&run);
        view.refresh();
        QCOMPARE(asked.back().at("checkpoint"), Json("best"));
    }

    void a_matrix_is_walked_by_keys() {
        ConfusionMatrix matrix;
        matrix.set_counts({{"cat", "dog", "owl"}, {5, 1, 0, 2, 6, 0, 0, 3, 4}});
        matrix.resize(300, 300);
        matrix.show();
        QPoint chosen(-1, -1);
        connect(&matrix, &ConfusionMatrix::cell_chosen, this,
                [&](int truth, int predicted) { chosen = QPoint(predicted, truth); });
        for (const Qt::Key key : {Qt::Key_Home, Qt::Key_Down, Qt::Key_Down, Qt::Key_Right, Qt::Key_Return})
            QTest::keyClick(&matrix, key);
        QCOMPARE(chosen, QPoint(1, 2)); // owls taken for dogs
        QCOMPARE(matrix.accessibleDescription(), QStringLiteral("owl taken for dog: 3 of 7 images (42.9 %)"));
        QTest::keyClick(&matrix, Qt::Key_Up);
        QCOMPARE(matrix.accessibleDescription(), QStringLiteral("dog: 6 of 8 images told right (75.0 %)"));
        QTest::keyClick(&matrix, Qt::Key_End);
        QTest::keyClick(&matrix, Qt::Key_Right); // there is nothing further
        QCOMPARE(matrix.current(), std::optional(QPoint(2, 2)));
    }

    /// All can be reached, and drawn in time; a click hits the cell that is drawn there.
    void a_large_matrix_scrolls_and_zooms() {
        constexpr int classes = 230;
        ConfusionCounts counts;
        for (int i = 0; i < classes; ++i)
            counts.classes.append(QStringLiteral("class number %1").arg(i));
        counts.counts.assign(classes * classes, 1);
        ConfusionMatrix matrix;
        matrix.set_counts(counts);
        matrix.resize(420, 380);
        matrix.show();
        QVERIFY(QTest::qWaitForWindowExposed(&matrix));
        QPoint chosen;
        connect(&matrix, &ConfusionMatrix::cell_chosen, this,
                [&](int truth, int predicted) { chosen = QPoint(predicted, truth); });
        QTest::keyClick(&matrix, Qt::Key_End);
        QTest::mouseClick(matrix.viewport(), Qt::LeftButton, {}, matrix.cell_rect(classes - 1, classes - 2).center());
        QCOMPARE(chosen, QPoint(classes - 2, classes - 1));
        const int before = matrix.cell_rect(0, 0).width();
        QTest::keyClick(&matrix, Qt::Key_Plus);
        QVERIFY(matrix.cell_rect(0, 0).width() > before);
        matrix.grab();
        for (int i = 0; i < 20; ++i)
            QTest::keyClick(&matrix, Qt::Key_Minus);
        QCOMPARE(matrix.cell_rect(0, 0).width(), before);
    }

    void classes_are_sorted_and_copied() {
        ClassTable table;
        table.set_rows({{"cat", 6, 0.5, 0.9, 0.64}, {"dog", 2, std::nan(""), 0.0, 0.0}, {"owl", 4, 1.0, 0.2, 0.33}});
        table.resize(500, 200);
        table.show();
        QCOMPARE(table.model()->index(1, ClassTable::precision).data().toString(), QStringLiteral("–"));
        QHeaderView* head = table.horizontalHeader();
        QTest::mouseClick(head->viewport(), Qt::LeftButton, {},
                          {head->sectionViewportPosition(ClassTable::recall) + 20, head->height() / 2});
        QCOMPARE(table.model()->index(0, 0).data().toString(), QStringLiteral("dog"));
        QTest::keyClick(&table, Qt::Key_C, Qt::ControlModifier);
        const QString copied = QGuiApplication::clipboard()->text();
        QVERIFY2(
            copied.startsWith(QStringLiteral("Class\tImages\tPrecision\tRecall\tF1\ndog\t2\t\t0\t0\nowl\t4\t1\t0.2")),
            qPrintable(copied));
    }

    void a_large_window_gets_as_many_images_as_it_shows() {
        ImageGrid grid;
        grid.resize(2400, 1600); // some 240 images
        const auto some = [] {
            QImage image(8, 8, QImage::Format_RGB32);
            image.fill(Qt::red);
            return std::vector<ExaminedImage>(60, {image, QStringLiteral("cat"), QStringLiteral("dog"), 0.1, {}});
        };
        QSignalSpy more(&grid, &ImageGrid::more_wanted);
        connect(&grid, &ImageGrid::more_wanted, this, [&] { grid.append_images(some()); });
        grid.set_images(some(), 10000);
        QTest::qWait(50);
        QCOMPARE(more.size(), 0); // nobody sees them
        grid.show();
        QTRY_VERIFY(grid.count() >= 240);
        QTest::qWait(100);
        QVERIFY2(grid.count() <= 480, qPrintable(QString::number(grid.count()))); // and not all there are
    }

    void images_that_are_there_stay_when_more_cannot_be_had() {
        ResultsView view;
        RunModel run(QStringLiteral("/nowhere"));
        view.show_run(&run);
        auto* grid = view.findChild<ImageGrid*>(QStringLiteral("cellImages"));
        view.show_images(Json{{"total", 90}, {"images", Json::array({Json{{"truth", 0}, {"predicted", 1}}})}});
        QCOMPARE(grid->count(), 1);
        emit grid->more_wanted();
        view.show_images_error(QStringLiteral("The data are gone."));
        QCOMPARE(grid->count(), 1);
        QCOMPARE(view.findChild<QLabel*>(QStringLiteral("imageWords"))->text(), QStringLiteral("The data are gone."));
    }

    void an_uneven_data_set_is_named() {
        const QTemporaryDir photos;
        write_photos(QDir(photos.path()));
        WindowDriver driver = open_window();
        QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
        auto* weights = driver.find<QComboBox>(QStringLiteral("field-class_weights"));
        QVERIFY(weights);
        QCOMPARE(weights->currentData().toString(), QStringLiteral("none"));
        type(driver, "field-data", QStringLiteral("folder:") + photos.path());
        const auto said = [&] {
            for (const QLabel* label : driver.window->findChildren<QLabel*>())
                if (label->isVisible() && label->text().contains(QStringLiteral("5.0 times as many images as blue")))
                    return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(said(), 20000);
    }
};

WATCHED_TEST_MAIN(TestResultsView)
#include "tst_results_view.moc"
