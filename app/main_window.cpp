// SPDX-License-Identifier: GPL-3.0-or-later
#include "main_window.h"

#include "close_dialog.h"
#include "configure_page.h"
#include "format.h"
#include "icon.h"
#include "json_convert.h"
#include "plot_group.h"
#include "preset_gallery.h"
#include "report.h"
#include "run_page.h"
#include "state_band.h"
#include "status_strip.h"
#include "toggle_switch.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDateTime>
#include <QDesktopServices>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

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
    setWindowTitle(tr("Espalier"));
    setWindowIcon(tinted_icon(QStringLiteral("espalier"), Theme::instance().color(Role::good),
                              Theme::instance().color(Role::hint)));
    machine_ = new Machine(tr("this PC"), options_.engine, options_.engine_arguments, this);
    store_ = new RunStore(machine_, this);
    build_pages();
    build_tool_bar();
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
    band_margin->addWidget(message_);
    centre->addLayout(band_margin);
    centre->addWidget(pages_, 1);
    middle->addLayout(centre, 1);
    column->addLayout(middle, 1);
    column->addWidget(strip_);
    setCentralWidget(all);
    build_menu();
    connect_machine();
    resize(1280, 720);
    setMinimumSize(960, 600);
    if (!settings_.geometry.isEmpty())
        restoreGeometry(settings_.geometry);
    safe_->setChecked(settings_.safe_mode);
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
    strip_ = new StatusStrip;
    message_ = new StateBand;
    message_->setObjectName(QStringLiteral("message"));
    message_->hide();
    for (QWidget* page :
         {static_cast<QWidget*>(gallery_), static_cast<QWidget*>(configure_), static_cast<QWidget*>(run_page_)})
        pages_->addWidget(page);
    gallery_->set_machine_line(tr("Looking for devices…"), Role::secondary);
    connect(rail_, &RunRail::new_run_requested, this, &MainWindow::show_gallery);
    connect(rail_, &RunRail::run_chosen, this, &MainWindow::show_run);
    connect(gallery_, &PresetGallery::preset_chosen, this, &MainWindow::choose_preset);
    connect(configure_, &ConfigurePage::back_requested, this, &MainWindow::show_gallery);
    connect(configure_, &ConfigurePage::plan_wanted, this, &MainWindow::ask_plan);
    connect(configure_, &ConfigurePage::scan_wanted, this, &MainWindow::ask_scan);
    connect(configure_, &ConfigurePage::copy_command_requested, this, &MainWindow::copy_command);
    connect(configure_, &ConfigurePage::start_requested, this, [this](const Json& config) {
        configure_->set_starting(true);
        store_->start(config, {});
    });
    connect(run_page_, &RunPage::action_requested, this, &MainWindow::act);
    connect(store_, &RunStore::runs_changed, this, [this] { rail_->set_runs(store_->runs()); });
    connect(store_, &RunStore::entry_changed, rail_, &RunRail::set_run);
    connect(store_, &RunStore::started, this, &MainWindow::show_run);
    connect(store_, &RunStore::start_refused, configure_, &ConfigurePage::set_error);
    connect(store_, &RunStore::failed, this, [this](const QString& text) { tell(text, true); });
    connect(store_, &RunStore::loaded, this, [this](const QString& path) {
        if (current() && current()->path() == path) {
            run_page_->set_loading(false);
            update_controls();
        }
    });
    connect(store_, &RunStore::state_changed, this, [this](const QString& path, RunState, RunState now) {
        update_controls();
        if (!is_active(now))
            run_ended(path, now);
    });
}

void MainWindow::build_tool_bar() {
    tool_bar_ = new QWidget;
    tool_bar_->setObjectName(QStringLiteral("toolBar"));
    tool_bar_->setAttribute(Qt::WA_StyledBackground);
    tool_bar_->setFixedHeight(48);
    auto* row = new QHBoxLayout(tool_bar_);
    row->setContentsMargins(16, 0, 12, 1);
    row->setSpacing(8);
    machine_button_ = new QPushButton(machine_->name());
    machine_button_->setAccessibleName(tr("Machine"));
    machine_button_->setObjectName(QStringLiteral("machine"));
    pause_ = new QPushButton(tr("Pause"));
    stop_ = new QPushButton(tr("Stop"));
    checkpoint_ = new QPushButton(tr("Checkpoint"));
    pause_->setObjectName(QStringLiteral("pause"));
    stop_->setObjectName(QStringLiteral("stop"));
    checkpoint_->setObjectName(QStringLiteral("checkpoint"));
    pause_->setToolTip(tr("Pause or resume (Space)"));
    stop_->setToolTip(tr("Write a checkpoint and end the run"));
    checkpoint_->setToolTip(tr("Write a checkpoint now"));
    safe_ = new ToggleSwitch(tr("Safe mode"));
    safe_->setObjectName(QStringLiteral("safeMode"));
    safe_->setToolTip(tr("New and resumed runs take the shortest pipeline: slower, every step checked"));
    menu_button_ = new QToolButton;
    menu_button_->setObjectName(QStringLiteral("menu"));
    menu_button_->setAccessibleName(tr("Menu"));
    menu_button_->setPopupMode(QToolButton::InstantPopup);
    auto* shield = new QLabel;
    const auto paint = [this, shield] {
        const Theme& theme = Theme::instance();
        machine_button_->setIcon(theme.button_icon(QStringLiteral("chip")));
        stop_->setIcon(theme.button_icon(QStringLiteral("stop")));
        checkpoint_->setIcon(theme.button_icon(QStringLiteral("checkpoint")));
        menu_button_->setIcon(theme.icon(QStringLiteral("menu"), Role::secondary));
        shield->setPixmap(
            theme.icon(QStringLiteral("shield"), Role::secondary).pixmap(QSize(16, 16), devicePixelRatioF()));
        update_controls();
    };
    row->addWidget(machine_button_);
    row->addSpacing(16);
    row->addWidget(pause_);
    row->addWidget(stop_);
    row->addWidget(checkpoint_);
    row->addStretch(1);
    row->addWidget(shield);
    row->addWidget(safe_);
    row->addSpacing(4);
    row->addWidget(menu_button_);
    connect(pause_, &QPushButton::clicked, this, [this] {
        act(current() && current()->state() == RunState::paused ? QStringLiteral("resume") : QStringLiteral("pause"));
    });
    connect(stop_, &QPushButton::clicked, this, [this] { act(QStringLiteral("stop")); });
    connect(checkpoint_, &QPushButton::clicked, this, [this] { act(QStringLiteral("checkpoint")); });
    connect(safe_, &ToggleSwitch::toggled, this, [this](bool on) { settings_.safe_mode = on; });
    connect(&Theme::instance(), &Theme::changed, this, paint);
    paint();
}

void MainWindow::build_menu() {
    auto* menu = new QMenu(this);
    menu_button_->setMenu(menu);
    const auto add = [&](QMenu* into, const QString& text, const QKeySequence& keys, auto&& does) {
        auto* action = into->addAction(text);
        action->setShortcut(keys);
        connect(action, &QAction::triggered, this, std::forward<decltype(does)>(does));
        addAction(action); // its key works while the menu is closed
        return action;
    };
    add(menu, tr("New run"), QKeySequence::New, [this] { show_gallery(); });
    add(menu, tr("Search runs"), QKeySequence::Find, [this] { rail_->focus_search(); });
    menu->addSeparator();
    auto* run = menu->addMenu(tr("Run"));
    // no shortcut: it would take the key from buttons that have the focus; keyPressEvent() gets what they leave
    add(run, tr("Pause or resume\tSpace"), {}, [this] { toggle_pause(); });
    add(run, tr("Checkpoint"), QKeySequence(Qt::CTRL | Qt::Key_K),
        [this] { checkpoint_->isEnabled() ? checkpoint_->click() : void(); });
    add(run, tr("Stop"), QKeySequence(Qt::CTRL | Qt::Key_Period),
        [this] { stop_->isEnabled() ? stop_->click() : void(); });
    run->addSeparator();
    add(run, tr("Copy report"), {}, [this] { copy_report(); });
    add(run, tr("Open folder"), {}, [this] { act(QStringLiteral("folder")); });
    auto* view = menu->addMenu(tr("View"));
    const std::array<QString, 3> tabs{tr("Live"), tr("Setup"), tr("Log")};
    for (int i = 0; i < static_cast<int>(tabs.size()); ++i)
        add(view, tabs[static_cast<std::size_t>(i)], QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)),
            [this, i] { run_page_->show_tab(i); });
    view->addSeparator();
    add(view, tr("Follow the newest step"), QKeySequence(Qt::CTRL | Qt::Key_0),
        [this] { run_page_->plots()->follow(); });
    view->addSeparator();
    auto* looks = new QActionGroup(this);
    for (const auto& [mode, name] : {std::pair{Theme::Mode::system, tr("Colours of the system")},
                                     {Theme::Mode::light, tr("Light")},
                                     {Theme::Mode::dark, tr("Dark")}}) {
        auto* action = add(view, name, {}, [this, mode = mode] {
            settings_.theme = mode;
            Theme::instance().set_mode(mode);
        });
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == mode);
        looks->addAction(action);
    }
    view->addSeparator();
    add(view, tr("Full screen"), Qt::Key_F11, [this] { isFullScreen() ? showNormal() : showFullScreen(); });
    menu->addSeparator();
    add(menu, tr("Quit"), QKeySequence::Quit, [this] { close(); });
    add(menu, tr("Menu"), Qt::Key_F10, [this] { menu_button_->showMenu(); })->setVisible(false);
}

void MainWindow::connect_machine() {
    connect(machine_, &Machine::connected, this, [this] {
        message_->hide();
        machine_->request("probe", Json::object(),
                          {[this](const Json& answer) { take_probe(answer); },
                           [this](const QString& text, int) { tell(text, true); },
                           {},
                           {}});
        machine_->request("presets", Json::object(),
                          {[this](const Json& answer) { take_presets(answer); },
                           [this](const QString& text, int) { tell(text, true); },
                           {},
                           {}});
    });
    connect(machine_, &Machine::lost, this, [this](const QString& reason, bool again) {
        gallery_->set_machine_line(tr("The engine does not answer"), Role::fault);
        tell(again ? tr("%1 Trying again…").arg(reason) : reason, true);
    });
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    if (timer_.isActive())
        return;
    timer_.start();
    if (options_.connect)
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
    }
    update_strip();
}

void MainWindow::toggle_pause() {
    if (pause_->isVisible() && pause_->isEnabled())
        pause_->click();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && !event->isAutoRepeat())
        toggle_pause();
    else
        QMainWindow::keyPressEvent(event);
}

RunModel* MainWindow::current() const {
    return pages_ && pages_->currentWidget() == run_page_ ? run_page_->run() : nullptr;
}

void MainWindow::play(std::unique_ptr<Replay> replay, const QString& name) {
    replay_ = std::move(replay);
    replay_path_ = name;
    RunModel* model = store_->adopt(name);
    model->reset();
    model->set_name(QFileInfo(name).fileName(), tr("Replay"));
    run_page_->show_run(model);
    show_page(run_page_);
    gallery_->set_machine_line(tr("Replay: no engine"), Role::secondary);
    update_controls();
}

void MainWindow::show_page(QWidget* page) {
    pages_->setCurrentWidget(page);
    page->setFocus(); // no control is marked before a key asks for one
}

void MainWindow::show_gallery() {
    show_page(gallery_);
    rail_->set_current({});
    update_controls();
}

void MainWindow::show_run(const QString& path) {
    configure_->set_starting(false);
    RunModel* model = store_->open(path);
    if (run_page_->run() != model)
        run_page_->show_run(model);
    run_page_->set_loading(store_->is_loading(path));
    show_page(run_page_);
    rail_->set_current(path);
    settings_.last_run = path;
    message_->hide();
    update_controls();
}

void MainWindow::choose_preset(const QString& name) {
    const auto preset = presets_.find(name);
    if (preset == presets_.end())
        return;
    configure_->set_preset(name, preset->second.title, preset->second.config, settings_.safe_mode);
    show_page(configure_);
    rail_->set_current({});
    update_controls();
}

void MainWindow::take_probe(const Json& answer) {
    QString usable, reason;
    if (const auto devices = answer.find("devices"); devices != answer.end() && devices->is_array())
        for (const Json& device : *devices) {
            if (!device.is_object() || text_at(device, "backend") == u"reference")
                continue;
            if (protocol::flag_at(device, "usable")) {
                if (usable.isEmpty() || text_at(device, "backend") == u"cuda") {
                    const double bytes = protocol::number_at(device, "memory_bytes");
                    usable = text_at(device, "name");
                    device_line_ = tr("%1 ready").arg(shortened(usable)) +
                                   (bytes > 0 ? tr(" · %1 of memory").arg(format_bytes(bytes)) : QString());
                }
            } else if (text_at(device, "backend") == u"cuda") {
                reason = text_at(device, "reason");
            }
        }
    machine_button_->setText(usable.isEmpty() ? machine_->name()
                                              : QStringLiteral("%1 · %2").arg(shortened(usable), machine_->name()));
    machine_button_->setToolTip(usable);
    if (usable.isEmpty())
        gallery_->set_machine_line(tr("No device can train here: %1").arg(reason), Role::fault);
    else
        gallery_->set_machine_line(QStringLiteral("● ") + device_line_, Role::good);
    gallery_->setToolTip(reason);
}

void MainWindow::take_presets(const Json& answer) {
    std::vector<PresetEntry> entries;
    presets_.clear();
    if (const auto list = answer.find("presets"); list != answer.end() && list->is_array())
        for (const Json& item : *list) {
            if (!item.is_object())
                continue;
            PresetEntry entry{text_at(item, "name"),    text_at(item, "title"),
                              text_at(item, "row"),     text_at(item, "size"),
                              text_at(item, "summary"), protocol::flag_at(item, "available", true),
                              text_at(item, "reason")};
            presets_[entry.name] = {entry.title, item.contains("config") ? item["config"] : Json::object()};
            entries.push_back(std::move(entry));
        }
    gallery_->set_presets(entries);
    for (const PresetEntry& entry : entries) {
        if (!entry.available || entry.size == u"demo" || !machine_->can("plan"))
            continue;
        machine_->request("plan", Json{{"config", Json{{"preset", entry.name.toStdString()}}}},
                          {[this, name = entry.name](const Json& plan) {
                               const double seconds = protocol::number_at(plan, "estimated_seconds");
                               const QString parameters =
                                   tr("%1 parameters").arg(format_short(protocol::number_at(plan, "parameters")));
                               const bool fits = protocol::flag_at(plan, "fits", true);
                               const double limit = protocol::number_at(plan, "limit");
                               const QString batch = format_count(protocol::number_at(plan, "largest_batch"));
                               gallery_->set_facts(name,
                                                   seconds > 0
                                                       ? tr("%1 · about %2").arg(parameters, format_about(seconds))
                                                       : parameters,
                                                   !fits       ? tr("fits at batch %1").arg(batch)
                                                   : limit > 0 ? tr("fits %1").arg(format_bytes(limit))
                                                               : tr("fits"),
                                                   fits ? Role::good : Role::attention);
                           },
                           [this, name = entry.name](const QString& text, int) { gallery_->set_facts(name, text, {}, Role::attention); },
                           {},
                           {}});
    }
}

void MainWindow::update_controls() {
    if (!pause_)
        return;
    const RunModel* run = current();
    const bool active = run && is_active(run->state()) && !store_->is_loading(run->path());
    const bool paused = run && run->state() == RunState::paused;
    for (QPushButton* button : {pause_, stop_, checkpoint_})
        button->setVisible(run && is_active(run->state()));
    pause_->setEnabled(active && run->state() != RunState::preparing);
    stop_->setEnabled(active);
    checkpoint_->setEnabled(active && run->state() == RunState::running);
    const QString text = paused ? tr("Resume") : tr("Pause");
    if (pause_->text() != text || pause_->icon().isNull() ||
        pause_->property("dark").toBool() != Theme::instance().is_dark()) {
        pause_->setProperty("dark", Theme::instance().is_dark());
        pause_->setText(text);
        pause_->setIcon(Theme::instance().button_icon(paused ? QStringLiteral("play") : QStringLiteral("pause")));
    }
    const QString progress = run && run->state() == RunState::running && run->last_step() > 0
                                 ? tr("%1 % · %2 · Espalier").arg(100 * run->step() / run->last_step()).arg(run->name())
                             : run ? tr("%1 · Espalier").arg(run->name())
                                   : tr("Espalier");
    if (progress != windowTitle())
        setWindowTitle(progress);
}

void MainWindow::update_strip() {
    std::vector<StatusStrip::Fact> facts;
    const RunModel* run = current();
    if (!run || !run->plan()) {
        facts.push_back({{},
                         pages_->currentWidget() == configure_ ? tr("● differs from the preset: click to go back")
                         : run                                 ? tr("preparing")
                                                               : tr("Ctrl+N new run · Ctrl+F search runs · F10 menu"),
                         Role::text,
                         {},
                         {}});
        strip_->set_facts(std::move(facts));
        return;
    }
    const RunModel::Plan& plan = *run->plan();
    facts.push_back({plan.precision,
                     QStringLiteral(" · %1").arg(plan.device.isEmpty() ? plan.backend : shortened(plan.device)),
                     Role::text,
                     plan.device,
                     {}});
    if (run->images_per_second() > 0)
        facts.push_back({format_count(std::round(run->images_per_second())), tr(" img/s"), Role::text, {}, {}});
    const Json& resources = run->resources();
    if (resources.contains("temperature") && resources.contains("power"))
        facts.push_back({tr("%1 °C").arg(format_count(protocol::number_at(resources, "temperature"))),
                         tr(" · %1 W").arg(format_count(protocol::number_at(resources, "power"))),
                         Role::text,
                         {},
                         {}});
    if (!run->checkpoint()) {
        facts.push_back({{}, tr("no checkpoint yet"), Role::text, {}, {}});
    } else if (is_active(run->state()) && !replay_) {
        const double age = static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000 - run->checkpoint()->time;
        facts.push_back({format_about(std::max(0.0, age)), tr(" ago"), Role::text, run->checkpoint()->file,
                         tr("last checkpoint ")});
    } else {
        facts.push_back({tr("step %1").arg(format_count(static_cast<double>(run->checkpoint()->step))),
                         {},
                         Role::text,
                         run->checkpoint()->file,
                         tr("last checkpoint ")});
    }
    if (run->warnings() > 0)
        facts.push_back({run->warnings() == 1 ? tr("1 warning") : tr("%1 warnings").arg(run->warnings()),
                         {},
                         Role::attention,
                         tr("They stand in the log"),
                         {}});
    else
        facts.push_back({{}, tr("no warnings"), Role::text, {}, {}});
    if (!run->fallbacks().isEmpty())
        facts.push_back(
            {run->fallbacks().size() == 1 ? tr("1 fallback") : tr("%1 fallbacks").arg(run->fallbacks().size()),
             {},
             Role::attention,
             run->fallbacks().join(QLatin1Char('\n')),
             {}});
    strip_->set_facts(std::move(facts));
}

void MainWindow::act(const QString& command) {
    RunModel* run = current();
    if (!run)
        return;
    const QString path = run->path();
    if (command == u"report")
        copy_report();
    else if (command == u"folder")
        QDesktopServices::openUrl(QUrl::fromLocalFile(path));
    else if (command == u"more_epochs")
        more_epochs();
    else if (command == u"resume_safe")
        store_->resume(path, Json{{"toggles", Json{{"safe_mode", true}}}});
    else if (command == u"resume" && !is_active(run->state()))
        store_->resume(path, settings_.safe_mode ? Json{{"toggles", Json{{"safe_mode", true}}}} : Json::object());
    else
        store_->command(path, command);
}

void MainWindow::ask_plan(const Json& config) {
    if (!machine_->can("plan")) {
        configure_->show_no_plan();
        return;
    }
    machine_->cancel(plan_request_);
    plan_request_ = machine_->request("plan", Json{{"config", config}},
                                      {[this](const Json& plan) { configure_->show_plan(plan); },
                                       [this](const QString& text, int code) {
                                           if (code != Machine::cancelled)
                                               configure_->show_plan_error(text);
                                       },
                                       {},
                                       {}});
}

void MainWindow::ask_scan(const QString& data_set) {
    machine_->cancel(scan_request_);
    scan_request_ = machine_->request(
        "scan", Json{{"data", data_set.toStdString()}},
        {[this, data_set](const Json& scan) {
             configure_->show_scan(scan);
             if (!machine_->can("thumbnails"))
                 return;
             machine_->request("thumbnails", Json{{"data", data_set.toStdString()}, {"count", 24}, {"size", 88}},
                               {[this](const Json& answer) { configure_->show_thumbnails(answer); }, {}, {}, {}});
         },
         [this](const QString& text, int code) {
             if (code != Machine::cancelled)
                 configure_->show_scan_error(text);
         },
         {},
         {}});
}

void MainWindow::copy_command() {
    QApplication::clipboard()->setText(command_line(configure_->config()));
    tell(tr("The command line is on the clipboard."), false);
}

void MainWindow::copy_report() {
    if (const RunModel* run = current()) {
        QApplication::clipboard()->setText(report(*run, device_line_));
        tell(tr("The report is on the clipboard."), false);
    }
}

void MainWindow::more_epochs() {
    RunModel* run = current();
    if (!run || !run->plan())
        return;
    bool agreed = false;
    const auto done = static_cast<int>(run->plan()->epochs);
    const int epochs = QInputDialog::getInt(this, tr("More epochs"), tr("Train on until epoch"), done * 2, done + 1,
                                            100000, 1, &agreed);
    if (agreed)
        store_->resume(run->path(), Json{{"epochs", epochs}});
}

void MainWindow::tell(const QString& text, bool fault) {
    message_->clear_actions();
    message_->set_message(fault ? StateBand::Tone::fault : StateBand::Tone::info, text);
    auto* close = message_->add_action(tr("Close"), {}, false);
    connect(close, &QPushButton::clicked, message_, &QWidget::hide);
    message_->show();
}

void MainWindow::run_ended(const QString& path, RunState) {
    if (!isActiveWindow())
        QApplication::alert(this);
    if (stopping_all_ && store_->active().isEmpty())
        close();
    Q_UNUSED(path);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    const QStringList active = replay_ || !machine_->is_connected() ? QStringList() : store_->active();
    if (!active.isEmpty() && !closing_) {
        const CloseChoice choice = ask_before_closing(this, static_cast<int>(active.size()));
        if (choice == CloseChoice::cancel) {
            event->ignore();
            return;
        }
        if (choice == CloseChoice::save_and_stop) {
            stopping_all_ = closing_ = true; // closes when the last run has ended; a second close does not wait
            for (const QString& path : active) {
                store_->open(path);
                store_->command(path, QStringLiteral("stop"));
            }
            tell(tr("Saving and stopping. The window closes by itself."), false);
            event->ignore();
            return;
        }
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
