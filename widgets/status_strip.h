// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QWidget>
#include <cstddef>
#include <optional>
#include <vector>

namespace espalier {

/// The line at the bottom of the window: short facts side by side. A fact keeps its place while its numbers change. Its
/// help is shown where the mouse rests; Tab leads to the first that has some, the arrow keys from one to the next.
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
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] int width_of(const Fact& fact) const;
    [[nodiscard]] QRect place_of(std::size_t index) const;
    /// The next one with help from `index` on, in steps of `by`; nothing: there is none.
    [[nodiscard]] std::optional<std::size_t> with_help(std::ptrdiff_t index, int by) const;
    void go_to(std::optional<std::size_t> index);
    void describe();

    std::vector<Fact> facts_;
    std::vector<int> widths_; ///< of each place: they only grow while the number of facts stays
    std::size_t current_ = 0; ///< whose help is shown while it has the focus
};

} // namespace espalier
