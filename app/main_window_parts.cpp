// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the window: made, connected, put in their places.
#include "close_guard.h"
#include "compare_page.h"
#include "configure_page.h"
#include "configure_requests.h"
#include "delete_undo.h"
#include "device_choice.h"
#include "drop_opener.h"
#include "engine_words.h"
#include "help.h"
#include "machine_menu.h"
#include "main_menu.h"
#include "main_window.h"
#include "notes_panel.h"
#include "notifications.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "preset_list.h"
#include "results_requests.h"
#include "run_actions.h"
#include "run_menu.h"
#include "run_page.h"
#include "setup_view.h"
#include "state_band.h"
#include "status_strip.h"
#include "tool_bar.h"

#include <QStackedWidget>
#include <QVBoxLayout>

namespace espalier {

namespace {

/// The bands over the pages. While none is shown there is no gap around them either.
class Bands : public QVBoxLayout {
public:
    [[nodiscard]] QSize sizeHint() const override { return isEmpty() ? QSize(0, 0) : QVBoxLayout::sizeHint(); }
    [[nodiscard]] QSize minimumSize() const override { return isEmpty() ? QSize(0, 0) : QVBoxLayout::minimumSize(); }
};

} // namespace

void MainWindow::build_pages() {
    rail_ = new RunRail;
    pages_ = new QStackedWidget;
    gallery_ = new PresetGallery;
    configure_ = new ConfigurePage;
    run_page_ = new RunPage;
    compare_ = new ComparePage(machine_, store_);
    strip_ = new StatusStrip;
    message_ = new StateBand;
    message_->setObjectName(QStringLiteral("message"));
    message_->hide();
    undo_ = new DeleteUndo(store_);
    pages_->addWidget(gallery_);
    pages_->addWidget(configure_);
    pages_->addWidget(run_page_);
    pages_->addWidget(compare_);
    gallery_->set_machine_line(tr("Looking for devices…"), Role::secondary);
    new ConfigureRequests(machine_, configure_, this);
    new ResultsRequests(machine_, run_page_->results(), this);
    connect(rail_, &RunRail::new_run_requested, this, &MainWindow::show_gallery);
    connect(rail_, &RunRail::run_chosen, this, &MainWindow::show_run);
    connect(rail_, &RunRail::compare_chosen, this, &MainWindow::show_comparison);
    connect(compare_, &ComparePage::closed, this, [this] {
        const RunModel* run = run_page_->run(); // it may have been deleted meanwhile
        run && store_->entry(run->path()) ? show_run(run->path()) : show_gallery();
    });
    connect(compare_->exports(), &PlotExports::told, this, &MainWindow::tell);
    connect(gallery_, &PresetGallery::preset_chosen, this, &MainWindow::choose_preset);
    connect(configure_, &ConfigurePage::back_requested, this, &MainWindow::show_gallery);
    connect(configure_, &ConfigurePage::copy_command_requested, this,
            [this] { actions_->copy_command(configure_->config()); });
    connect(configure_, &ConfigurePage::start_requested, this, [this](const Json& config) {
        configure_->set_starting(true);
        store_->start(config, {});
    });
    connect(configure_, &ConfigurePage::queue_requested, this, [this](const Json& config) {
        configure_->set_starting(true);
        store_->start(config, {}, true);
    });
    opener_ = new DropOpener(machine_, this);
    setAcceptDrops(true);
    connect(configure_, &ConfigurePage::data_folder_chosen, opener_, &DropOpener::take_data_folder);
    connect(opener_, &DropOpener::data_dropped, this, &MainWindow::configure_with);
    connect(opener_, &DropOpener::run_dropped, this, &MainWindow::show_run);
    connect(opener_, &DropOpener::image_dropped, this, &MainWindow::predict);
    connect(opener_, &DropOpener::refused, this, [this](const QString& text) { tell(text, true); });
    new RunMenu(rail_, store_, actions_, this);
    connect(run_page_->setup(), &SetupView::config_wanted, this, [this](const QString& path) {
        store_->read_config(path, [this, path](const Json& config) {
            if (run_page_->run() && run_page_->run()->path() == path)
                run_page_->setup()->show_config(config);
        });
    });
    connect(run_page_->notes(), &NotesPanel::edited, store_, &RunStore::annotate);
    connect(run_page_, &RunPage::action_requested, this, &MainWindow::act);
    run_page_->set_why_not(
        [this](const QString& action) { return actions_->why_not(action, *run_page_->run()); }); // it asks with a run
    connect(run_page_->exports(), &PlotExports::told, this, &MainWindow::tell);
    connect(actions_, &RunActions::told, this, [this](const QString& text) { tell(text, false); });
    connect(actions_, &RunActions::failed, this, [this](const QString& text) { tell(text, true); });
    connect(actions_, &RunActions::new_run_wanted, this, &MainWindow::configure_like);
    connect(guard_, &CloseGuard::told, this, [this](const QString& text) { tell(text, false); });
}

void MainWindow::build_tool_bar() {
    tool_bar_ = new ToolBar;
    tool_bar_->set_machine(machine_->name(), {});
    machines_ = new MachineMenu(machine_, devices_, &settings_, this);
    tool_bar_->set_machine_menu(machines_);
    connect(machines_, &MachineMenu::chosen, this, &MainWindow::use_machine);
    connect(machines_, &MachineMenu::told, this, [this](const QString& text) { tell(text, false); });
    connect(tool_bar_, &ToolBar::action_requested, this, &MainWindow::act);
    connect(tool_bar_, &ToolBar::safe_mode_changed, this, [this](bool on) {
        settings_.safe_mode = on;
        actions_->set_safe_mode(on);
    });
    tool_bar_->set_safe_mode(settings_.safe_mode);
}

void MainWindow::build_menu() {
    auto* menu = menu_ = new MainMenu(settings_.language, this);
    tool_bar_->set_menu(menu);
    connect(menu, &MainMenu::new_run_requested, this, &MainWindow::show_gallery);
    connect(menu, &MainMenu::search_requested, rail_, &RunRail::focus_search);
    connect(menu, &MainMenu::pause_requested, tool_bar_, &ToolBar::press_pause);
    connect(menu, &MainMenu::checkpoint_requested, tool_bar_, &ToolBar::press_checkpoint);
    connect(menu, &MainMenu::stop_requested, tool_bar_, &ToolBar::press_stop);
    connect(menu, &MainMenu::action_requested, this, &MainWindow::act);
    connect(menu, &MainMenu::tab_requested, run_page_, &RunPage::show_tab);
    connect(menu, &MainMenu::follow_requested, this,
            [this] { (pages_->currentWidget() == compare_ ? compare_->plots() : run_page_->plots())->follow(); });
    connect(menu, &MainMenu::compare_requested, this, [this] { show_comparison(rail_->selected()); });
    connect(menu, &MainMenu::export_requested, this, [this] {
        if (pages_->currentWidget() == compare_)
            compare_->exports()->ask_all();
        else if (current())
            run_page_->exports()->ask_all();
    });
    connect(menu, &MainMenu::menu_requested, tool_bar_, &ToolBar::show_menu);
    connect(menu, &MainMenu::theme_requested, this, [this](Theme::Mode mode) {
        settings_.theme = mode;
        Theme::instance().set_mode(mode);
    });
    connect(menu, &MainMenu::language_requested, this, [this](Language language) {
        settings_.language = language;
        tell(tr("The language changes at the next start of Espalier."), false);
    });
    connect(menu, &MainMenu::keys_requested, this, [this] { show_keys(*menu_, this); });
    const auto help_with_gpu = [this] { show_gpu_help(engine_words(devices_->devices().reason), this); };
    connect(menu, &MainMenu::gpu_help_requested, this, help_with_gpu);
    connect(gallery_, &PresetGallery::how_requested, this, help_with_gpu);
    connect(menu, &MainMenu::about_requested, this, [this] {
        show_about(machine_->is_connected() ? QStringLiteral("%1 · %2").arg(machine_->build(), machine_->name())
                                            : QString(),
                   this);
    });
}

void MainWindow::arrange() {
    auto* all = new QWidget;
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(tool_bar_);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(rail_);
    auto* centre = new QVBoxLayout;
    centre->setSpacing(0);
    auto* bands = new Bands;
    bands->setContentsMargins(16, 8, 16, 0);
    bands->setSpacing(8);
    bands->addWidget(message_);
    bands->addWidget(undo_);
    centre->addLayout(bands);
    centre->addWidget(pages_, 1);
    middle->addLayout(centre, 1);
    column->addLayout(middle, 1);
    column->addWidget(strip_);
    setCentralWidget(all);
    resize(1280, 720);
    setMinimumSize(960, 600);
}

void MainWindow::connect_machine() {
    connect(machine_, &Machine::connected, this, [this] {
        message_->hide();
        configure_->set_connected(true);
        devices_->ask();
        presets_->set_backend(devices_->backend());
        presets_->load();
    });
    connect(machine_, &Machine::lost, this, [this](const QString& reason, bool again) {
        gallery_->set_machine_line(tr("The engine does not answer"), Role::fault);
        gallery_->set_waiting(tr("The presets stand here once the engine answers."));
        tool_bar_->set_machine(machine_->name(), {});
        configure_->set_connected(false);
        update_controls();
        run_page_->refresh();
        tell_of_machine(again ? tr("%1 Trying again…").arg(reason) : reason, true);
        if (!machine_->is_here() || !again)
            offer_retry(again ? tr("Try now") : tr("Try again"));
    });
    connect(machine_, &Machine::silent, this, [this](const QString& text) {
        silence_ = text;
        tell_of_machine(text, true);
        offer_retry(tr("Try again"));
    });
    connect(machine_, &Machine::heard, this, [this] {
        if (message_->accessibleName() == silence_) // and nothing was said since
            message_->hide();
    });
    connect(machine_, &Machine::passed_over, this, [this](const QString& noise) {
        tell_of_machine(tr("%1 has sent something that is none of its answers, which is passed over: \"%2\"")
                            .arg(machine_->is_here() ? tr("The engine") : machine_->name(), noise),
                        false);
    });
    connect(devices_, &DeviceChoice::changed, this, &MainWindow::show_device);
    connect(devices_, &DeviceChoice::told, this, [this](const QString& text) { tell(text, false); });
    connect(devices_, &DeviceChoice::failed, this, [this](const QString& text) { tell(text, true); });
    connect(presets_, &PresetList::listed, gallery_, &PresetGallery::set_presets);
    connect(presets_, &PresetList::listed, this, [this](const std::vector<PresetEntry>& presets) {
        QHash<QString, QString> titles;
        for (const PresetEntry& preset : presets)
            titles.insert(preset.name, preset.title);
        run_page_->set_preset_titles(titles);
        if (const QString path = std::exchange(options_.open, {}); !path.isEmpty())
            opener_->take(path);
    });
    connect(presets_, &PresetList::checked, gallery_, &PresetGallery::set_facts);
    connect(presets_, &PresetList::failed, this, [this](const QString& text) { tell(text, true); });
}

void MainWindow::connect_runs() {
    connect(store_, &RunStore::runs_changed, this, [this] {
        rail_->set_runs(store_->runs());
        show_notes();
    });
    connect(store_, &RunStore::entry_changed, rail_, &RunRail::set_run);
    connect(store_, &RunStore::entry_changed, this, &MainWindow::show_notes);
    connect(store_, &RunStore::queued, this, [this](const QString&, const QString& name) {
        configure_->set_starting(false);
        tell(tr("%1 is in the queue. It begins when the runs before it have ended.").arg(name), false);
    });
    connect(store_, &RunStore::removed, this, [this](const QString& path) {
        if (current() && current()->path() == path)
            show_gallery();
        else if (pages_->currentWidget() == compare_)
            leave_out(path);
    });
    connect(store_, &RunStore::written, this, [this] {
        if (std::exchange(closing_, false))
            close();
    });
    connect(store_, &RunStore::started, this, &MainWindow::show_run);
    connect(store_, &RunStore::start_refused, configure_, &ConfigurePage::set_error);
    connect(store_, &RunStore::failed, this, [this](const QString& text) { tell(engine_words(text), true); });
    connect(store_, &RunStore::reading, this, [this](const QString& path, double share) {
        if (run_page_->run() && run_page_->run()->path() == path)
            run_page_->set_reading(share);
    });
    connect(store_, &RunStore::overview_came, this, [this](const QString& path) {
        if (run_page_->run() && run_page_->run()->path() == path)
            run_page_->show_overview(*store_->overview(path));
    });
    connect(store_, &RunStore::loaded, this, [this](const QString& path) {
        if (current() && current()->path() == path) {
            run_page_->set_loading(false);
            update_controls();
        }
    });
    connect(store_, &RunStore::state_changed, this, &MainWindow::update_controls);
    connect(store_, &RunStore::ended, notifications_, &Notifications::run_ended);
}

} // namespace espalier
