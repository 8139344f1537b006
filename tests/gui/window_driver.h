// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "main_window.h"
#include "run_page.h"

#include <QAbstractButton>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMenu>
#include <QMimeData>
#include <QTest>
#include <QUrl>

namespace espalier::test {

/// The whole window over a program that speaks the protocol, driven by clicks and keys as a person would.
class WindowDriver {
public:
    explicit WindowDriver(const QString& program, const QStringList& arguments = {}, const QString& settings = {}) {
        MainWindow::Options options;
        options.engine = program;
        options.engine_arguments = arguments;
        options.settings_file = settings;
        window = std::make_unique<MainWindow>(options);
        window->show();
        window->activateWindow(); // there may be no window manager to do it
        (void)QTest::qWaitForWindowActive(window.get());
    }

    template <typename Widget = QWidget>
    Widget* find(const QString& name) {
        return window->findChild<Widget*>(name);
    }

    /// Clicks a button by its name, when it can be clicked. Returns whether that came to be.
    bool click(const QString& name, int patience_ms = 5000) {
        const bool ready = QTest::qWaitFor(
            [&] {
                auto* button = find<QAbstractButton>(name);
                return button && button->isVisible() && button->isEnabled();
            },
            patience_ms);
        if (ready)
            QTest::mouseClick(find<QAbstractButton>(name), Qt::LeftButton);
        return ready;
    }
    /// Clicks an entry of the machine chip's menu. Returns whether that came to be.
    bool pick(const QString& name) {
        auto* menu = find<QMenu>(QStringLiteral("machineMenu"));
        if (!click(QStringLiteral("machine")) || !QTest::qWaitFor([&] { return menu->isVisible(); }))
            return false;
        auto* action = menu->findChild<QAction*>(name);
        if (action)
            QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
        return action != nullptr;
    }
    /// Drops a file on the window, or on a part of it, as a file manager does. Returns whether it is taken.
    bool drop(const QString& path, QWidget* onto = nullptr) {
        onto = onto ? onto : window.get();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        const QPoint at = onto->rect().center();
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(onto, &enter); // which hands it on to the first of its parents that takes it
        if (!enter.isAccepted())
            return false;
        QDropEvent event(QPointF(at), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(onto, &event);
        return event.isAccepted();
    }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::keyClick(window.get(), key, modifiers);
    }
    [[nodiscard]] RunModel* run() const { return window->run_page()->run(); }
    bool wait_for_state(RunState state, int patience_ms = 10000) {
        return QTest::qWaitFor([&] { return run() && run()->state() == state; }, patience_ms);
    }
    bool wait_for_step(std::int64_t step, int patience_ms = 20000) {
        return QTest::qWaitFor([&] { return run() && run()->step() >= step; }, patience_ms);
    }

    std::unique_ptr<MainWindow> window;
};

} // namespace espalier::test
