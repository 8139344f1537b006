// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QWidget>
#include <vector>

namespace espalier {

/// The line at the bottom of the window: short facts side by side. A fact keeps its place while its numbers change.
class StatusStrip : public QWidget {
    Q_OBJECT

public:
    struct Fact {
        QString strong; ///< in the text's colour
        QString faint;  ///< behind it, in the secondary colour
        Role role = Role::text;
        QString help;
        QString before; ///< in the secondary colour, in front

        bool operator==(const Fact&) const = default;
    };
    explicit StatusStrip(QWidget* parent = nullptr);
    void set_facts(std::vector<Fact> facts);
    [[nodiscard]] QString text() const;
    [[nodiscard]] QSize sizeHint() const override { return {400, 28}; }

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] int width_of(const Fact& fact) const;

    std::vector<Fact> facts_;
    std::vector<int> widths_; ///< of each place: they only grow while the number of facts stays
};

} // namespace espalier
