// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <array>

namespace espalier {

/// What a colour is for. The values stand in resources/theme/colors.json under the same names, once for light and once
/// for dark.
enum class Role {
    window,
    panel,
    border,
    inner_border,
    text,
    secondary,
    hint,
    accent,
    accent_tint,
    on_accent,
    good,
    attention,
    fault,
    fault_tint,
    attention_tint,
    series1,
    series2,
    series3,
    series4,
    series5,
    series6,
    series7,
    series8,
    grid,
    selection,
};
inline constexpr int role_count = static_cast<int>(Role::selection) + 1;

/// The three text sizes of the window, in logical pixels: 11, 13 and 15 to 20.
enum class TextSize { small, normal, heading, title, value };

/// The window's looks: the only place that reads resources/theme. Lives as long as the QApplication that it was
/// installed on.
class Theme : public QObject {
    Q_OBJECT

public:
    enum class Mode { system, light, dark };

    /// The theme of the running application; install() has to have been called.
    static Theme& instance();
    /// Sets style, palette, font and style sheet of the application. Once, before the first widget.
    static void install(Mode mode = Mode::system);

    void set_mode(Mode mode);
    [[nodiscard]] Mode mode() const { return mode_; }
    [[nodiscard]] bool is_dark() const { return dark_; }

    [[nodiscard]] QColor color(Role role) const { return colors_[static_cast<std::size_t>(role)]; }
    [[nodiscard]] QFont font(TextSize size, QFont::Weight weight = QFont::Normal) const;
    /// An icon of resources/icons, drawn in the role's colour (a disabled control shows it in the hint colour).
    [[nodiscard]] QIcon icon(const QString& name, Role role = Role::text) const;
    /// The same for a button with text, with a gap before the text.
    [[nodiscard]] QIcon button_icon(const QString& name, Role role = Role::text) const;

signals:
    /// Colours are other ones now: whoever draws by hand draws again.
    void changed();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    friend class ThemeStyle;
    explicit Theme(Mode mode);
    void apply();
    void overlay(QPalette& palette) const;
    void system_lightness(bool dark);
    [[nodiscard]] QString style_sheet() const;

    Mode mode_;
    bool dark_ = false;
    bool system_dark_ = false;
    std::array<QColor, role_count> colors_;
};

} // namespace espalier
