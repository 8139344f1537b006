// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QFrame>

namespace espalier {

/// One number of a run: what it is, its value with the direction it moves in, and a line of context (the best so far,
/// the limit).
class MetricTile : public QFrame {
    Q_OBJECT

public:
    enum class Trend { none, falling_is_good, rising_is_good, falling_is_bad, rising_is_bad };

    explicit MetricTile(const QString& label, QWidget* parent = nullptr);
    void set_label(const QString& label);
    void set_value(const QString& value, Trend trend = Trend::none);
    void set_context(const QString& context, Role role = Role::secondary);

    [[nodiscard]] QString value() const { return value_; }
    [[nodiscard]] QSize sizeHint() const override { return {190, 76}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 76}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void describe();

    QString label_, value_, context_;
    Role context_role_ = Role::secondary;
    Trend trend_ = Trend::none;
};

} // namespace espalier
