// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "close_guard.h"
#include "compare_page.h"
#include "config_differences.h"
#include "configure_page.h"
#include "delete_undo.h"
#include "device_choice.h"
#include "drop_opener.h"
#include "engine_words.h"
#include "icon.h"
#include "json_convert.h"
#include "main_menu.h"
#include "notes_panel.h"
#include "notifications.h"
#include "preset_list.h"
#include "results_view.h"
#include "run_actions.h"
#include "run_page.h"
#include "run_title.h"
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

/// Returns what is wrong with the place that was saved; empty if nothing is.
QString MainWindow::restore_place() {
    if (!restoreGeometry(settings_.geometry) && !Settings::is_place(settings_.geometry))
        return settings_.forget_place(options_.settings_file);
    if (!isMaximized() && !isFullScreen()) // today's screen may be smaller
        resize(size().boundedTo(screen()->availableSize()).expandedTo(minimumSize()));
    return {};
}

void MainWindow::offer_retry(const QString& title) {
    auto* retry = message_->add_action(title, {}, true);
    retry->setObjectName(QStringLiteral("retryMachine"));
    connect(retry, &QPushButton::clicked, this, [this] {
        message_->hide(); // one click is one attempt; its end is told anew
        machine_->start();
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
    notifications_->set_run(current(), store_->progress());
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
    leave_message();
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
    leave_message();
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
    const bool usable = !device.device.isEmpty(), instead = usable && !device.reason.isEmpty();
    tool_bar_->set_machine(machine_->name(), device.device);
    gallery_->set_machine_line(instead  ? tr("Training on the processor: %1").arg(engine_words(device.reason))
                               : usable ? QStringLiteral("● ") + device.line
                                        : device.line,
                               instead  ? Role::secondary
                               : usable ? Role::good
                                        : Role::fault,
                               !device.reason.isEmpty());
    actions_->set_device(device.line);
    presets_->set_backend(devices_->backend());
    configure_->set_device(device, devices_->backend());
}

void MainWindow::update_controls() {
    const RunModel* run = current();
    const auto state = run ? std::optional(store_->state_of(run->path())) : std::nullopt;
    const WhyNot why_not =
        run ? [this, run](const QString& action) { return actions_->why_not(action, *run); } : WhyNot();
    tool_bar_->set_run(state, why_not);
    menu_->set_run(why_not);
    notifications_->set_run(run, store_->progress());
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
    leave_message(); // of what was dropped before
    if (pages_->currentWidget() != configure_)
        choose_preset(QStringLiteral("train-small"));
    configure_->set_data(data_set);
}

void MainWindow::configure_like(const QString& run, const Json& config) {
    const QString name = text_at(config, "preset");
    const PresetList::Preset* preset = presets_->find(name);
    const Json base = preset ? preset->config : Json::object();
    configure_->set_preset(preset ? name : QString(), {}, base, settings_.safe_mode);
    configure_->set_changes(changed_settings(base, config), tr("New run like %1").arg(run_title(run).in_one_line()));
    leave_message();
    show_page(configure_);
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
    else if (is_active(run->state()))
        tell(tr("To have %1 predicted, wait for the first checkpoint of this run, or open a finished one.").arg(name),
             false);
    else
        tell(tr("This run has no checkpoint that could predict %1: open a finished one, and drop it again.").arg(name),
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

void MainWindow::tell_of_machine(const QString& text, bool fault) {
    of_machine_ = text;
    tell(text, fault);
}

/// For another page, of which it says nothing. What it says of the connection is as true there.
void MainWindow::leave_message() {
    if (message_->accessibleName() != of_machine_)
        message_->hide();
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
