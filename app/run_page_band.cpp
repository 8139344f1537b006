// SPDX-License-Identifier: GPL-3.0-or-later
// The band of the run page: how the run stands, what the engine has changed, and what can be done about it.
#include "checkpoint_words.h"
#include "engine_words.h"
#include "format.h"
#include "results_view.h"
#include "run_page.h"
#include "state_band.h"
#include "toggle_words.h"
#include "way_on.h"

#include <QDateTime>
#include <QLayout>
#include <QPushButton>

namespace espalier {

/// What is left of a run that does not go on now; its age grows.
QString RunPage::band_detail() const {
    const QString saved = checkpoint_words(*run_, static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000);
    switch (run_->state()) {
    case RunState::paused:
        return (run_->on_gpu() ? tr("GPU memory released. %1") : tr("Its memory is free again. %1")).arg(saved);
    case RunState::failed:
    case RunState::interrupted:
        return run_->checkpoint() ? tr("What it learned is kept. %1").arg(saved) : saved;
    case RunState::stopped:
        return saved;
    default:
        return {};
    }
}

void RunPage::fill_band() {
    if (!run_)
        return;
    changes_seen_ = std::min(changes_seen_, run_->changes().size()); // all events may come again
    if (band_state_ == run_->state() && band_reason_ == run_->reason() &&
        band_changes_ == run_->changes().size() - changes_seen_) {
        if (const QString detail = band_detail(); !detail.isEmpty())
            band_->set_detail(detail);
        return;
    }
    band_state_ = run_->state();
    band_changes_ = run_->changes().size() - changes_seen_;
    band_reason_ = run_->reason();
    band_->clear_actions();
    const auto action = [this](const QString& text, const char* icon, bool primary, const char* command) {
        auto* button = band_->add_action(text, QLatin1String(icon), primary);
        button->setObjectName(QStringLiteral("band-") + QLatin1String(command));
        button->setProperty("command", QLatin1String(command));
        connect(button, &QPushButton::clicked, this,
                [this, command] { emit action_requested(QLatin1String(command)); });
    };
    const QString step = format_count(static_cast<double>(run_->step()));
    const bool resumable = run_->checkpoint().has_value();
    const auto offer_way_on = [&] {
        const WayOn way = way_on(*run_);
        const bool like = way.action == u"like";
        action(way.title, like ? "sliders" : "play", true, like ? "like" : "resume");
        if (like)
            action(tr("Start again"), "repeat", false, "resume");
    };
    const auto offer_undo = [&] {
        if (resumable && !run_->undo().empty())
            action(tr("Resume without the fallbacks"), "revert", false, "resume_undone");
    };
    const auto offer_results = [&] {
        if (!run_->checkpoint())
            return;
        auto* predict = band_->add_action(tr("Predict an image…"), QStringLiteral("search"), false);
        predict->setObjectName(QStringLiteral("band-predict"));
        connect(predict, &QPushButton::clicked, this, [this] {
            show_tab(results_tab);
            results_->choose_image();
        });
        action(tr("Export…"), "export", false, "export");
    };
    switch (run_->state()) {
    case RunState::paused:
        band_->set_message(StateBand::Tone::attention, tr("Paused at step %1").arg(step), band_detail());
        action(tr("Resume"), "play", true, "resume");
        action(tr("Stop"), "stop", false, "stop");
        break;
    case RunState::failed:
    case RunState::interrupted: {
        const QString why = !run_->reason().isEmpty() ? run_->reason() : tr("The run ended without saying why.");
        band_->set_message(StateBand::Tone::fault, why, band_detail());
        offer_way_on();
        action(resumable ? tr("Resume in safe mode") : tr("Start again in safe mode"), "shield", false, "resume_safe");
        offer_undo();
        if (resumable)
            action(tr("Resume from…"), "revert", false, "resume_from");
        action(tr("Copy report"), "copy", false, "report");
        break;
    }
    case RunState::stopped:
        band_->set_message(StateBand::Tone::info, tr("Stopped at step %1").arg(step), band_detail());
        offer_way_on();
        offer_undo();
        offer_results();
        break;
    case RunState::finished:
        band_->set_message(StateBand::Tone::info,
                           run_->best_accuracy() ? tr("Finished: %1 of the validation images are told right.")
                                                       .arg(format_percent(*run_->best_accuracy()))
                                                 : tr("Finished"),
                           tr("The weights, the curves as CSV and the log are in the run's folder."));
        offer_results();
        action(tr("More epochs…"), "repeat", false, "more_epochs");
        break;
    case RunState::queued:
        band_->set_message(StateBand::Tone::info,
                           run_->reason().isEmpty() ? state_title(run_->state()) : run_->reason(),
                           tr("It begins by itself, whether this window is open or not."));
        action(tr("Begin now"), "play", true, "resume");
        action(tr("Take out of the queue"), "close", false, "stop");
        break;
    default:
        if (band_changes_ > 0)
            fill_change(run_->changes().back());
        break;
    }
    const bool over =
        !is_active(run_->state()) || run_->state() == RunState::paused || run_->state() == RunState::queued;
    const bool shown = over || band_changes_ > 0;
    band_->setVisible(shown);
    // a fault is more important than its numbers, and the plots keep their room
    tile_row_->setVisible(!over || run_->state() == RunState::finished);
    layout()->activate();
}

/// Greys out what cannot be done now, such as without a connection.
void RunPage::refuse_actions() {
    if (!why_not_)
        return;
    for (auto* button : band_->findChildren<QPushButton*>())
        if (const QString command = button->property("command").toString(); !command.isEmpty())
            set_refusal(button, why_not_(command));
    for (QPushButton* button : empties_)
        if (const QString command = button->property("command").toString(); !command.isEmpty())
            set_refusal(button, command == u"log" ? QString() : why_not_(command));
    set_refusal(folder_, why_not_(QStringLiteral("folder")));
}

/// The engine has changed something by itself, and the run goes on.
void RunPage::fill_change(const RunModel::Fallback& change) {
    band_->set_message(StateBand::Tone::attention,
                       tr("The engine changed %1: %2 → %3")
                           .arg(toggle_title(change.rung),
                                change.from.isEmpty() ? tr("as asked") : engine_words(change.from),
                                engine_words(change.to)),
                       change.reason);
    const auto action = [this](const QString& text, const char* name, auto&& done) {
        auto* button = band_->add_action(text, {}, false);
        button->setObjectName(QLatin1String(name));
        connect(button, &QPushButton::clicked, this, done);
        return button;
    };
    if (const QString command = QStringLiteral("take_back:") + change.rung; !change.undo.empty())
        action(tr("Take it back"), "band-take_back", [this, command] {
            keep_changes();
            emit action_requested(command);
        })->setProperty("command", command);
    action(tr("Keep it"), "band-keep", [this] { keep_changes(); });
}

void RunPage::keep_changes() {
    changes_seen_ = run_->changes().size();
    QMetaObject::invokeMethod(this, &RunPage::fill_band, Qt::QueuedConnection); // the button goes with the band
}

} // namespace espalier
