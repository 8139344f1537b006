// SPDX-License-Identifier: GPL-3.0-or-later
// The form of a new run over a stand-in for the engine: what it shows of data, fit and toggles, and its start.
#include "fit_bar.h"
#include "watched_test.h"
#include "window_driver.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QStandardItemModel>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString engine = QStringLiteral(FAKE_SERVE);

} // namespace

class TestForm : public WatchedTest {
    Q_OBJECT

private slots:
    void start_clicked_twice_starts_one_run() {
        WindowDriver driver(engine);
        auto* list = driver.find<QListWidget>(QStringLiteral("runList"));
        QTRY_COMPARE(list->count(), 2);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        auto* start = driver.find(QStringLiteral("start"));
        QTest::mouseClick(start, Qt::LeftButton);
        QTest::mouseClick(start, Qt::LeftButton);
        QTest::mouseDClick(start, Qt::LeftButton);
        QVERIFY(driver.wait_for_step(10));
        QTest::qWait(1500); // the list comes anew meanwhile
        QCOMPARE(list->count(), 3);
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
        auto* data = driver.find<QComboBox>(QStringLiteral("field-data"));
        data->lineEdit()->selectAll();
        QTest::keyClicks(data->lineEdit(), QStringLiteral("folder:/photos"));
        const auto says = [&](const QString& part) {
            const auto labels = driver.window->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                               [&](const QLabel* label) { return label->isVisible() && label->text().contains(part); });
        };
        QTRY_VERIFY(says(QStringLiteral("12 different sizes, from 640 × 480 to")));
        QVERIFY(says(QStringLiteral("cannot be read:\ncat/0412.jpg (half a file)")));
        QVERIFY(says(QStringLiteral("1,200")));
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
        const auto look_at = [&](const char* data) {
            auto* edit = driver.find<QComboBox>(QStringLiteral("field-data"))->lineEdit();
            edit->selectAll();
            QTest::keyClicks(edit, QLatin1String(data));
        };
        look_at("folder:/slow");
        QVERIFY(says("of 200,000 images"));
        QVERIFY(driver.find(QStringLiteral("start"))->isEnabled());
        look_at("idx:/other");
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
