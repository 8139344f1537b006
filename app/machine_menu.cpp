// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine_menu.h"

#include "device_choice.h"
#include "engine_words.h"
#include "machine_dialog.h"
#include "theme.h"

#include <QActionGroup>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <QWidgetAction>
#include <algorithm>

namespace espalier {

namespace {

constexpr int icon_side = 16, dot_side = 8;
constexpr int heading_inset = 12, name_inset = 32; ///< as the style sheet's menus: of the text, behind a check mark
constexpr int reason_width = 280;

/// Filled: connected. A ring: not.
QIcon dot(bool connected, qreal ratio) {
    QPixmap picture(QSize(icon_side, icon_side) * ratio);
    picture.setDevicePixelRatio(ratio);
    picture.fill(Qt::transparent);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor color = Theme::instance().color(connected ? Role::good : Role::secondary);
    painter.setPen(QPen(color, 1.5));
    painter.setBrush(connected ? QBrush(color) : QBrush(Qt::NoBrush));
    const qreal edge = (icon_side - dot_side) / 2.0;
    painter.drawEllipse(QRectF(edge, edge, dot_side, dot_side));
    return picture;
}

QString in_menu(QString text) { return text.replace(QLatin1Char('&'), QStringLiteral("&&")); }

} // namespace

MachineMenu::MachineMenu(Machine* machine, DeviceChoice* devices, Settings* settings, QWidget* window)
    : QMenu(window), machine_(machine), devices_(devices), settings_(settings), window_(window) {
    setObjectName(QStringLiteral("machineMenu"));
    connect(this, &QMenu::aboutToShow, this, &MachineMenu::fill);
}

void MachineMenu::fill() {
    clear();
    qDeleteAll(findChildren<QActionGroup*>(Qt::FindDirectChildrenOnly));
    for (QMenu* old : findChildren<QMenu*>(Qt::FindDirectChildrenOnly))
        old->deleteLater();
    if (machine_->is_connected())
        add_devices();
    add_heading(tr("MACHINE"));
    add_choice({});
    for (const MachineSpec& spec : settings_->machines)
        add_choice(spec);
    addSeparator();
    auto* add = addAction(tr("Add a machine…"), this, [this] { ask({MachineSpec::Kind::ssh, {}, {}, {}}, {}); });
    add->setObjectName(QStringLiteral("addMachine"));
    if (settings_->machines.empty())
        return;
    QMenu* edit = addMenu(tr("Edit"));
    edit->setObjectName(QStringLiteral("editMachine"));
    QMenu* remove = addMenu(tr("Remove"));
    remove->setObjectName(QStringLiteral("removeMachine"));
    for (const MachineSpec& spec : settings_->machines) {
        edit->addAction(in_menu(spec.title()), this, [this, spec] { ask(spec, spec.id()); });
        remove->addAction(in_menu(spec.title()), this, [this, spec] { this->remove(spec); });
    }
}

void MachineMenu::add_devices() {
    const DeviceSummary& devices = devices_->devices();
    add_heading(tr("DEVICE OF NEW RUNS"));
    if (devices.choices.empty() && devices.unusable.empty())
        addAction(tr("Looking for devices…"))->setEnabled(false);
    auto* one_of_them = new QActionGroup(this);
    for (const DeviceSummary::Choice& choice : devices.choices) {
        auto* action =
            addAction(in_menu(choice.title), this, [this, value = choice.value] { devices_->choose(value); });
        action->setObjectName(QStringLiteral("device-") + choice.value);
        action->setCheckable(true);
        action->setChecked(choice.value == devices.takes);
        one_of_them->addAction(action);
    }
    for (const DeviceSummary::Unusable& device : devices.unusable)
        add_unusable(device);
    addSeparator();
}

void MachineMenu::add_heading(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("section", true);
    label->setContentsMargins(heading_inset, 4, heading_inset, 4);
    auto* action = new QWidgetAction(this);
    action->setDefaultWidget(label);
    action->setEnabled(false);
    addAction(action);
}

void MachineMenu::add_unusable(const DeviceSummary::Unusable& device) {
    auto* words = new QWidget;
    auto* column = new QVBoxLayout(words);
    column->setContentsMargins(name_inset, 4, heading_inset, 4);
    column->setSpacing(1);
    for (const auto& [text, size] : {std::pair{device.name, ""}, {engine_words(device.reason), "small"}}) {
        auto* label = new QLabel(text);
        label->setTextFormat(Qt::PlainText);
        label->setProperty("tone", "hint");
        label->setProperty("textSize", size);
        label->setWordWrap(true);
        label->setMinimumWidth(reason_width);
        column->addWidget(label);
    }
    auto* action = new QWidgetAction(this);
    action->setText(QStringLiteral("%1: %2").arg(device.name, engine_words(device.reason))); // for screen readers
    action->setObjectName(QStringLiteral("device-") + device.value);
    action->setDefaultWidget(words);
    action->setEnabled(false);
    addAction(action);
}

void MachineMenu::add_choice(const MachineSpec& spec) {
    const bool current = spec.id() == machine_->spec().id();
    const bool connected = current && machine_->is_connected();
    const QString title = spec.is_here() ? tr("This PC") : spec.title();
    auto* action = addAction(dot(connected, devicePixelRatioF()),
                             in_menu(connected ? tr("%1 · connected").arg(title)
                                     : current ? tr("%1 · not connected").arg(title)
                                               : title),
                             this, [this, spec, current] {
                                 if (!current)
                                     emit chosen(spec);
                                 else if (!machine_->is_connected())
                                     machine_->start();
                             });
    action->setObjectName(QStringLiteral("machine-") + spec.id());
    if (!spec.is_here())
        action->setToolTip(spec.host);
}

void MachineMenu::ask(const MachineSpec& spec, const QString& id) {
    auto* dialog = new MachineDialog(spec, machine_->here(), window_);
    connect(dialog, &MachineDialog::chosen, this, [this, id](const MachineSpec& chosen) { keep(chosen, id); });
    dialog->open();
}

void MachineMenu::keep(const MachineSpec& spec, const QString& id) {
    auto& machines = settings_->machines;
    const bool current = !id.isEmpty() && id == machine_->spec().id();
    // What leads to the same place is the same machine.
    auto place = std::ranges::find(machines, id, &MachineSpec::id);
    if (place == machines.end())
        place = std::ranges::find(machines, spec.id(), &MachineSpec::id);
    if (place == machines.end()) {
        machines.push_back(spec);
    } else {
        *place = spec;
        const auto after = std::next(place);
        machines.erase(std::remove_if(after, machines.end(), [&](const auto& m) { return m.id() == spec.id(); }),
                       machines.end());
    }
    if (id.isEmpty() || current || spec.id() == machine_->spec().id())
        emit chosen(spec); // who adds a machine wants to see it
}

void MachineMenu::remove(const MachineSpec& spec) {
    std::erase_if(settings_->machines, [&](const MachineSpec& machine) { return machine.id() == spec.id(); });
    settings_->devices.erase(spec.id());
    if (machine_->spec().id() == spec.id())
        emit chosen({});
    emit told(tr("%1 is no longer in the list. Its runs go on there.").arg(spec.title()));
}

} // namespace espalier
