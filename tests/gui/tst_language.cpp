// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window in the language of the system, in the states that a person sees most: nothing is left in another
// language, and every text has its room. Run once for each language (tests/gui/CMakeLists.txt sets the locale).
#include "compare_page.h"
#include "language.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "run_list.h"
#include "stand_in.h"
#include "toggle_list.h"
#include "translation_file.h"
#include "watched_test.h"

#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRegularExpression>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTranslator>
#include <set>

using namespace espalier;
using namespace espalier::test;

namespace {

Language spoken() { return spoken_of(QLocale::system().uiLanguages()); }

std::vector<Translation> translations() {
    return read_translations(QStringLiteral(SOURCE_DIR "/resources/translations/espalier_zh_CN.ts"));
}

/// Asked last: what nobody translates. A text that the file has under another context was asked for in vain.
class Unanswered : public QTranslator {
public:
    Unanswered() {
        for (const Translation& one : translations())
            if (one.text != one.source)
                known_.insert(one.source);
    }
    [[nodiscard]] bool isEmpty() const override { return false; }
    [[nodiscard]] QString translate(const char* context, const char* source, const char*, int) const override {
        // those of Qt's dialogs have translations of their own
        static const std::set<QString> ours{QStringLiteral("QObject"), QStringLiteral("QWidget"),
                                            QStringLiteral("QAbstractTableModel"), QStringLiteral("QAbstractListModel"),
                                            QStringLiteral("QStyledItemDelegate")};
        const QString asked = QString::fromUtf8(context);
        if ((asked.startsWith(QStringLiteral("espalier")) || ours.contains(asked)) &&
            known_.contains(QString::fromUtf8(source)))
            found.insert(QStringLiteral("%1 asks for '%2'").arg(asked, QString::fromUtf8(source)));
        return {};
    }
    mutable std::set<QString> found;

private:
    std::set<QString> known_;
};

/// Tells a text of the window that is English, and has a translation.
class EnglishTexts {
public:
    EnglishTexts() {
        static const QRegularExpression place(QStringLiteral("%[1-9]")), word(QStringLiteral("[A-Za-z]{3}"));
        for (const Translation& one : translations()) {
            if (one.text == one.source)
                continue;
            if (!one.source.contains(place)) {
                whole_.insert(plain(one.source));
            } else if (QString(one.source).remove(place).contains(word)) {
                QString pattern = QRegularExpression::escape(plain(one.source));
                patterns_.emplace_back(QRegularExpression::anchoredPattern(pattern.replace(
                                           QRegularExpression(QStringLiteral("\\\\%[1-9]")), QStringLiteral(".+?"))),
                                       QRegularExpression::DotMatchesEverythingOption);
            }
        }
    }
    /// Without mnemonics and keys.
    [[nodiscard]] static QString plain(const QString& text) {
        static const QRegularExpression mnemonic(QStringLiteral("&(?=\\S)"));
        return text.section(QLatin1Char('\t'), 0, 0).remove(mnemonic);
    }
    [[nodiscard]] bool has(const QString& text) const {
        const QString shown = plain(text);
        return !shown.isEmpty() && (whole_.contains(shown) || std::ranges::any_of(patterns_, [&](const auto& pattern) {
                                        return pattern.match(shown).hasMatch();
                                    }));
    }

private:
    std::set<QString> whole_;
    std::vector<QRegularExpression> patterns_;
};

bool has_chinese(const QString& text) {
    return std::ranges::any_of(text, [](QChar sign) { return sign.script() == QChar::Script_Han; });
}

/// All words of a widget that a person sees, hears or is helped by.
QStringList words_of(const QWidget* widget) {
    QStringList words{widget->toolTip(), widget->accessibleName(), widget->windowTitle()};
    words += widget->accessibleDescription().split(QStringLiteral(", "));
    if (const auto* label = qobject_cast<const QLabel*>(widget))
        words += label->text().remove(QRegularExpression(QStringLiteral("<[^>]*>"))).split(QStringLiteral(" · "));
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
        words.append(button->text());
    if (const auto* edit = qobject_cast<const QLineEdit*>(widget))
        words.append(edit->placeholderText());
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget))
        for (int i = 0; i < tabs->count(); ++i)
            words.append(tabs->tabText(i));
    if (const auto* menu = qobject_cast<const QMenu*>(widget))
        for (const QAction* action : menu->actions())
            words.append(action->text());
    if (const auto* head = qobject_cast<const QHeaderView*>(widget))
        for (int i = 0; i < head->count(); ++i)
            words += {head->model()->headerData(i, head->orientation()).toString(),
                      head->model()->headerData(i, head->orientation(), Qt::ToolTipRole).toString()};
    words.removeAll(QString());
    return words;
}

/// Whether a widget has less room than its text needs. What is elided in the source says so by its "…".
bool is_clipped(const QWidget* widget) {
    if (const auto* label = qobject_cast<const QLabel*>(widget))
        return !label->text().isEmpty() && (label->wordWrap() ? label->height() < label->heightForWidth(label->width())
                                                              : label->width() < label->sizeHint().width());
    if (const auto* button = qobject_cast<const QPushButton*>(widget))
        return button->width() < button->minimumSizeHint().width() || button->height() < button->fontMetrics().height();
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) {
        for (int i = 0; i < tabs->count(); ++i)
            if (tabs->tabRect(i).width() < tabs->fontMetrics().horizontalAdvance(tabs->tabText(i)))
                return true;
    }
    if (const auto* head = qobject_cast<const QHeaderView*>(widget); head && head->orientation() == Qt::Horizontal) {
        for (int i = 0; i < head->count(); ++i)
            if (!head->isSectionHidden(i) &&
                head->sectionSize(i) <
                    head->fontMetrics().horizontalAdvance(head->model()->headerData(i, Qt::Horizontal).toString()))
                return true;
    }
    return false;
}

} // namespace

class TestLanguage : public WatchedTest {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(!translations().empty()); }

    void the_window_speaks_one_language() {
        WindowDriver driver(engine, {QStringLiteral("serve"), QStringLiteral("--more-runs"), QStringLiteral("2")});
        QTRY_VERIFY(driver.find(QStringLiteral("preset-train-small")));
        QTest::qWait(300); // the plans of the presets
        look_at(QStringLiteral("gallery"));
        QVERIFY(driver.click(QStringLiteral("preset-train-small")));
        QTest::qWait(600); // the data set and the plan
        look_at(QStringLiteral("configuring"));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(40));
        QCOMPARE(has_chinese(driver.find<QPushButton>(QStringLiteral("stop"))->text()), spoken() == Language::chinese);
        look_at(QStringLiteral("running"));
        for (int tab = 1; tab < driver.window->run_page()->tab_count(); ++tab) {
            driver.window->run_page()->show_tab(tab);
            QTest::qWait(100);
            look_at(QStringLiteral("tab %1").arg(tab));
        }
        driver.window->run_page()->show_tab(0);
        QVERIFY(driver.click(QStringLiteral("checkpoint")));
        QTRY_VERIFY(driver.run()->checkpoint());
        QVERIFY(driver.click(QStringLiteral("pause")));
        QVERIFY(driver.wait_for_state(RunState::paused));
        look_at(QStringLiteral("paused"));
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        look_at(QStringLiteral("stopped"));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::finished));
        look_at(QStringLiteral("finished"));
        click_run(driver, 2, Qt::ControlModifier);
        QTRY_VERIFY(driver.window->compare_page()->isVisible());
        QTest::qWait(500);
        look_at(QStringLiteral("compare"));
        QVERIFY(driver.click(QStringLiteral("machine")));
        auto* machines = driver.find<QMenu>(QStringLiteral("machineMenu"));
        QTRY_VERIFY(machines->isVisible());
        machines->findChild<QAction*>(QStringLiteral("addMachine"))->trigger();
        machines->close();
        QTRY_VERIFY(driver.find(QStringLiteral("machineDialog")));
        look_at(QStringLiteral("a machine"));
        QVERIFY(driver.click(QStringLiteral("machineCancel")));
        QVERIFY2(faults_.isEmpty(), qPrintable(faults_.join(QLatin1Char('\n'))));
    }

    /// All switches with what they do, in a window of the usual size.
    void setup_shows_its_toggles_without_scrolling() {
        WindowDriver driver(engine);
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(10));
        driver.window->run_page()->show_tab(1);
        QTRY_VERIFY(driver.find(QStringLiteral("settings"))->isVisible());
        QTRY_VERIFY(driver.find(QStringLiteral("tags"))->isVisible());
        const auto* toggles = driver.window->findChild<ToggleList*>();
        for (const int width : {1280, 1100, 1280}) {
            driver.window->resize(width, 720);
            QTest::qWait(100); // layouts
            int seen = 0;
            for (const auto* label : toggles->findChildren<QLabel*>()) {
                QVERIFY2(label->visibleRegion().boundingRect() == label->rect() || width < 1280,
                         qPrintable(label->text()));
                QVERIFY2(label->width() >= label->minimumSizeHint().width() &&
                             (!label->wordWrap() || label->height() >= label->heightForWidth(label->width())),
                         qPrintable(label->text()));
                seen += label->objectName().startsWith(QStringLiteral("toggle-")) ? 1 : 0;
            }
            QCOMPARE(seen, 7);
        }
    }

    void a_failure_is_told_in_it() {
        WindowDriver driver(engine, {QStringLiteral("serve"), QStringLiteral("--gpu"), QStringLiteral("--fall-back-at"),
                                     QStringLiteral("20"), QStringLiteral("--fail-at"), QStringLiteral("60")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QTRY_VERIFY(driver.run() && !driver.run()->changes().empty());
        look_at(QStringLiteral("fallback"));
        QVERIFY(driver.wait_for_state(RunState::failed));
        look_at(QStringLiteral("failed"));
        QVERIFY2(faults_.isEmpty(), qPrintable(faults_.join(QLatin1Char('\n'))));
    }

    void another_language_waits_for_the_next_start() {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("settings.json"));
        {
            WindowDriver driver(engine, {QStringLiteral("serve")}, file);
            QVERIFY(driver.find<QAction>(QStringLiteral("language-system"))->isChecked());
            driver.find<QAction>(QStringLiteral("language-zh_CN"))->trigger();
            QVERIFY(driver.find(QStringLiteral("message"))->isVisible());
            driver.window->close();
        }
        QCOMPARE(Settings::language_in(file), Language::chinese);
        WindowDriver again(engine, {QStringLiteral("serve")}, file);
        QVERIFY(again.find<QAction>(QStringLiteral("language-zh_CN"))->isChecked());
    }

    /// A script that reads the tables finds their columns, whoever has exported them.
    void heads_of_tables_are_the_same_in_every_language() {
        const QTemporaryDir folder;
        WindowDriver driver(engine, {QStringLiteral("--overview")});
        const auto head_of = [&](PlotExports* exports, const std::array<LivePlot*, 4>& plots, const char* name) {
            QFile table(folder.filePath(QLatin1String(name)));
            exports->write({plots.begin(), plots.end()}, table.fileName());
            const bool done = QTest::qWaitFor([&] { return table.exists(); });
            return done && table.open(QIODevice::ReadOnly) ? QString::fromUtf8(table.readLine()) : QString();
        };
        QVERIFY(wait_for_runs(driver, 3));
        click_run(driver, 1);
        QVERIFY(driver.wait_for_state(RunState::finished));
        QCOMPARE(head_of(driver.window->run_page()->exports(), driver.window->run_page()->plots()->plots(), "one.csv"),
                 QStringLiteral("step,epoch,seconds,Loss,Loss train smoothed,Loss validation,Accuracy,Accuracy train "
                                "smoothed,Accuracy validation,Memory workspace,Memory activations,Memory optimizer,"
                                "Memory weights,Memory process,GFLOPS step\n"));
        click_run(driver, 0, Qt::ControlModifier);
        auto* page = driver.window->compare_page();
        QTRY_VERIFY(page->runs().size() == 2 && page->runs().curves(0) && page->runs().has_told());
        const QString head = head_of(page->exports(), page->plots()->plots(), "compared.csv");
        QVERIFY2(head.startsWith(QStringLiteral("step,Loss weeks-3 training (mean of 10000 steps),Loss weeks-3 "
                                                "validation (mean of 10000 steps),Loss quick-1 training (smoothed "
                                                "0.9),Loss quick-1 validation,Accuracy weeks-3 training")),
                 qPrintable(head));
        QVERIFY2(head.contains(QStringLiteral("Memory weeks-3 of the run (greatest of 10000 steps),")),
                 qPrintable(head));
        QVERIFY2(head.contains(QStringLiteral("GFLOPS weeks-3 step (least and greatest of 10000 steps),")),
                 qPrintable(head));
    }

    void nothing_was_asked_for_in_vain() {
        if (spoken() == Language::english)
            return; // nothing is translated
        QVERIFY2(unanswered().found.empty(), unanswered().found.empty() ? "" : qPrintable(*unanswered().found.begin()));
    }

public:
    static Unanswered& unanswered() {
        static Unanswered asked;
        return asked;
    }

private:
    /// Gathers what is wrong in this state, so that a run of the test names all of it.
    void look_at(const QString& state) {
        QTest::qWait(60); // layouts come after their texts
        for (const QWidget* window : QApplication::topLevelWidgets()) {
            auto widgets = window->findChildren<const QWidget*>();
            widgets.append(window);
            for (const QWidget* widget : widgets)
                look_at(state, widget);
        }
    }
    void look_at(const QString& state, const QWidget* widget) {
        const bool menu = qobject_cast<const QMenu*>(widget); // read closed, too
        if (!menu && !widget->isVisible())
            return;
        for (const QString& text : words_of(widget))
            if (spoken() == Language::chinese ? english_.has(text) : has_chinese(text) && text != u"中文")
                faults_.append(
                    QStringLiteral("%1: '%2' of %3 %4")
                        .arg(state, text, QLatin1String(widget->metaObject()->className()), widget->objectName()));
        if (!menu && is_clipped(widget))
            faults_.append(QStringLiteral("%1: no room for '%2'").arg(state, words_of(widget).join(QLatin1Char('|'))));
    }

    EnglishTexts english_;
    QStringList faults_;
};

int main(int argc, char** argv) {
    espalier::Application app(argc, argv);
    QCoreApplication::setAttribute(Qt::AA_Use96Dpi);
    QCoreApplication::installTranslator(&TestLanguage::unanswered());
    install_language(Language::system);
    TestLanguage test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_language.moc"
