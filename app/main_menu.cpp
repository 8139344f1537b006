// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_menu.h"

#include "run_page.h"

#include <QActionGroup>

namespace espalier {

template <typename Slot>
QAction* MainMenu::add(QMenu* into, const QString& text, const QKeySequence& keys, Slot slot) {
    auto* action = into->addAction(text);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, std::move(slot));
    window_->addAction(action); // its key works while the menu is closed
    return action;
}

MainMenu::MainMenu(Language language, QWidget* window) : QMenu(window), window_(window) {
    add(this, tr("New run"), QKeySequence::New, [this] { emit new_run_requested(); });
    add(this, tr("Search runs"), QKeySequence::Find, [this] { emit search_requested(); });
    addSeparator();
    add_run_menu();
    add_view_menu(language);
    add_help_menu();
    addSeparator();
    add(this, tr("Quit"), QKeySequence::Quit, [this] { window_->close(); });
    add(this, tr("Menu"), Qt::Key_F10, [this] { emit menu_requested(); })->setVisible(false);
}

void MainMenu::add_run_menu() {
    auto* run = addMenu(tr("Run"));
    run->setToolTipsVisible(true);
    // no shortcut: it would take the key from buttons that have the focus; the window's keyPressEvent() gets what they
    // leave
    const auto of_run = [&](const char* command, QAction* action) {
        action->setObjectName(QStringLiteral("run-") + QLatin1String(command));
        action->setData(QLatin1String(command));
        of_a_run_.append(action);
    };
    of_run("pause", add(run, tr("Pause or resume\tSpace"), {}, [this] { emit pause_requested(); }));
    of_run("checkpoint",
           add(run, tr("Checkpoint"), QKeySequence(Qt::CTRL | Qt::Key_K), [this] { emit checkpoint_requested(); }));
    of_run("stop", add(run, tr("Stop"), QKeySequence(Qt::CTRL | Qt::Key_Period), [this] { emit stop_requested(); }));
    add(run, tr("Compare runs"), QKeySequence(Qt::CTRL | Qt::Key_D), [this] {
        emit compare_requested();
    })->setObjectName(QStringLiteral("compareRuns"));
    add(run, tr("Export plots…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), [this] { emit export_requested(); });
    run->addSeparator();
    const auto act = [&](const QString& text, const QKeySequence& keys, const char* command) {
        of_run(command, add(run, text, keys, [this, command] { emit action_requested(QLatin1String(command)); }));
    };
    act(tr("Resume from a checkpoint…"), {}, "resume_from");
    act(tr("Export the network…"), QKeySequence(Qt::CTRL | Qt::Key_E), "export");
    act(tr("Copy report"), {}, "report");
    act(tr("Save report…"), {}, "save_report");
    act(tr("Copy as command"), {}, "command_line");
    act(tr("Open folder"), {}, "folder");
}

void MainMenu::set_run(const WhyNot& why_not) {
    for (QAction* action : of_a_run_)
        set_refusal(action, why_not ? why_not(action->data().toString()) : tr("Open a run first."));
}

void MainMenu::add_help_menu() {
    auto* help = addMenu(tr("Help"));
    add(help, tr("Keys"), QKeySequence::HelpContents, [this] {
        emit keys_requested();
    })->setObjectName(QStringLiteral("keys"));
    add(help, tr("To train on a GPU"), {}, [this] {
        emit gpu_help_requested();
    })->setObjectName(QStringLiteral("gpuHow"));
    help->addSeparator();
    add(help, tr("About Espalier"), {}, [this] { emit about_requested(); })->setObjectName(QStringLiteral("about"));
}

void MainMenu::add_view_menu(Language language) {
    auto* view = addMenu(tr("View"));
    int index = 0;
    for (const QString& tab : RunPage::tab_titles()) {
        add(view, tab, QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + index)),
            [this, index] { emit tab_requested(index); });
        ++index;
    }
    view->addSeparator();
    add(view, tr("Follow the newest step"), QKeySequence(Qt::CTRL | Qt::Key_0), [this] { emit follow_requested(); });
    view->addSeparator();
    auto* looks = new QActionGroup(this);
    for (const auto& [mode, name] : {std::pair{Theme::Mode::system, tr("Colours of the system")},
                                     {Theme::Mode::light, tr("Light")},
                                     {Theme::Mode::dark, tr("Dark")}}) {
        auto* action = add(view, name, {}, [this, mode = mode] { emit theme_requested(mode); });
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == mode);
        looks->addAction(action);
    }
    add_language_menu(view, language);
    view->addSeparator();
    add(view, tr("Full screen"), Qt::Key_F11,
        [this] { window_->isFullScreen() ? window_->showNormal() : window_->showFullScreen(); });
}

void MainMenu::add_language_menu(QMenu* view, Language chosen) {
    auto* languages = view->addMenu(tr("Language"));
    auto* choice = new QActionGroup(this);
    // Each calls itself by its own name: who reads no other finds it.
    for (const auto& [language, name] : {std::pair{Language::system, tr("Language of the system")},
                                         {Language::english, QStringLiteral("English")},
                                         {Language::chinese, QStringLiteral("中文")}}) {
        auto* action = add(languages, name, {}, [this, language = language] { emit language_requested(language); });
        action->setObjectName(QStringLiteral("language-") + name_of(language));
        action->setCheckable(true);
        action->setChecked(language == chosen);
        choice->addAction(action);
    }
}

} // namespace espalier
