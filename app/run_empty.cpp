// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_empty.h"

#include "empty_page.h"

#include <QLabel>
#include <QPushButton>

namespace espalier {

RunEmpty::RunEmpty(QWidget* parent) : QWidget(parent), words_(new QLabel), button_(new QPushButton) {
    words_->setObjectName(QStringLiteral("emptyWords"));
    button_->setObjectName(QStringLiteral("emptyResume"));
    button_->setProperty("kind", "primary");
    lay_out_empty(*this, *words_, {button_});
    connect(button_, &QPushButton::clicked, this,
            [this] { emit action_requested(button_->property("command").toString()); });
}

void RunEmpty::set(const QString& words, const WayOn& way) {
    words_->setText(words);
    button_->setText(way.title);
    button_->setProperty("command", way.action);
    button_->setVisible(!way.title.isEmpty());
}

void RunEmpty::show_unbuilt(const RunModel* run, const QString& meanwhile) {
    if (run && run->state() == RunState::queued)
        set(tr("The run waits in the queue: its network is built when it begins."), way_on(*run));
    else if (run && !is_active(run->state()))
        set(tr("The run ended before its network was built."), way_on(*run));
    else
        set(meanwhile, {tr("Show the log"), QStringLiteral("log")});
}

void RunEmpty::show_resumable(const RunModel& run, const QString& words) {
    set(words, is_active(run.state()) || run.state() == RunState::finished ? WayOn() : way_on(run));
}

} // namespace espalier
