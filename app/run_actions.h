// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_store.h"

#include <functional>
#include <map>

class QWidget;

namespace espalier {

class NetworkExport;

/// What can be done to a run by a button, a key or the menu. The names of the actions are those of the protocol's
/// commands (pause, resume, stop, checkpoint), and resume_safe, resume_undone, resume_from, more_epochs, like (a new
/// run with its settings, to be changed first), export, report, save_report, command_line, folder, and take_back:RUNG.
class RunActions : public QObject {
    Q_OBJECT

public:
    RunActions(RunStore* store, QWidget* window);

    [[nodiscard]] QString why_no_folder() const; ///< that can be opened here; empty: it can
    /// What stands against an action as the run is now (see WhyNot).
    [[nodiscard]] QString why_not(const QString& action, const RunModel& run) const;
    void perform(const QString& action, const RunModel& run);
    void copy_report(const RunModel& run);                   ///< to the clipboard, once all of its past is there
    void save_report(const QString& path);                   ///< asks where to
    void copy_command_of(const QString& path);               ///< its preset, and what differs from it
    void open_folder(const QString& path);                   ///< in the desktop's file manager
    void configure_like(const QString& path);                ///< asks for its settings: new_run_wanted()
    void copy_command(const Json& config);                   ///< the command line that starts it
    void set_safe_mode(bool on) { safe_mode_ = on; }         ///< of runs that are resumed
    void set_device(const QString& line) { device_ = line; } ///< for reports

signals:
    void told(const QString& text); ///< what has been done, for a person
    void failed(const QString& text);
    void new_run_wanted(const QString& name, const Json& config); ///< like the run of that name

private:
    void copy_text(const QString& command);
    void fetch_config(const QString& path, std::function<void(const Json&)> done);
    void resume(const QString& path, bool safe_mode);
    void choose_checkpoint(const QString& path);
    void more_epochs(const RunModel& run);
    /// Goes on as it was before the engine changed that; a run that trains is stopped for it first.
    void take_back(const RunModel& run, const QString& rung);

    RunStore* store_;
    NetworkExport* export_;
    QWidget* window_;
    QString device_;
    bool safe_mode_ = false;
    std::map<QString, Json> waiting_; ///< what runs that are being stopped are resumed with
};

} // namespace espalier
