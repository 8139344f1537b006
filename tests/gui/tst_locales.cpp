// SPDX-License-Identifier: GPL-3.0-or-later
// A desk in Germany, in Turkey, in Egypt: what is typed means the same, and what is written, by the window and by the
// engine that it starts, has the same bytes.
#include "plot_exports.h"
#include "plot_group.h"
#include "real_runs.h"
#include "run_list.h"
#include "watched_test.h"
#include "worker/protocol.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <clocale>
#include <map>

using namespace espalier;
using namespace espalier::test;

namespace {

const QStringList locales{QStringLiteral("C"), QStringLiteral("de_DE"), QStringLiteral("tr_TR"),
                          QStringLiteral("ar_EG")};

QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// As a keyboard does it; QTest's own clicks know the letters of ASCII alone.
void type_into(QWidget* edit, const QString& text) {
    for (const QChar letter : text) {
        QKeyEvent press(QEvent::KeyPress, 0, Qt::NoModifier, letter),
            release(QEvent::KeyRelease, 0, Qt::NoModifier, letter);
        QApplication::sendEvent(edit, &press);
        QApplication::sendEvent(edit, &release);
    }
}

void type(WindowDriver& driver, const char* field, const QString& text) {
    auto* edit = driver.find<QLineEdit>(QStringLiteral("field-") + QLatin1String(field));
    QVERIFY(edit);
    edit->selectAll();
    type_into(edit, text);
}

/// What of a run does not depend on the clock: its configuration, and each step's numbers as they were written.
QByteArray record_of(const QString& run) {
    QByteArray record = read(run + QStringLiteral("/config.json"));
    for (const QByteArray& line : read(run + QStringLiteral("/metrics.csv")).split('\n'))
        record += line.left(line.lastIndexOf(',')) + '\n'; // all but the seconds
    for (const QByteArray& line : read(run + QStringLiteral("/events.jsonl")).split('\n')) {
        const auto event = protocol::parse_line(line.toStdString());
        if (!event && !line.isEmpty())
            return "no event: " + line;
        if (event && protocol::is_event(*event, "steps"))
            for (const Json& loss : event->at("loss"))
                record += QByteArray::fromStdString(loss.dump()) + '\n';
    }
    return record;
}

} // namespace

class TestLocales : public WatchedTest {
    Q_OBJECT

    QTemporaryDir folder_;
    std::map<QString, QByteArray> first_; ///< what the first locale wrote, by its name

    /// Everything in this process and in those that it starts, as at a desk of that locale.
    void speak(const QString& locale) {
        const QByteArray name = locale == u"C" ? QByteArray("C.UTF-8") : locale.toLatin1() + ".UTF-8";
        qputenv("LC_ALL", name);
        qputenv("LANG", name);
        QLocale::setDefault(locale == u"C" ? QLocale::c() : QLocale(locale));
        std::setlocale(LC_ALL, ""); // what the application object does
    }
    void same_in_all(const QString& what, const QByteArray& bytes) {
        QVERIFY2(bytes.size() > 20, qPrintable(what));
        const auto [first, is_first] = first_.try_emplace(what, bytes);
        if (!is_first)
            QCOMPARE(bytes, first->second);
    }
    static void each_locale() {
        QTest::addColumn<QString>("locale");
        for (const QString& locale : locales)
            QTest::newRow(qPrintable(locale)) << locale;
    }

private slots:
    void initTestCase() {
        const QString made = folder_.filePath(QStringLiteral("locales"));
        QVERIFY(QDir().mkpath(made));
        for (const QString& locale : locales.mid(1)) // where they cannot be made, those of Qt alone are tried
            QProcess::execute(QStringLiteral("localedef"),
                              {QStringLiteral("-i"), locale, QStringLiteral("-f"), QStringLiteral("UTF-8"),
                               made + QLatin1Char('/') + locale + QStringLiteral(".UTF-8")});
        qputenv("LOCPATH", made.toLocal8Bit());
    }
    void cleanupTestCase() { speak(QStringLiteral("C")); }

    void a_form_means_what_was_typed_data() { each_locale(); }
    void a_form_means_what_was_typed() {
        QFETCH(QString, locale);
        speak(locale);
        WindowDriver driver(QStringLiteral(FAKE_SERVE));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        const QString untouched = QStringLiteral("espalier-train run --preset quick");
        const auto command = [&] {
            driver.find<QPushButton>(QStringLiteral("copyCommand"))->click();
            return QApplication::clipboard()->text();
        };
        QCOMPARE(command(), untouched); // its own numbers, read back
        for (const QString& rate : {QStringLiteral("0,05"), QStringLiteral("0.05"), QStringLiteral("5e-2"),
                                    QLocale().toString(0.05, 'f', 2)}) {
            type(driver, "optimizer.learning_rate", rate);
            type(driver, "epochs", QLocale().toString(1200));
            QVERIFY(driver.find(QStringLiteral("start"))->isEnabled());
            QCOMPARE(command(), untouched + QStringLiteral(" --set epochs=1200 --set optimizer.learning_rate=0.05"));
        }
        type(driver, "epochs", QStringLiteral("1,5"));
        QVERIFY(!driver.find(QStringLiteral("start"))->isEnabled()); // and not 15
    }

    void a_dialog_takes_digits_data() { each_locale(); }
    void a_dialog_takes_digits() {
        QFETCH(QString, locale);
        speak(locale);
        WindowDriver driver(QStringLiteral(FAKE_SERVE));
        QVERIFY(open_finished(driver));
        QVERIFY(driver.click(QStringLiteral("band-more_epochs")));
        auto* dialog = driver.find<QInputDialog>(QStringLiteral("moreEpochs"));
        QVERIFY(dialog);
        auto* edit = dialog->findChild<QSpinBox*>()->findChild<QLineEdit*>();
        for (const QString& typed : {QStringLiteral("1200"), QLocale().toString(1200)}) {
            edit->selectAll();
            type_into(edit, typed);
            QCOMPARE(dialog->intValue(), 1200);
        }
        dialog->reject();
    }

    void what_the_window_writes_is_the_same_data() { each_locale(); }
    void what_the_window_writes_is_the_same() {
        QFETCH(QString, locale);
        speak(locale);
        const QString table = folder_.filePath(locale + QStringLiteral(".csv")),
                      settings = folder_.filePath(locale + QStringLiteral(".json"));
        WindowDriver driver(QStringLiteral(FAKE_SERVE), {}, settings);
        driver.window->setGeometry(40, 40, 1280, 720);
        QVERIFY(open_finished(driver));
        PlotGroup* plots = driver.window->run_page()->plots();
        driver.window->run_page()->redraw_plots();
        driver.window->run_page()->exports()->write({plots->plots().begin(), plots->plots().end()}, table);
        QTRY_VERIFY(QFile::exists(table));
        same_in_all(QStringLiteral("table"), read(table));
        QVERIFY(driver.window->close());
        same_in_all(QStringLiteral("settings"), read(settings));
    }

    void a_run_of_the_window_is_the_same_data() { each_locale(); }
    void a_run_of_the_window_is_the_same() {
        QFETCH(QString, locale);
        speak(locale);
        const RealRuns runs;
        WindowDriver driver(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("serve")});
        QVERIFY(driver.click(QStringLiteral("preset-quick"), 20000));
        auto* data = driver.find<QComboBox>(QStringLiteral("field-data"))->lineEdit();
        data->selectAll();
        QTest::keyClicks(data, QStringLiteral("synthetic:1x8x8,2,256"));
        type(driver, "optimizer.learning_rate", QStringLiteral("0,0125"));
        type(driver, "epochs", QStringLiteral("2"));
        QVERIFY(driver.click(QStringLiteral("start"), 20000));
        QVERIFY(driver.wait_for_state(RunState::finished, 60000));
        const QByteArray record = record_of(driver.run()->path());
        QVERIFY2(record.contains("\"learning_rate\": 0.0125"), record.constData());
        same_in_all(QStringLiteral("run"), record);
    }
};

WATCHED_TEST_MAIN(TestLocales)
#include "tst_locales.moc"
