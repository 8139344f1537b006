// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_state.h"

#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace espalier {

struct RunEntry {
    QString id; ///< its path on the machine
    QString name;
    QString detail; ///< "Running · 12/30"
    RunState state = RunState::interrupted;
};

/// The runs of a machine at the left of the window: newest first, a dot for the state, a search by name.
class RunRail : public QWidget {
    Q_OBJECT

public:
    explicit RunRail(QWidget* parent = nullptr);
    /// Replaces the list; the chosen run stays chosen.
    void set_runs(const std::vector<RunEntry>& runs);
    /// Changes one entry, or puts a new one on top.
    void set_run(const RunEntry& run);
    void set_current(const QString& id); ///< empty: none
    [[nodiscard]] QString current() const;
    void set_selected(const QStringList& ids);
    [[nodiscard]] QStringList selected() const;
    [[nodiscard]] int count() const;
    void focus_search();

signals:
    void new_run_requested();
    void run_chosen(const QString& id);
    void compare_chosen(const QStringList& ids); ///< several, in the list's order: Ctrl or Shift and a click
    void menu_requested(const QString& id, const QPoint& global);

private:
    void filter();

    QPushButton* new_run_;
    QLineEdit* search_;
    QListWidget* list_;
    QLabel* empty_;
};

} // namespace espalier
