// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QWidget>
#include <vector>

namespace espalier {

/// Whether a run fits its device: one line of words and a bar of memory by kind, as long as the limit.
class FitBar : public QWidget {
    Q_OBJECT

public:
    struct Part {
        QString name;
        Role role;
        double bytes;
    };
    explicit FitBar(QWidget* parent = nullptr);
    void set_parts(std::vector<Part> parts, double limit);
    void set_help(const QString& text); ///< in front of the parts, where the mouse rests
    /// Of `more` as many are shown as there is room for, the first ones first.
    void set_words(const QString& verdict, const QStringList& more, Role role = Role::text);
    [[nodiscard]] QSize sizeHint() const override { return {320, 38}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {180, 38}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    void describe_parts();

    std::vector<Part> parts_;
    QString help_;
    double limit_ = 0;
    QString verdict_;
    QStringList more_;
    Role role_ = Role::text;
};

} // namespace espalier
