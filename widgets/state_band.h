// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace espalier {

/// A coloured band above a run that is not simply running: what happened in one sentence, what that means, and what can
/// be done, beside it or, where the sentence is long, below it.
class StateBand : public QFrame {
    Q_OBJECT

public:
    enum class Tone { info, attention, fault };

    explicit StateBand(QWidget* parent = nullptr);
    void set_message(Tone tone, const QString& title, const QString& detail = {});
    void set_detail(const QString& detail); ///< alone
    /// Takes all buttons away.
    void clear_actions();
    QPushButton* add_action(const QString& text, const QString& icon, bool primary);

protected:
    bool event(QEvent* event) override;

private:
    void arrange();

    QHBoxLayout* row_; ///< words and actions; a column where the sentence is long
    QLabel* title_;
    QLabel* detail_;
    QHBoxLayout* actions_;
};

} // namespace espalier
