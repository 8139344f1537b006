// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_empty.h"

#include "empty_page.h"

#include <QLabel>
#include <QPushButton>

namespace espalier {

RunEmpty::RunEmpty(QWidget* parent) : QWidget(parent), words_(new QLabel), resume_(new QPushButton) {
    words_->setObjectName(QStringLiteral("emptyWords"));
    resume_->setObjectName(QStringLiteral("emptyResume"));
    resume_->setProperty("kind", "primary");
    lay_out_empty(*this, *words_, {resume_});
    connect(resume_, &QPushButton::clicked, this, [this] { emit action_requested(QStringLiteral("resume")); });
}

void RunEmpty::set(const QString& words, const QString& button) {
    words_->setText(words);
    resume_->setText(button);
    resume_->setVisible(!button.isEmpty());
}

void RunEmpty::show_unbuilt(const RunModel* run, const QString& meanwhile) {
    if (run && run->state() == RunState::queued)
        set(tr("The run waits in the queue: its network is built when it begins."), tr("Begin now"));
    else if (run && !is_active(run->state()))
        set(tr("The run ended before its network was built. Resume it, and it begins anew."), tr("Resume"));
    else
        set(meanwhile, {});
}

void RunEmpty::show_resumable(const RunModel& run, const QString& words) {
    set(words, is_active(run.state()) || run.state() == RunState::finished ? QString() : tr("Resume"));
}

} // namespace espalier
