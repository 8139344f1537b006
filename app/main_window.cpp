// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "close_guard.h"
#include "compare_page.h"
#include "configure_page.h"
#include "configure_requests.h"
#include "delete_undo.h"
#include "device_choice.h"
#include "drop_opener.h"
#include "icon.h"
#include "machine_menu.h"
#include "main_menu.h"
#include "notes_panel.h"
#include "notifications.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "preset_list.h"
#include "results_requests.h"
#include "results_view.h"
#include "run_actions.h"
#include "run_menu.h"
#include "run_page.h"
#include "state_band.h"
#include "status_facts.h"
#include "tool_bar.h"

#include <QCloseEvent>
#include <QDateTime>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QPushButton>
#include <QScreen>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int tick_ms = 50;
constexpr int take_ms = 20; ///< of a tick for what came in; the rest is for drawing and clicks

} // namespace

MainWindow::MainWindow(Options options, QWidget* parent) : QMainWindow(parent), options_(std::move(options)) {
    QString problem;
    if (!options_.settings_file.isEmpty())
        settings_ = Settings::load(options_.settings_file, &problem);
    Theme::install(settings_.theme);
    setWindowIcon(tinted_icon(QStringLiteral("espalier"), Theme::instance().color(Role::good),
                              Theme::instance().color(Role::hint)));
    machine_ = new Machine({options_.engine, options_.engine_arguments}, this);
    store_ = new RunStore(machine_, this);
    devices_ = new DeviceChoice(machine_, &settings_, this);
    presets_ = new PresetList(machine_, this);
    actions_ = new RunActions(store_, this);
    guard_ = new CloseGuard(store_, this);
    notifications_ = new Notifications(this);
    build_pages();
    build_tool_bar();
    build_menu();
    arrange();
    if (!settings_.geometry.isEmpty())
        problem = restore_place();
    connect_machine();
    connect_runs();
    timer_.setObjectName(QStringLiteral("tick"));
    timer_.setInterval(tick_ms);
    connect(&timer_, &QTimer::timeout, this, &MainWindow::tick);
    show_gallery();
    if (!problem.isEmpty())
        tell(problem, false);
}

MainWindow::~MainWindow() = default;

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
    connect(run_page_->notes(), &NotesPanel::edited, store_, &RunStore::annotate);
    connect(run_page_, &RunPage::action_requested, this, &MainWindow::act);
    connect(run_page_->exports(), &PlotExports::told, this, &MainWindow::tell);
    connect(actions_, &RunActions::told, this, [this](const QString& text) { tell(text, false); });
    connect(actions_, &RunActions::failed, this, [this](const QString& text) { tell(text, true); });
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
    auto* menu = new MainMenu(settings_.language, this);
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
    auto* band_margin = new QVBoxLayout;
    band_margin->setContentsMargins(16, 0, 16, 0);
    band_margin->setSpacing(8);
    band_margin->addWidget(message_);
    band_margin->addWidget(undo_);
    centre->addLayout(band_margin);
    centre->addWidget(pages_, 1);
    middle->addLayout(centre, 1);
    column->addLayout(middle, 1);
    column->addWidget(strip_);
    setCentralWidget(all);
    resize(1280, 720);
    setMinimumSize(960, 600);
}

/// Returns what is wrong with the place that was saved; empty if nothing is.
QString MainWindow::restore_place() {
    if (!restoreGeometry(settings_.geometry) && !Settings::is_place(settings_.geometry))
        return settings_.forget_place(options_.settings_file);
    if (!isMaximized() && !isFullScreen()) // today's screen may be smaller
        resize(size().boundedTo(screen()->availableSize()).expandedTo(minimumSize()));
    return {};
}

void MainWindow::connect_machine() {
    connect(machine_, &Machine::connected, this, [this] {
        message_->hide();
        devices_->ask();
        presets_->set_backend(devices_->backend());
        presets_->load();
    });
    connect(machine_, &Machine::lost, this, [this](const QString& reason, bool again) {
        gallery_->set_machine_line(tr("The engine does not answer"), Role::fault);
        tool_bar_->set_machine(machine_->name(), {});
        tell(again ? tr("%1 Trying again…").arg(reason) : reason, true);
        if (!machine_->is_here())
            offer_retry(again ? tr("Try now") : tr("Try again"));
    });
    connect(machine_, &Machine::silent, this, [this](const QString& text) {
        silence_ = text;
        tell(text, true);
        offer_retry(tr("Try again"));
    });
    connect(machine_, &Machine::heard, this, [this] {
        if (message_->accessibleName() == silence_) // and nothing was said since
            message_->hide();
    });
    connect(machine_, &Machine::passed_over, this, [this](const QString& noise) {
        tell(tr("%1 has sent something that is none of its answers, which is passed over: \"%2\"")
                 .arg(machine_->is_here() ? tr("The engine") : machine_->name(), noise),
             false);
    });
    connect(devices_, &DeviceChoice::changed, this, &MainWindow::show_device);
    connect(devices_, &DeviceChoice::told, this, [this](const QString& text) { tell(text, false); });
    connect(devices_, &DeviceChoice::failed, this, [this](const QString& text) { tell(text, true); });
    connect(presets_, &PresetList::listed, gallery_, &PresetGallery::set_presets);
    connect(presets_, &PresetList::listed, this, [this] {
        if (const QString path = std::exchange(options_.open, {}); !path.isEmpty())
            opener_->take(path);
    });
    connect(presets_, &PresetList::checked, gallery_, &PresetGallery::set_facts);
    connect(presets_, &PresetList::failed, this, [this](const QString& text) { tell(text, true); });
}

void MainWindow::offer_retry(const QString& title) {
    auto* retry = message_->add_action(title, {}, true);
    retry->setObjectName(QStringLiteral("retryMachine"));
    connect(retry, &QPushButton::clicked, machine_, &Machine::start);
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
    connect(store_, &RunStore::failed, this, [this](const QString& text) { tell(text, true); });
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
    connect(store_, &RunStore::state_changed, this, [this](const QString& path, RunState, RunState now) {
        update_controls();
        if (!is_active(now))
            notifications_->run_ended(*store_->adopt(path));
    });
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (timer_.isActive())
        return;
    timer_.start();
    const auto last = std::ranges::find(settings_.machines, settings_.machine, &MachineSpec::id);
    if (options_.connect && options_.open.isEmpty() && last != settings_.machines.end()) // what is opened is here
        QTimer::singleShot(0, this, [this, spec = *last] { use_machine(spec); });
    else if (options_.connect)
        QMetaObject::invokeMethod(machine_, &Machine::start, Qt::QueuedConnection); // the window is painted first
}

void MainWindow::tick() {
    machine_->take(take_ms);
    if (replay_) {
        RunModel* model = store_->adopt(replay_path_);
        for (const RunEvent& event : replay_->take())
            model->apply(event);
    }
    store_->update_entries();
    if (pages_->currentWidget() == run_page_) {
        run_page_->refresh();
        update_controls();
    } else if (pages_->currentWidget() == compare_) {
        compare_->refresh();
    }
    update_strip();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && !event->isAutoRepeat())
        tool_bar_->press_pause();
    else
        QMainWindow::keyPressEvent(event);
}

RunModel* MainWindow::current() const { return pages_->currentWidget() == run_page_ ? run_page_->run() : nullptr; }

void MainWindow::play(std::unique_ptr<Replay> replay, const QString& name) {
    replay_ = std::move(replay);
    replay_path_ = name;
    RunModel* model = store_->adopt(name);
    model->reset();
    model->set_name(QFileInfo(name).fileName(), tr("Replay"));
    run_page_->show_run(model);
    show_page(run_page_);
    gallery_->set_machine_line(tr("Replay: no engine"), Role::secondary);
}

void MainWindow::use_machine(const MachineSpec& spec) {
    run_page_->notes()->flush();
    show_gallery();
    machine_->use(spec);
    store_->change_machine(spec.id());
    run_page_->set_folder_reason(actions_->why_no_folder());
    settings_.machine = spec.is_here() ? QString() : spec.id();
    devices_->forget();
    presets_->forget_facts();
    gallery_->set_machine_line(tr("Connecting to %1…").arg(machine_->name()), Role::secondary);
    message_->hide(); // it spoke of the machine of before
}

void MainWindow::show_page(QWidget* page) {
    pages_->setCurrentWidget(page);
    const bool from_list = rail_->list_has_focus() && (page == run_page_ || page == compare_);
    if (!from_list)         // whose keys go on to the next run
        page->setFocus();   // no control is marked before a key asks for one
    if (page == compare_) { // its runs stay selected
        update_controls();
        return;
    }
    compare_->leave();
    rail_->set_current(page == run_page_ ? run_page_->run()->path() : QString());
    update_controls();
}

void MainWindow::show_gallery() { show_page(gallery_); }

void MainWindow::show_run(const QString& path) {
    configure_->set_starting(false);
    RunModel* model = store_->open(path);
    if (run_page_->run() != model)
        run_page_->show_run(model);
    run_page_->set_loading(store_->is_loading(path));
    if (const RunOverview* overview = store_->overview(path))
        run_page_->show_overview(*overview);
    show_notes();
    settings_.last_run = path;
    message_->hide();
    show_page(run_page_);
}

void MainWindow::show_comparison(const QStringList& paths) {
    if (paths.size() < 2) {
        tell(tr("Select two to eight runs in the list at the left, with Ctrl or Shift and a click: their curves and "
                "what "
                "their settings differ in are then shown side by side."),
             false);
        return;
    }
    message_->hide();
    show_page(compare_);
    compare_->compare(paths);
    rail_->set_selected(paths);
    if (paths.size() > ComparePage::most_runs)
        tell(tr("The first %1 of the selected runs are compared: more cannot be told apart.")
                 .arg(ComparePage::most_runs),
             false);
}

/// Of the runs that are compared; one alone is looked at by itself.
void MainWindow::leave_out(const QString& path) {
    QStringList rest = compare_->runs().paths();
    if (rest.removeAll(path) == 0)
        return;
    if (rest.size() >= 2)
        show_comparison(rest);
    else
        show_run(rest.front());
}

void MainWindow::choose_preset(const QString& name) {
    const PresetList::Preset* preset = presets_->find(name);
    if (!preset)
        return;
    configure_->set_preset(name, preset->title, preset->config, settings_.safe_mode);
    show_page(configure_);
}

void MainWindow::show_device() {
    const DeviceSummary& device = devices_->devices();
    const bool usable = !device.device.isEmpty();
    tool_bar_->set_machine(machine_->name(), device.device);
    gallery_->set_machine_line(usable ? QStringLiteral("● ") + device.line : device.line,
                               usable ? Role::good : Role::fault);
    gallery_->setToolTip(device.reason);
    actions_->set_device(device.line);
    presets_->set_backend(devices_->backend());
    configure_->set_device(device, devices_->backend());
}

void MainWindow::update_controls() {
    const RunModel* run = current();
    tool_bar_->set_run(run ? std::optional(store_->state_of(run->path())) : std::nullopt);
    notifications_->set_run(run);
}

void MainWindow::update_strip() {
    const RunModel* run = current();
    if (run && run->plan())
        strip_->set_facts(status_facts(*run, is_active(run->state()) && !replay_,
                                       static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000));
    else
        strip_->set_facts(status_hint(pages_->currentWidget() == configure_
                                          ? tr("● differs from the preset: click to go back")
                                      : run && run->state() == RunState::queued ? tr("waiting in the queue")
                                      : run                                     ? tr("preparing")
                                            : tr("Ctrl+N new run · Ctrl+F search runs · F10 menu")));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (DropOpener::can_take(event->mimeData()))
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    opener_->take(event->mimeData());
}

/// In the form that is open, else in that of a first look at one's own data.
void MainWindow::configure_with(const QString& data_set) {
    if (pages_->currentWidget() != configure_)
        choose_preset(QStringLiteral("train-small"));
    configure_->set_data(data_set);
}

/// By the run that is looked at.
void MainWindow::predict(const QString& image) {
    const RunModel* run = current();
    const QString name = QFileInfo(image).fileName();
    if (!run)
        tell(tr("To have %1 predicted, open a finished run first, and drop it again. A new run takes a folder of "
                "images.")
                 .arg(name),
             false);
    else if (run->checkpoint()) {
        run_page_->show_tab(RunPage::results_tab);
        run_page_->results()->predict(image);
    } else if (store_->is_loading(run->path()))
        tell(tr("This run is still being read. Drop %1 again when all of it is there.").arg(name), false);
    else
        tell(tr("To have %1 predicted, wait for the first checkpoint of this run, or open a finished one.").arg(name),
             false);
}

void MainWindow::show_notes() {
    const RunModel* run = run_page_->run();
    const RunEntry* entry = run ? store_->entry(run->path()) : nullptr;
    run_page_->notes()->setVisible(entry != nullptr);
    if (entry)
        run_page_->notes()->set_notes(entry->id, entry->tags, entry->notes);
}

void MainWindow::act(const QString& action) {
    if (const RunModel* run = current())
        actions_->perform(action, *run);
}

void MainWindow::tell(const QString& text, bool fault) {
    message_->clear_actions();
    message_->set_message(fault ? StateBand::Tone::fault : StateBand::Tone::info, text);
    auto* close = message_->add_action(tr("Close"), {}, false);
    close->setObjectName(QStringLiteral("closeMessage"));
    connect(close, &QPushButton::clicked, message_, &QWidget::hide);
    message_->show();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    run_page_->notes()->flush();
    if (store_->is_writing() && machine_->is_connected() && !std::exchange(closing_, true)) {
        event->ignore(); // it closes by itself when they are written; a second click does not wait
        return;
    }
    if (!replay_ && machine_->is_connected() && !guard_->may_close()) {
        event->ignore();
        return;
    }
    if (!options_.settings_file.isEmpty()) {
        settings_.geometry = saveGeometry();
        if (const QString problem = settings_.save(options_.settings_file); !problem.isEmpty())
            qWarning("%s", qPrintable(problem));
    }
    timer_.stop();
    event->accept();
}

} // namespace espalier
