// SPDX-License-Identifier: GPL-3.0-or-later
// What runs are called where there is little room: most have a name that nobody chose, which begins with the time.
#include "queue_list.h"
#include "run_rail.h"
#include "run_title.h"
#include "text_recorder.h"
#include "watched_test.h"

#include <QListWidget>
#include <QPushButton>

using namespace espalier;
using namespace espalier::test;

namespace {

const QString begun = QStringLiteral("20250307-185756-");

RunEntry entry(const QString& name, RunState state) {
    RunEntry run;
    run.id = QStringLiteral("/home/ada/espalier/runs/") + name;
    run.name = name;
    run.state = state;
    run.detail = QStringLiteral("86.7 % · 41 s");
    run.place = state == RunState::queued ? 1 : 0;
    return run;
}

QStringList written_by(QWidget* widget) {
    TextRecorder recorder(widget->size());
    widget->render(&recorder, {}, {}, {});
    QStringList texts;
    for (const auto& words : recorder.words)
        texts.append(words.text);
    return texts;
}

} // namespace

class TestRunTitles : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { Theme::install(Theme::Mode::light); }

    void a_name_that_nobody_chose_is_taken_apart_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("when");
        const QString none;
        QTest::newRow("of another year") << "20250307-185756-quick"
                                         << "quick"
                                         << "2025-03-07";
        QTest::newRow("of this year") << "20260930-000001-train-small"
                                      << "train-small"
                                      << "09-30";
        QTest::newRow("of today") << "20261129-070503-grow-large"
                                  << "grow-large"
                                  << "07:05";
        QTest::newRow("the second of a second") << "20261129-070503-quick-2"
                                                << "quick-2"
                                                << "07:05";
        QTest::newRow("chosen") << "flowers-12"
                                << "flowers-12" << none;
        QTest::newRow("chosen, with a date") << "20261129-flowers"
                                             << "20261129-flowers" << none;
        QTest::newRow("chosen, digits that are no time") << "20261399-256199-a"
                                                         << "20261399-256199-a" << none;
        QTest::newRow("nothing behind the time") << "20261129-070503"
                                                 << "20261129-070503" << none;
        QTest::newRow("nothing") << none << none << none;
    }
    void a_name_that_nobody_chose_is_taken_apart() {
        QFETCH(QString, name);
        const RunTitle title = run_title(name);
        QTEST(title.text, "text");
        QTEST(title.when(QDate(2026, 11, 29)), "when");
        QCOMPARE(title.begun().isEmpty(), title.text == name);
    }

    /// Whatever it trains and however it stands, its row says which run it is and when it began; the tip has all of it.
    void the_rail_says_what_it_trains_and_when_data() {
        QTest::addColumn<QString>("preset");
        for (const char* preset :
             {"quick", "train-small", "train-medium", "train-large", "search-small", "search-medium", "search-large",
              "search-recommended", "search-conservative", "grow-small", "grow-medium", "grow-large"})
            QTest::newRow(preset) << QString::fromLatin1(preset);
    }
    void the_rail_says_what_it_trains_and_when() {
        QFETCH(QString, preset);
        RunRail rail;
        rail.resize(216, 600);
        rail.set_runs({entry(begun + preset, RunState::finished)});
        rail.show();
        auto* list = rail.findChild<QListWidget*>(QStringLiteral("runList"));
        const QStringList words = written_by(list->viewport());
        QVERIFY2(words.contains(QStringLiteral("2025-03-07")), qPrintable(words.join(QLatin1Char('|'))));
        QVERIFY2(words.contains(QStringLiteral("86.7 % · 41 s")), qPrintable(words.join(QLatin1Char('|'))));
        const auto is_it = [&](const QString& one) {
            const qsizetype cut = one.indexOf(QChar(u'…')); // one name is as long as the row, or longer
            return one == preset ||
                   (cut > 7 && preset.startsWith(one.first(cut)) && preset.endsWith(one.sliced(cut + 1)));
        };
        QVERIFY2(std::any_of(words.begin(), words.end(), is_it), qPrintable(words.join(QLatin1Char('|'))));
        QVERIFY(list->item(0)->toolTip().contains(begun + preset));
        QCOMPARE(list->item(0)->text(), begun + preset); // what is renamed, searched and copied
    }

    /// Of long names that somebody chose both ends are seen: it is there that they differ.
    void long_names_are_told_by_both_ends() {
        RunRail rail;
        rail.resize(216, 600);
        const QString name = QStringLiteral("flowers-of-the-garden-with-batch-64");
        rail.set_runs({entry(name, RunState::failed)});
        rail.show();
        const QStringList words = written_by(rail.findChild<QListWidget*>(QStringLiteral("runList"))->viewport());
        QVERIFY2(std::any_of(words.begin(), words.end(),
                             [](const QString& one) {
                                 return one.startsWith(QStringLiteral("flowers")) &&
                                        one.endsWith(QStringLiteral("-64"));
                             }),
                 qPrintable(words.join(QLatin1Char('|'))));
    }

    void the_queue_says_what_waits() {
        RunRail rail;
        rail.set_runs({entry(begun + QStringLiteral("train-small"), RunState::queued)});
        const auto* name = rail.findChild<QPushButton*>(QStringLiteral("queue-name-%1train-small").arg(begun));
        QVERIFY(name && name->text().startsWith(QStringLiteral("1  train-small")));
        QVERIFY(name->toolTip().endsWith(begun + QStringLiteral("train-small")));
    }
};

WATCHED_TEST_MAIN(TestRunTitles)
#include "tst_run_titles.moc"
