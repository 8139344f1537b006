// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_entry.h"

#include <QWidget>
#include <vector>

class QLabel;
class QVBoxLayout;

namespace espalier {

/// The runs that wait for their turn, the next one on top; each can be moved up and down, or taken out. Hidden while
/// there is none.
class QueueList : public QWidget {
    Q_OBJECT

public:
    explicit QueueList(QWidget* parent = nullptr);
    void set_runs(std::vector<RunEntry> runs); ///< in any order
    void set_current(const QString& id);       ///< marks it, if it is there
    /// Puts a run by so many places further up (below 0) or down, as its buttons do.
    void move(const QString& id, int by);

signals:
    void run_chosen(const QString& id);
    void order_wanted(const QStringList& ids); ///< of all of them
    void remove_requested(const QString& id);
    void menu_requested(const QString& id, const QPoint& global);

private:
    void fill();
    QWidget* make_row(std::size_t index);

    QLabel* title_;
    QWidget* content_;
    QVBoxLayout* rows_;
    std::vector<RunEntry> runs_;
    QString current_;
};

} // namespace espalier
