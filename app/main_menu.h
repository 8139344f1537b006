// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "language.h"
#include "refusal.h"
#include "theme.h"

#include <QMenu>

namespace espalier {

/// The window's menu. Its keys work while it is closed: they belong to the window.
class MainMenu : public QMenu {
    Q_OBJECT

public:
    MainMenu(Language language, QWidget* window);

    /// Of the run that is looked at: what cannot be done to it is grey, with the reason. None is looked at: an empty
    /// function.
    void set_run(const WhyNot& why_not);

signals:
    void new_run_requested();
    void search_requested();
    void pause_requested(); ///< or resume
    void checkpoint_requested();
    void stop_requested();
    void action_requested(const QString& command); ///< report, folder
    void tab_requested(int index);
    void follow_requested();
    void export_requested();
    void compare_requested(); ///< of the runs that are selected
    void theme_requested(Theme::Mode mode);
    void language_requested(Language language);
    void menu_requested(); ///< its own key
    void keys_requested();
    void gpu_help_requested();
    void about_requested();

private:
    template <typename Slot>
    QAction* add(QMenu* into, const QString& text, const QKeySequence& keys, Slot slot);
    void add_run_menu();
    void add_view_menu(Language language);
    void add_language_menu(QMenu* view, Language chosen);
    void add_help_menu();

    QWidget* window_;
    QList<QAction*> of_a_run_;
};

} // namespace espalier
