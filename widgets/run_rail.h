// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_entry.h"

#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;

namespace espalier {

class QueueList;

/// The runs of a machine at the left of the window: newest first, a dot for the state, a search by name, tag, preset,
/// state and notes; below them those that wait in the queue.
class RunRail : public QWidget {
    Q_OBJECT

public:
    explicit RunRail(QWidget* parent = nullptr);
    /// Replaces the list; the chosen run stays chosen.
    void set_runs(const std::vector<RunEntry>& runs);
    /// Changes one entry, or puts a new one on top; not for those that wait, whose places change together.
    void set_run(const RunEntry& run);
    void set_current(const QString& id); ///< empty: none
    [[nodiscard]] QString current() const;
    void set_selected(const QStringList& ids);
    [[nodiscard]] QStringList selected() const;
    [[nodiscard]] int count() const;
    [[nodiscard]] bool list_has_focus() const; ///< or the name that is edited in it
    void focus_search();
    void rename(const QString& id); ///< begins to edit its name in place
    [[nodiscard]] QueueList* queue() const { return queue_; }

signals:
    void new_run_requested();
    void run_chosen(const QString& id);
    void compare_chosen(const QStringList& ids); ///< several, in the list's order: Ctrl or Shift and a click
    void menu_requested(const QString& id, const QPoint& global);
    void rename_requested(const QString& id, const QString& name);
    void delete_requested(const QString& id);
    void queue_order_wanted(const QStringList& ids);
    void queue_remove_requested(const QString& id);

protected:
    /// Space alone is the window's: it pauses and resumes.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();

    QPushButton* new_run_;
    QLineEdit* search_;
    QListWidget* list_;
    QueueList* queue_;
    QString shown_; ///< as set_current() said: it may move from the queue to the list and back
    QLabel* empty_;
};

} // namespace espalier
