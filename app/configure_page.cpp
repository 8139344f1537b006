// SPDX-License-Identifier: GPL-3.0-or-later
#include "configure_page.h"

#include "data_panel.h"
#include "fit_bar.h"
#include "json_convert.h"
#include "refusal.h"
#include "run_fields.h"
#include "scan_findings.h"
#include "toggle_words.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHideEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <tuple>
#include <utility>

namespace espalier {

namespace {

constexpr int form_width = 430, least_form_width = 376, least_data_width = 340;
constexpr int typing_ms = 150; ///< the fit is asked for after so long without a key

} // namespace

ConfigurePage::ConfigurePage(QWidget* parent)
    : QWidget(parent), title_(new QLabel), form_(new RunForm), data_(new DataPanel), fit_(new FitBar),
      start_(new QPushButton(tr("Start"))), queue_(new QPushButton(tr("Add to queue"))), problem_(new QLabel),
      pause_(new QTimer(this)) {
    title_->setProperty("textSize", "title");
    auto* back = new QPushButton(tr("All presets"));
    back->setProperty("kind", "quiet");
    auto* copy = new QPushButton(tr("Copy as command"));
    copy->setProperty("kind", "quiet");
    copy->setObjectName(QStringLiteral("copyCommand"));
    auto* choose = new QPushButton(tr("Choose a folder…"));
    choose->setProperty("kind", "quiet");
    choose->setObjectName(QStringLiteral("chooseFolder"));
    choose->setToolTip(tr("Your own images: a folder with a folder for each class; or CIFAR, IDX, a table of files"));
    auto* top = new QHBoxLayout;
    top->setSpacing(8);
    top->addWidget(title_, 1);
    top->addWidget(choose);
    top->addWidget(back);
    top->addWidget(copy);

    auto* form_card = new QFrame;
    form_card->setProperty("card", true);
    form_card->setFixedWidth(form_width);
    form_card_ = form_card;
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* padding = new QWidget;
    padding->setProperty("clear", true);
    auto* padding_column = new QVBoxLayout(padding);
    padding_column->setContentsMargins(14, 14, 10, 14); // 16 with the borders
    padding_column->addWidget(form_);
    scroll->setWidget(padding);
    auto* form_column = new QVBoxLayout(form_card);
    form_column->setContentsMargins(1, 1, 1, 1);
    form_column->addWidget(scroll);

    auto* fit_card = new QFrame;
    fit_card->setProperty("card", true);
    start_->setObjectName(QStringLiteral("start"));
    start_->setProperty("kind", "primary");
    start_->setFixedHeight(36);
    queue_->setObjectName(QStringLiteral("addToQueue"));
    queue_->setProperty("kind", "link");
    const auto paint = [this] {
        start_->setIcon(Theme::instance().button_icon(QStringLiteral("play"), Role::on_accent));
    };
    paint();
    connect(&Theme::instance(), &Theme::changed, this, paint);
    problem_->setObjectName(QStringLiteral("startProblem"));
    problem_->setProperty("tone", "fault");
    problem_->setProperty("textSize", "small");
    problem_->setWordWrap(true);
    problem_->setTextFormat(Qt::PlainText);
    problem_->hide();
    auto* fit_words = new QVBoxLayout;
    fit_words->setSpacing(4);
    fit_words->addWidget(fit_);
    fit_words->addWidget(problem_);
    auto* fit_row = new QHBoxLayout(fit_card);
    fit_row->setContentsMargins(16, 12, 16, 12);
    fit_row->setSpacing(16);
    fit_row->addLayout(fit_words, 1);
    auto* buttons = new QVBoxLayout;
    buttons->setSpacing(4);
    buttons->addWidget(start_);
    buttons->addWidget(queue_, 0, Qt::AlignHCenter);
    fit_row->addLayout(buttons);

    auto* right = new QVBoxLayout;
    right->setSpacing(8);
    right->addWidget(data_, 1);
    right->addWidget(fit_card);
    auto* halves = new QHBoxLayout;
    halves->setSpacing(8);
    halves->addWidget(form_card);
    halves->addLayout(right, 1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 10, 16, 12);
    column->setSpacing(8);
    column->addLayout(top);
    column->addLayout(halves, 1);

    pause_->setSingleShot(true);
    pause_->setInterval(typing_ms);
    connect(pause_, &QTimer::timeout, this, &ConfigurePage::edited);
    connect(form_, &RunForm::changed, this, [this] {
        plan_error_.clear();
        refusal_.clear();
        show_device_limits();
        update_start();
        pause_->start();
    });
    connect(start_, &QPushButton::clicked, this, [this] { emit start_requested(config()); });
    connect(queue_, &QPushButton::clicked, this, [this] { emit queue_requested(config()); });
    connect(choose, &QPushButton::clicked, this, &ConfigurePage::choose_folder);
    connect(back, &QPushButton::clicked, this, &ConfigurePage::back_requested);
    connect(copy, &QPushButton::clicked, this, &ConfigurePage::copy_command_requested);
}

void ConfigurePage::set_preset(const QString& name, const QString& title, const Json& config, bool safe_mode) {
    preset_ = name;
    beside_ = Json::object();
    title_->setText(tr("New run: %1").arg(title));
    QMap<QString, QVariant> values = field_defaults();
    for (const FormField& field : run_fields())
        if (const Json value = at_path(config, field.path); !value.is_null())
            values[field.path] = to_variant(value);
    form_->set_fields(run_fields(), values);
    apply_device();
    form_->set_value(QStringLiteral("backend"), backend_);
    if (safe_mode)
        form_->set_value(QStringLiteral("toggles.safe_mode"), true);
    scanned_.clear();
    scan_ = nullptr;
    plan_error_.clear();
    refusal_.clear();
    starting_ = false;
    fit_->set_parts({}, 0);
    fit_->set_words(tr("Working out what it needs…"), {});
    update_start();
    edited();
}

void ConfigurePage::set_changes(const Json& changes, const QString& title) {
    title_->setText(title);
    beside_ = changes;
    const auto fields = form_->values();
    for (auto field = fields.begin(); field != fields.end(); ++field)
        if (const Json value = at_path(changes, field.key()); !value.is_null()) {
            form_->set_value(field.key(), to_variant(value));
            remove_at_path(beside_, field.key());
        }
    edited();
}

Json ConfigurePage::config() const {
    Json config = beside_;
    if (!preset_.isEmpty())
        config["preset"] = preset_.toStdString();
    const auto changes = form_->changes();
    for (auto it = changes.begin(); it != changes.end(); ++it)
        put_at_path(config, it.key(), to_json(it.value()));
    return config;
}

void ConfigurePage::edited() {
    if (form_->has_error())
        return;
    const QString data_set = form_->values().value(QStringLiteral("data")).toString();
    if (data_set != scanned_) {
        scanned_ = data_set;
        scan_ = nullptr;
        last_batch_.clear();
        data_->set_message(tr("Looking at the data…"), Role::secondary); // no longer what was there of another one
        emit scan_wanted(data_set);
    } else if (!scan_.is_null()) {
        show_findings();
    }
    emit plan_wanted(config());
}

/// In a narrow window the form gives way to what stands beside it.
void ConfigurePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const QMargins margins = layout()->contentsMargins();
    const int room = width() - margins.left() - margins.right() - 8 - least_data_width;
    form_card_->setFixedWidth(std::clamp(room, least_form_width, form_width));
}

void ConfigurePage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (event->spontaneous()) // the window is minimized
        return;
    pause_->stop();
    emit left();
}

/// What was missing may have come meanwhile: a folder, a disk, free memory.
bool ConfigurePage::event(QEvent* event) {
    if (event->type() == QEvent::WindowActivate && isVisible() && !(plan_error_.isEmpty() && data_refusal().isEmpty())) {
        scanned_.clear();
        pause_->start();
    }
    return QWidget::event(event);
}

bool ConfigurePage::is_refusal(ExitCode code) {
    return code == ExitCode::bad_configuration || code == ExitCode::bad_data || code == ExitCode::out_of_memory;
}

void ConfigurePage::update_start() {
    const bool may_come = plan_code_ == ExitCode::bad_data; // until the turn of a run that waits
    const QString of_both = form_->has_error() ? form_->error() : lost_;
    const QString of_plan = of_both.isEmpty() && is_refusal(plan_code_) ? plan_error_ : of_both;
    const QString of_queue = may_come ? of_both : of_plan;
    const QString of_start = of_plan.isEmpty() ? data_refusal() : of_plan;
    const QString hint = refusal_.isEmpty() ? plan_error_ : refusal_;
    const QString said = of_start.isEmpty() ? hint : of_start;
    problem_->setText(said);
    problem_->setVisible(!said.isEmpty());
    const QString starting = starting_ ? tr("The engine looks at what was asked for.") : QString();
    start_->setText(starting_ ? tr("Starting…") : tr("Start"));
    for (const auto& [button, reason, help] :
         {std::tuple{start_, of_start, hint},
          {queue_, of_queue, tr("It begins when no other run of this machine's list trains or waits before it")}}) {
        const QString why_not = reason.isEmpty() ? starting : reason;
        if (!why_not.isEmpty() && button->hasFocus())
            setFocus(); // or a field would get it, and what is typed next
        set_refusal(button, why_not, help);
    }
}

/// What the scan of the data has found against a start now; files may be mended until the turn of a run that waits.
QString ConfigurePage::data_refusal() const {
    const auto values = form_->values();
    return values.value(QStringLiteral("data")).toString() == scanned_
               ? scan_refusal(scan_, values.value(QStringLiteral("max_bad_share")).toDouble())
               : QString();
}

void ConfigurePage::set_starting(bool starting) {
    starting_ = starting;
    update_start();
}

void ConfigurePage::set_connected(bool connected) {
    lost_ = connected ? QString() : tr("There is no connection to the engine.");
    update_start();
    if (connected && isVisible())
        pause_->start();
}

void ConfigurePage::set_error(const QString& text) {
    refusal_ = text;
    set_starting(false);
}

void ConfigurePage::set_device(const DeviceSummary& device, const QString& backend) {
    device_ = device;
    apply_device();
    const QString offered = device.has(backend) ? backend : QStringLiteral("auto");
    if (std::exchange(backend_, offered) != offered) // else the form's own choice stays
        form_->set_value(QStringLiteral("backend"), offered);
}

void ConfigurePage::set_data(const QString& spec) {
    form_->set_value(QStringLiteral("data"), spec);
    edited();
}

void ConfigurePage::choose_folder() {
    auto* dialog = new QFileDialog(window(), tr("A folder of images"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("dataFolder"));
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly, false); // one knows it by its files
    const QString now = form_->values().value(QStringLiteral("data")).toString().section(QLatin1Char(':'), 1);
    if (QFileInfo(now).isDir())
        dialog->setDirectory(now);
    connect(dialog, &QFileDialog::fileSelected, this, &ConfigurePage::data_folder_chosen);
    dialog->open();
}

void ConfigurePage::apply_device() {
    std::vector<std::pair<QString, QString>> choices{{QStringLiteral("auto"), tr("Automatic")}};
    for (const DeviceSummary::Choice& choice : device_.choices)
        choices.emplace_back(choice.value, choice.name);
    form_->set_choices(QStringLiteral("backend"), choices);
    show_device_limits();
}

/// What the device that is chosen in the form cannot do.
void ConfigurePage::show_device_limits() {
    const DeviceSummary device = device_.chosen(form_->values().value(QStringLiteral("backend")).toString());
    for (const Toggle& toggle : toggles())
        form_->set_refusal(QStringLiteral("toggles.") + toggle.name, toggle_refusal(toggle.name, device));
    for (const char* precision : {"fp16", "bf16", "tf32", "fp32"})
        form_->set_choice_refusal(QStringLiteral("toggles.precision"), QLatin1String(precision),
                                  precision_refusal(QLatin1String(precision), device));
}

} // namespace espalier
