// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window without a mouse: Tab reaches all that can be acted on, in every page and dialog; each stop is seen,
// and has a name for a screen reader.
#include "compare_page.h"
#include "confusion_matrix.h"
#include "live_plot.h"
#include "metric_tile.h"
#include "network_canvas.h"
#include "run_list.h"
#include "stand_in.h"
#include "status_strip.h"
#include "watched_test.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTabBar>
#include <QToolTip>

using namespace espalier;
using namespace espalier::test;

namespace {

constexpr int longest_walk = 400;

QString called(const QWidget* widget) {
    return widget
               ? QStringLiteral("%1 '%2'").arg(QLatin1String(widget->metaObject()->className()), widget->objectName())
               : QStringLiteral("nothing");
}

/// A part of a control that has the focus in its stead, or does by the mouse what the control does by keys.
bool is_inner(const QWidget* widget) {
    const QWidget* parent = widget->parentWidget();
    return qobject_cast<const QComboBox*>(parent) || qobject_cast<const QLineEdit*>(parent) ||
           qobject_cast<const QTabBar*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent) ||
           qobject_cast<const QHeaderView*>(widget) || qobject_cast<const QScrollBar*>(widget) ||
           widget->inherits("QTableCornerButton");
}

/// Whether a person does something with it, or is told something by it.
bool is_control(const QWidget* widget) {
    if (is_inner(widget))
        return false;
    if (widget->isEnabled() && !widget->toolTip().isEmpty()) // what the mouse tells, keys tell
        if (const auto* label = qobject_cast<const QLabel*>(widget); !label || !label->buddy())
            return true;
    return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QLineEdit*>(widget) ||
           qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractItemView*>(widget) ||
           qobject_cast<const QTabBar*>(widget) || qobject_cast<const QPlainTextEdit*>(widget) ||
           qobject_cast<const LivePlot*>(widget) || qobject_cast<const NetworkCanvas*>(widget) ||
           qobject_cast<const ConfusionMatrix*>(widget);
}

QList<QWidget*> controls(const QWidget* window) {
    QList<QWidget*> found;
    for (auto* widget : window->findChildren<QWidget*>())
        if (widget->window() == window && widget->isVisible() && widget->isEnabled() && is_control(widget))
            found.append(widget);
    return found;
}

QString name_of(QWidget* widget) {
    auto* accessible = QAccessible::queryAccessibleInterface(widget);
    return accessible ? accessible->text(QAccessible::Name) : QString();
}

} // namespace

class TestKeyboard : public WatchedTest {
    Q_OBJECT

    QStringList faults_;

    /// Where Tab goes, from where it is until it comes back there.
    static QList<QWidget*> walk(QWidget* window) {
        QList<QWidget*> stops;
        for (int i = 0; i < longest_walk; ++i) {
            QTest::keyClick(window->window(), Qt::Key_Tab);
            QWidget* stop = QApplication::focusWidget();
            if (!stop || stops.contains(stop))
                break;
            stops.append(stop);
        }
        return stops;
    }

    void check(QWidget* window, const QString& state) {
        window->activateWindow();
        QTRY_COMPARE(QApplication::activeWindow(), window);
        const auto stops = walk(window);
        for (QWidget* control : controls(window))
            if (!stops.contains(control))
                faults_.append(
                    QStringLiteral("%1: Tab does not reach %2 (%3)").arg(state, called(control), name_of(control)));
        for (const auto* grey : window->findChildren<QWidget*>())
            if (grey->window() == window && grey->isVisible() && !grey->isEnabled() && is_control(grey) &&
                (grey->toolTip().isEmpty() || grey->accessibleDescription().isEmpty()))
                faults_.append(QStringLiteral("%1: %2 is grey and does not say why").arg(state, called(grey)));
        for (QWidget* stop : stops) {
            if (name_of(stop).isEmpty())
                faults_.append(QStringLiteral("%1: %2 has no name").arg(state, called(stop)));
            stop->setFocus(Qt::TabFocusReason);
            const QImage marked = stop->grab().toImage();
            stop->clearFocus();
            if (marked == stop->grab().toImage())
                faults_.append(QStringLiteral("%1: it is not seen that %2 has the focus").arg(state, called(stop)));
        }
    }
    template <class Open>
    void check_dialog(WindowDriver& driver, const char* name, Open&& open) {
        open();
        QTRY_VERIFY2(driver.find<QDialog>(QLatin1String(name)), name);
        auto* dialog = driver.find<QDialog>(QLatin1String(name));
        QTRY_VERIFY(dialog->isVisible());
        check(dialog, QLatin1String(name));
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!driver.find<QDialog>(QLatin1String(name)));
    }

private slots:
    /// What is told where the mouse rests is told to keys, too, and to screen readers.
    void help_of_tiles_and_of_the_last_line_comes_by_keys() {
        WindowDriver driver(engine, {QStringLiteral("--gpu")});
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        QWidget* window = driver.window.get();
        const auto tab_to = [&](const QWidget* wanted) {
            for (int i = 0; i < longest_walk && QApplication::focusWidget() != wanted; ++i)
                QTest::keyClick(window, Qt::Key_Tab);
            return QApplication::focusWidget() == wanted;
        };
        const MetricTile* memory = nullptr;
        for (const auto* tile : window->findChildren<MetricTile*>())
            if (tile->accessibleName().contains(QStringLiteral("memory")))
                memory = tile;
        QVERIFY(memory);
        QTRY_VERIFY(!memory->toolTip().isEmpty());
        QVERIFY(tab_to(memory));
        QTRY_VERIFY(QToolTip::isVisible());
        QCOMPARE(QToolTip::text(), memory->toolTip());
        auto* accessible = QAccessible::queryAccessibleInterface(const_cast<MetricTile*>(memory));
        QCOMPARE(accessible->text(QAccessible::Help), memory->toolTip());

        auto* strip = window->findChild<StatusStrip*>();
        QVERIFY(tab_to(strip));
        QTRY_VERIFY(strip->accessibleDescription().endsWith(QToolTip::text()) && QToolTip::isVisible());
        QStringList told{QToolTip::text()};
        for (int i = 0; i < 20; ++i) {
            QTest::keyClick(strip, Qt::Key_Right);
            QVERIFY(strip->accessibleDescription().endsWith(QToolTip::text()));
            if (told.back() != QToolTip::text())
                told.append(QToolTip::text());
        }
        QVERIFY2(told.size() >= 4, qPrintable(told.join(QLatin1Char('\n'))));
        QVERIFY(told.contains(QStringLiteral("Share of the time in which the GPU had a kernel to run")));
        QTest::keyClick(strip, Qt::Key_Left);
        QCOMPARE(QToolTip::text(), told[told.size() - 2]);
        QTest::keyClick(window, Qt::Key_Tab);
        QVERIFY(!strip->hasFocus());
        QCOMPARE(strip->accessibleDescription(), strip->text());
    }

    void tab_reaches_everything() {
        WindowDriver driver(engine, {QStringLiteral("--more-runs"), QStringLiteral("1")});
        QWidget* window = driver.window.get();
        QTRY_VERIFY(driver.find(QStringLiteral("preset-train-small")));
        QVERIFY(wait_for_runs(driver, 3));
        check(window, QStringLiteral("gallery"));
        QVERIFY(driver.click(QStringLiteral("preset-quick")));
        QVERIFY(driver.click(QStringLiteral("advanced")));
        QTest::qWait(600); // the data set and the plan
        driver.find<QLineEdit>(QStringLiteral("field-epochs"))->setText(QStringLiteral("300")); // which can be reverted
        check(window, QStringLiteral("configuring"));
        QVERIFY(driver.click(QStringLiteral("start")));
        QVERIFY(driver.wait_for_step(70));
        QVERIFY(driver.click(QStringLiteral("pause"))); // so that nothing comes and goes meanwhile
        QVERIFY(driver.wait_for_state(RunState::paused));
        for (int tab = 0; tab < driver.window->run_page()->tab_count(); ++tab) {
            driver.window->run_page()->show_tab(tab);
            QTest::qWait(200);
            check(window, QStringLiteral("tab %1").arg(tab));
        }
        QVERIFY(driver.click(QStringLiteral("band-resume")));
        QVERIFY(driver.wait_for_state(RunState::running));
        check_dialog(driver, "closeDialog", [&] { driver.window->close(); });
        QVERIFY(driver.click(QStringLiteral("stop")));
        QVERIFY(driver.wait_for_state(RunState::stopped));
        driver.window->run_page()->show_tab(0);
        check(window, QStringLiteral("stopped"));

        driver.window->show_run(QStringLiteral("/fake/runs/quick-1"));
        QVERIFY(driver.wait_for_state(RunState::finished));
        driver.window->run_page()->show_tab(RunPage::results_tab);
        QTRY_VERIFY(!driver.find<ConfusionMatrix>(QStringLiteral("confusion"))->counts().classes.isEmpty());
        auto* views = driver.find<QTabBar>(QStringLiteral("resultTabs"));
        for (int view = 0; view < views->count(); ++view) {
            views->setCurrentIndex(view);
            QTest::qWait(300);
            check(window, QStringLiteral("results %1").arg(view));
        }
        check_dialog(driver, "moreEpochs", [&] { QVERIFY(driver.click(QStringLiteral("band-more_epochs"))); });
        driver.window->show_comparison({QStringLiteral("/fake/runs/quick-1"), QStringLiteral("/fake/runs/more-3")});
        QTRY_VERIFY(driver.window->compare_page()->runs().curves(1));
        check(window, QStringLiteral("compare"));
        for (const char* name : {"keys", "gpuHow", "about"})
            check_dialog(driver,
                         name == QByteArray("keys")    ? "keysHelp"
                         : name == QByteArray("about") ? "aboutHelp"
                                                       : "gpuHelp",
                         [&] { driver.find<QAction>(QLatin1String(name))->trigger(); });
        check_dialog(driver, "machineDialog", [&] { QVERIFY(driver.pick(QStringLiteral("addMachine"))); });
        QVERIFY2(faults_.isEmpty(), qPrintable(faults_.join(QLatin1Char('\n'))));
    }
};

WATCHED_TEST_MAIN(TestKeyboard)
#include "tst_keyboard.moc"
