// SPDX-License-Identifier: GPL-3.0-or-later
// The form of a new run over a stand-in for the engine: what it shows of data, fit and toggles, and its start.
#include "fit_bar.h"
#include "run_list.h"
#include "stand_in.h"
#include "watched_test.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTemporaryDir>

using namespace espalier;
using namespace espalier::test;

namespace {

void type_data(WindowDriver& driver, const QString& data) {
    auto* edit = driver.find<QComboBox>(QStringLiteral("field-data"))->lineEdit();
    edit->selectAll();
    QTest::keyClicks(edit, data);
}

} // namespace

class TestForm : public WatchedTest {
    Q_OBJECT

private slots:
    void start_clicked_twice_starts_one_run() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* start = driver.find(QStringLiteral("start"));
        QTest::mouseClick(start, Qt::LeftButton);
        QTest::mouseClick(start, Qt::LeftButton);
        QTest::mouseDClick(start, Qt::LeftButton);
        QVERIFY(driver.wait_for_step(10));
        QTest::qWait(1500); // the list comes anew meanwhile
        QCOMPARE(run_list(driver)->count(), 3);
    }

    /// What is typed after a click on a button that goes grey must not land in the first field.
    void a_button_that_goes_grey_leaves_the_focus_to_no_field() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* queue = driver.find<QPushButton>(QStringLiteral("addToQueue"));
        QTRY_VERIFY(queue->isEnabled());
        queue->setFocus(Qt::MouseFocusReason);
        QTest::mouseClick(queue, Qt::LeftButton);
        QTRY_VERIFY(driver.find(QStringLiteral("message"))->isVisible());
        QWidget* focused = QApplication::focusWidget();
        QVERIFY2(!qobject_cast<QLineEdit*>(focused) && !qobject_cast<QComboBox*>(focused),
                 qPrintable(focused ? focused->objectName() : QString()));
    }

    void a_refused_start_says_why() {
        WindowDriver driver(engine, {QStringLiteral("--refuse-start")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        auto* start = driver.find<QPushButton>(QStringLiteral("start"));
        QTRY_VERIFY(start->toolTip().contains(QStringLiteral("larger than the 10 images")));
        QVERIFY(start->isEnabled());
    }

    /// What the window knows to be refused cannot be asked for: the button is grey, and says why.
    void what_cannot_run_cannot_be_started() {
        WindowDriver driver(engine);
        QVERIFY(wait_for_runs(driver, 2));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        const auto* start = driver.find<QPushButton>(QStringLiteral("start"));
        const auto* queue = driver.find<QPushButton>(QStringLiteral("addToQueue"));
        const auto* problem = driver.find<QLabel>(QStringLiteral("startProblem"));
        const auto* fit = driver.window->findChild<FitBar*>();
        const auto refused = [](const QPushButton* button, const QString& reason) {
            return !button->isEnabled() && button->toolTip() == reason && button->accessibleDescription() == reason;
        };
        type_data(driver, QStringLiteral("synthetic:refused"));
        const QString reason = QStringLiteral("There is no such pattern.");
        QTRY_VERIFY(refused(start, reason));
        QVERIFY(refused(queue, reason));
        QVERIFY(problem->isVisible());
        QCOMPARE(problem->text(), reason);
        QCOMPARE(fit->accessibleName(), QStringLiteral("Cannot run like this"));
        QTest::mouseClick(driver.find(QStringLiteral("start")), Qt::LeftButton);
        QTest::mouseClick(driver.find(QStringLiteral("addToQueue")), Qt::LeftButton);

        // nor can what no memory is enough for
        type_data(driver, QStringLiteral("synthetic:huge"));
        QTRY_VERIFY(refused(start, QStringLiteral("Set memory_limit_mib=9 or more.")));
        QVERIFY(refused(queue, QStringLiteral("Set memory_limit_mib=9 or more.")));

        // data may come until the turn of a run that waits
        type_data(driver, QStringLiteral("idx:/nowhere"));
        QTRY_VERIFY(refused(start, QStringLiteral("There is no folder /nowhere.")));
        QVERIFY(queue->isEnabled());
        QVERIFY(queue->toolTip().startsWith(QStringLiteral("It begins when")));

        type_data(driver, QStringLiteral("builtin"));
        QTRY_VERIFY(fit->accessibleName().contains(QStringLiteral("fits")));
        QVERIFY(start->isEnabled() && queue->isEnabled() && !problem->isVisible());
        QVERIFY(start->toolTip().isEmpty() && start->accessibleDescription().isEmpty());
        QCOMPARE(run_list(driver)->count(), 2);
    }

    /// What the scan has found against a start is the reason why there is none, as long as the settings leave it so.
    void photos_that_training_would_refuse_cannot_be_started() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        const auto* start = driver.find<QPushButton>(QStringLiteral("start"));
        const auto* queue = driver.find<QPushButton>(QStringLiteral("addToQueue"));
        const auto* problem = driver.find<QLabel>(QStringLiteral("startProblem"));
        const auto refused = [&](const QString& reason) {
            return !start->isEnabled() && start->toolTip().startsWith(reason) && problem->isVisible() &&
                   problem->text() == start->toolTip() && queue->isEnabled(); // they may be mended until its turn
        };
        const auto too_many = QStringLiteral("42.8 % of the files cannot be read, more than the 10.0 %");
        type_data(driver, QStringLiteral("folder:/photos"));
        QTRY_VERIFY(refused(too_many));
        QVERIFY(driver.click(QStringLiteral("advanced")));
        auto* share = driver.find<QLineEdit>(QStringLiteral("field-max_bad_share"));
        const auto allow = [&](const QString& most) {
            share->selectAll();
            QTest::keyClicks(share, most);
        };
        allow(QStringLiteral("0.5"));
        QTRY_VERIFY(start->isEnabled() && !problem->isVisible() && start->toolTip().isEmpty());
        allow(QStringLiteral("0.1"));
        QTRY_VERIFY(refused(too_many));
        type_data(driver, QStringLiteral("folder:/unreadable"));
        allow(QStringLiteral("1"));
        QTRY_VERIFY(refused(QStringLiteral("No image of it can be used.")));
        type_data(driver, QStringLiteral("builtin"));
        QTRY_VERIFY(start->isEnabled() && !problem->isVisible());
    }

    /// That nobody could say what it needs is told, but keeps nobody from trying.
    void a_fit_check_that_fails_itself_leaves_start() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        type_data(driver, QStringLiteral("synthetic:dead"));
        const auto* problem = driver.find<QLabel>(QStringLiteral("startProblem"));
        QTRY_COMPARE(problem->text(), QStringLiteral("The process that plans has died."));
        QCOMPARE(driver.window->findChild<FitBar*>()->accessibleName(), QStringLiteral("What it needs is not known"));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
    }

    /// Who mends it in another program comes back to a Start that knows of it.
    void what_was_missing_is_looked_for_when_the_window_is_in_front_again() {
        const QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("images"));
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        type_data(driver, QStringLiteral("idx:") + path);
        const auto* start = driver.find<QPushButton>(QStringLiteral("start"));
        QTRY_VERIFY(!start->isEnabled());
        QWidget other;
        other.show();
        other.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&other));
        QVERIFY(QDir().mkdir(path));
        driver.window->activateWindow();
        QTRY_VERIFY(start->isEnabled());
    }

    void without_a_connection_nothing_can_be_started() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        const auto* start = driver.find<QPushButton>(QStringLiteral("start"));
        type_data(driver, QStringLiteral("synthetic:crash"));
        QTRY_COMPARE(start->toolTip(), QStringLiteral("There is no connection to the engine."));
        QVERIFY(!start->isEnabled());
        QVERIFY(!driver.find(QStringLiteral("addToQueue"))->isEnabled());
        type_data(driver, QStringLiteral("builtin"));
        QTRY_VERIFY_WITH_TIMEOUT(start->isEnabled(), 15000); // it is started again
    }

    void the_form_shows_what_differs() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* epochs = driver.find<QLineEdit>(QStringLiteral("field-epochs"));
        auto* dot = driver.find(QStringLiteral("revert-epochs"));
        QCOMPARE(epochs->text(), QStringLiteral("12"));
        QVERIFY(!dot->isVisible());
        epochs->selectAll();
        QTest::keyClicks(epochs, QStringLiteral("0"));
        QVERIFY(!driver.find(QStringLiteral("start"))->isEnabled());
        const auto* problem = driver.find<QLabel>(QStringLiteral("startProblem"));
        QVERIFY(problem->isVisible()); // beside it stands why
        QCOMPARE(problem->text(), QStringLiteral("Epochs: a whole number from 1 to 100,000"));
        QTest::keyClick(epochs, Qt::Key_Backspace);
        QTest::keyClicks(epochs, QStringLiteral("3"));
        QVERIFY(driver.find(QStringLiteral("start"))->isEnabled());
        QVERIFY(dot->isVisible());
        driver.find<QPushButton>(QStringLiteral("copyCommand"))->click();
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("espalier-train run --preset quick --set epochs=3"));
        QTest::mouseClick(dot, Qt::LeftButton);
        QCOMPARE(epochs->text(), QStringLiteral("12"));
        QVERIFY(!dot->isVisible());
    }

    void a_folder_of_photos_says_what_it_holds() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        type_data(driver, QStringLiteral("folder:/photos"));
        const auto says = [&](const QString& part) {
            const auto labels = driver.window->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                               [&](const QLabel* label) { return label->isVisible() && label->text().contains(part); });
        };
        QTRY_VERIFY(says(QStringLiteral("12 different sizes, from 640 × 480 to")));
        QVERIFY(says(QStringLiteral("1,200 cannot be read:\ncat/IMG_10000.heic cannot be read: it is a HEIC")));
        QVERIFY(says(QStringLiteral("\ncat/IMG_10001.heic: half a file\n")));
        QVERIFY(says(QStringLiteral("\nand 1,100 more")));
        QVERIFY(says(QStringLiteral("The same image in two classes, one of which is wrong:\ndog/2.jpg = cat/1.jpg")));
        QVERIFY(says(QStringLiteral("The same image twice:\ndog/4.jpg = dog/3.jpg")));

        const QString too_many =
            QStringLiteral("42.8 % of the files cannot be read, more than the 10.0 %"); // 1,200 of 2,802
        QVERIFY(says(too_many));
        QVERIFY(driver.click(QStringLiteral("advanced")));
        auto* share = driver.find<QLineEdit>(QStringLiteral("field-max_bad_share"));
        share->selectAll();
        QTest::keyClicks(share, QStringLiteral("0.5"));
        QTRY_VERIFY(!says(QStringLiteral("of the files cannot be read, more than")));
        QVERIFY(says(QStringLiteral("1,200 cannot be read:")));
        share->selectAll();
        QTest::keyClicks(share, QStringLiteral("0.1"));
        QTRY_VERIFY(says(too_many));

        auto* scroll = driver.find<QScrollArea>(QStringLiteral("scanScroll")); // however much it is, all of it is there
        for (const QSize size : {QSize(960, 600), QSize(1280, 720), QSize(1920, 1080)}) {
            driver.window->resize(size);
            QTest::qWait(50);                                                 // for the layout
            QCOMPARE(scroll->widget()->width(), scroll->viewport()->width()); // nothing lies to the right
            const auto labels = scroll->findChildren<QLabel*>();
            QVERIFY(labels.size() >= 4);
            for (const auto* label : labels)
                QTRY_VERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(label->text()));
            QVERIFY(labels.front()->visibleRegion().boundingRect().height() > 0);
            auto* bar = scroll->verticalScrollBar();
            QVERIFY(bar->maximum() > 0);
            for (int page = 0; page < 1000 && bar->value() < bar->maximum(); ++page)
                QTest::keyClick(scroll, Qt::Key_PageDown);
            QCOMPARE(labels.back()->visibleRegion().boundingRect().height(), labels.back()->height());
            bar->setValue(0);
        }
    }

    void a_folder_of_which_nothing_can_be_read_is_no_good_news() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        type_data(driver, QStringLiteral("folder:/unreadable"));
        const auto* scroll = driver.find<QScrollArea>(QStringLiteral("scanScroll"));
        const auto words = [&] {
            QStringList texts;
            for (const auto* label : scroll->findChildren<QLabel*>())
                texts.append(label->text());
            return texts;
        };
        QTRY_VERIFY(words().contains(QStringLiteral("No image of it can be used.")));
        QVERIFY(words().filter(QStringLiteral("0 images")).isEmpty());
        QVERIFY(!words().filter(QStringLiteral("1,200 cannot be read:")).isEmpty());
    }

    /// 200,000 files on a slow disk: the window goes on, and who leaves the form or types another folder waits for
    /// none.
    void a_scan_that_takes_long_holds_up_nobody() { // the watchdog looks on
        WindowDriver driver(engine, {QStringLiteral("--slow-scan")});
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        const auto says = [&](const char* part) {
            return QTest::qWaitFor([&] {
                const auto labels = driver.window->findChildren<QLabel*>();
                return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
                    return label->isVisible() && label->text().contains(QString::fromUtf8(part));
                });
            });
        };
        const auto look_at = [&](const char* data) { type_data(driver, QLatin1String(data)); };
        look_at("folder:/slow");
        QVERIFY(says("of 200,000 images"));
        QVERIFY(driver.find(QStringLiteral("start"))->isEnabled());
        look_at("idx:/");
        QVERIFY(says("Scans under way: 0"));
        look_at("folder:/slow");
        QVERIFY(says("of 200,000 images"));
        driver.key(Qt::Key_N, Qt::ControlModifier); // away, and back
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        QVERIFY(says("Scans under way: 0"));
        look_at("folder:/slow");
        QVERIFY(says("of 200,000 images"));
        QVERIFY(driver.click(QStringLiteral("start"))); // the run will look at them itself
        QVERIFY(driver.wait_for_step(10));
    }

    void the_fit_is_told_at_once_and_the_rest_later() {
        WindowDriver driver(engine, {QStringLiteral("--slow-plan"), QStringLiteral("1500")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* fit = driver.window->findChild<FitBar*>();
        auto* batch = driver.find<QLineEdit>(QStringLiteral("field-batch"));
        batch->selectAll();
        QTest::keyClicks(batch, QStringLiteral("2048"));
        QTRY_VERIFY_WITH_TIMEOUT(fit->accessibleName().contains(QStringLiteral("fails at block2")), 1200);
        QVERIFY(!fit->accessibleDescription().contains(QStringLiteral("1,500")));
        QTRY_VERIFY_WITH_TIMEOUT(fit->accessibleDescription().contains(QStringLiteral("largest batch that fits 1,500")),
                                 8000);
        batch->selectAll();
        QTest::keyClicks(batch, QStringLiteral("64"));
        QTRY_VERIFY(fit->accessibleName().contains(QStringLiteral("fits")));
        // the answer to the older question does not come back
        QTest::qWait(1700);
        QVERIFY(fit->accessibleName().contains(QStringLiteral("· fits")));
    }

    /// What becomes of images that no whole batch takes is known before the start, not from the log.
    void the_last_batch_is_told_below_its_field() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QTRY_VERIFY(driver.find<QLabel>(QStringLiteral("sentence-batch")));
        const auto* says = driver.find<QLabel>(QStringLiteral("sentence-batch"));
        auto* batch = driver.find<QLineEdit>(QStringLiteral("field-batch"));
        const QString rest =
            QStringLiteral("4,000 images in batches of 64 leave 32 over. The last batch of each epoch has 32.");
        QTRY_COMPARE(says->text(), rest);
        QVERIFY(says->isVisible());
        QCOMPARE(batch->accessibleDescription(), rest);
        batch->selectAll();
        QTest::keyClicks(batch, QStringLiteral("500"));
        QTRY_VERIFY(!says->isVisible()); // nothing is left over
        QCOMPARE(says->text(), QString());
        batch->selectAll();
        QTest::keyClicks(batch, QStringLiteral("64"));
        QTRY_VERIFY(says->isVisible());
        type_data(driver, QStringLiteral("idx:/nowhere"));
        QTRY_VERIFY(!says->isVisible());                     // of how many images?
        type_data(driver, QStringLiteral("folder:/photos")); // some of which cannot be read
        QTRY_VERIFY2(says->isVisible() && says->text().startsWith(rest) &&
                         says->text().endsWith(QStringLiteral("left out: there will be fewer.")),
                     qPrintable(says->text()));
        type_data(driver, QStringLiteral("builtin"));
        QTRY_COMPARE(says->text(), rest);
    }

    void toggles_say_what_they_are_for_and_what_they_cost() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        const auto sentence = [&](const char* name) {
            auto* label = driver.find<QLabel>(QStringLiteral("sentence-toggles.") + QLatin1String(name));
            return label ? label->text() : QString();
        };
        for (const char* name :
             {"safe_mode", "precision", "fused", "cuda_graphs", "recompute", "deterministic", "reference_separable"})
            QVERIFY2(sentence(name).size() > 30, name);
        QTRY_VERIFY2(sentence("recompute").contains(QStringLiteral("saves 16 MB and costs about 24")),
                     qPrintable(sentence("recompute")));
        QTRY_VERIFY2(sentence("fused").contains(QStringLiteral("off 1,310 img/s, on 1,840 img/s")),
                     qPrintable(sentence("fused")));
        // on the processor
        QTRY_VERIFY(!driver.find(QStringLiteral("field-toggles.cuda_graphs"))->isEnabled());
        QVERIFY(sentence("cuda_graphs").contains(QStringLiteral("Only on an NVIDIA GPU")));
        auto* precision = driver.find<QComboBox>(QStringLiteral("field-toggles.precision"));
        const auto* choices = qobject_cast<QStandardItemModel*>(precision->model());
        QVERIFY(!choices->item(precision->findData(QStringLiteral("fp16")))->isEnabled());
        QVERIFY(choices->item(precision->findData(QStringLiteral("fp32")))->isEnabled());
        QVERIFY(!driver.find(QStringLiteral("revert-toggles.precision"))->isVisible()); // words alone have changed
    }

    void a_gpu_takes_all_toggles() {
        WindowDriver driver(engine, {QStringLiteral("--gpu")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QTRY_VERIFY(driver.find(QStringLiteral("field-toggles.cuda_graphs"))->isEnabled());
        auto* precision = driver.find<QComboBox>(QStringLiteral("field-toggles.precision"));
        const auto* choices = qobject_cast<QStandardItemModel*>(precision->model());
        for (int i = 0; i < precision->count(); ++i)
            QVERIFY2(choices->item(i)->isEnabled(), qPrintable(precision->itemText(i)));
        precision->setFocus();
        QTest::keyClick(precision, Qt::Key_Down); // fp16
        driver.find<QPushButton>(QStringLiteral("copyCommand"))->click();
        QVERIFY(QApplication::clipboard()->text().endsWith(QStringLiteral("--set toggles.precision=fp16")));
    }
};

WATCHED_TEST_MAIN(TestForm)
#include "tst_form.moc"
