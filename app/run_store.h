// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"
#include "run_end.h"
#include "run_model.h"
#include "run_overview.h"
#include "run_progress.h"
#include "run_rail.h"

#include <QElapsedTimer>
#include <QSet>
#include <map>
#include <memory>

namespace espalier {

/// The runs of a machine: its list, and a model of each one that has been opened.
class RunStore : public QObject {
    Q_OBJECT

public:
    explicit RunStore(Machine* machine, QObject* parent = nullptr);

    [[nodiscard]] Machine* machine() const { return machine_; }
    /// Shows another machine's runs. What was opened of the one of before is kept until it is looked at again.
    void change_machine(const QString& id);
    void reload(); ///< the list; `runs_changed` if it is another one. By itself every few seconds
    [[nodiscard]] const std::vector<RunEntry>& runs() const { return runs_; }
    /// The model of a run. The first time it is attached to: all its events, then the live ones.
    RunModel* open(const QString& path);
    /// The model of a run that is open, all of its past there; null: it is not.
    [[nodiscard]] RunModel* opened(const QString& path) const;
    /// A run of which no machine knows: a replay.
    RunModel* adopt(const QString& path);
    [[nodiscard]] bool is_loading(const QString& path) const; ///< its past is still coming in
    /// What is to be seen of a long run while it is loading; null: nothing yet.
    [[nodiscard]] const RunOverview* overview(const QString& path) const;
    /// Opened or not: while its past is still coming in, what the list says.
    [[nodiscard]] RunState state_of(const QString& path) const;
    /// Whether a worker holds it.
    [[nodiscard]] bool is_active(const QString& path) const;
    [[nodiscard]] QStringList active() const;
    /// Of the newest run that trains, opened or not: in whole epochs then.
    [[nodiscard]] std::optional<RunProgress> progress() const;
    [[nodiscard]] const RunEntry* entry(const QString& path) const; ///< null: the list has none
    /// Whether the machine answers this request.
    [[nodiscard]] bool can(const char* request) const { return machine_ && machine_->can(request); }
    /// At once, or when its turn in the queue comes.
    void start(const Json& config, const QString& name, bool queue = false);
    /// From the newest checkpoint, or from the one of that name.
    void resume(const QString& path, const Json& set, const QString& checkpoint = {}, bool queue = false);
    /// What can be resumed from (docs/PROTOCOL.md), asked of the machine.
    void list_checkpoints(const QString& path, std::function<void(const Json& checkpoints)> done);
    /// `done` is called when the run has taken the command or the machine refused it.
    void command(const QString& path, const QString& command, std::function<void()> done = {});
    void rename(const QString& path, const QString& name);
    void annotate(const QString& path, const QStringList& tags, const QString& notes);
    [[nodiscard]] bool is_writing() const { return writing_ > 0; } ///< a name or notes are on their way
    void order_queue(const QStringList& paths);
    /// Takes it from the list at once, and into the machine's trash: `trashed`. `failed` if it has not ended, or could
    /// not be brought back.
    [[nodiscard]] QString why_not_deleted(const QString& path) const; ///< empty: it can be
    void remove(const QString& path);
    void restore(const QString& trash);
    /// A zip for a report of a fault, and a name for it.
    void report(const QString& path, std::function<void(const QString& name, const QByteArray&)> done);
    /// The command that starts a run of the same configuration.
    void command_line(const QString& path, std::function<void(const QString& text)> done);
    /// The configuration of a run; nothing happens where it cannot be read.
    void read_config(const QString& path, std::function<void(const Json&)> done);
    /// A small file of a run's folder.
    void fetch(const QString& file, std::function<void(const QByteArray&)> done);
    /// Puts what open models know into the list. Called by the window's timer.
    void update_entries();

signals:
    void listed(); ///< the list came, another one or the same
    void runs_changed();
    void entry_changed(const RunEntry& entry);
    void started(const QString& path);
    void queued(const QString& path, const QString& name);
    void removed(const QString& path); ///< from the list
    void trashed(const QString& name, const QString& trash);
    void written(); ///< what is_writing() told of
    void start_refused(const QString& text);
    void reading(const QString& path, double share); ///< the machine prepares the past of a long run: 0 to 1
    void overview_came(const QString& path);
    void loaded(const QString& path);
    void released(const QString& path); ///< no process holds it any more: it can be resumed
    void state_changed(const QString& path, RunState before, RunState now);
    void ended(const RunEnd& run); ///< one that trained or waited, opened here or not
    void failed(const QString& text); ///< a request that a person has to hear about

private:
    void attach(const QString& path);
    void take_progress(const QString& path, const Json& progress);
    void end_loading(const QString& path);
    void reattach_all();
    void look_again();
    void follow(const Json& item, const QSet<QString>& ended);
    void tell_end(const RunModel& run);
    void tell_end(const Json& item, const std::vector<RunEntry>& before);
    void change_entry(const QString& path, const std::function<void(RunEntry&)>& change);
    void write(const char* request, Json arguments, std::function<void()> done);

    struct Notes {
        QStringList tags;
        QString text;
        int number = 0; ///< which change it was: the answer to an older one says nothing of it
    };

    /// What is kept of a machine while another one is looked at.
    struct Parked {
        std::vector<RunEntry> runs;
        std::map<QString, std::unique_ptr<RunModel>> models;
        std::map<QString, bool> loading;
        QSet<QString> hidden;
        std::map<QString, Notes> unwritten;
    };

    Machine* machine_;
    QString machine_id_ = MachineSpec().id();
    std::map<QString, Parked> parked_; ///< by the machine's id
    std::vector<RunEntry> runs_;
    std::map<QString, double> epochs_trained_; ///< by path, of those that train: the share of all, as the list says
    std::map<QString, std::unique_ptr<RunModel>> models_;
    std::map<QString, std::int64_t> attached_; ///< request of each model that is attached
    std::map<QString, bool> loading_;
    std::map<QString, RunOverview> overviews_; ///< of those that are loading
    std::map<QString, Json> ended_;            ///< of open runs that are not attached: how far the list saw them
    QSet<QString> hidden_;                     ///< deleted, while an older list may still name them
    std::map<QString, Notes> unwritten_;       ///< by a person; an older list must not take their place
    int notes_written_ = 0;
    int writing_ = 0;
    bool reloading_ = false;
    QElapsedTimer listed_; ///< since the list came
};

} // namespace espalier
