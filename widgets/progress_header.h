// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "run_state.h"

#include <QWidget>

class QHBoxLayout;

namespace espalier {

/// Top line of a run: its name, what it trains, its state, how far it is and how long it will take.
class ProgressHeader : public QWidget {
    Q_OBJECT

public:
    explicit ProgressHeader(QWidget* parent = nullptr);
    void set_name(const QString& name, const QString& kind);
    void set_state(RunState state, const QString& word = {}); ///< `word` replaces the state's title
    /// `share` 0 to 1, negative: no bar. `left` stands behind the bar.
    void set_progress(const QString& where, double share, const QString& left);
    void add_action(QWidget* control); ///< at the right end
    [[nodiscard]] QString text() const;
    [[nodiscard]] QSize sizeHint() const override { return {600, 32}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    void describe();
    [[nodiscard]] int width_behind_names() const;

    QString name_, kind_, word_, where_, left_;
    RunState state_ = RunState::preparing;
    double share_ = -1;
    int where_width_ = 0, left_width_ = 0; ///< only grow, so that the bar stays as it is
    QHBoxLayout* actions_;
};

} // namespace espalier
