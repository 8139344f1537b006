// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

#include "icon.h"

#include <QApplication>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QPainter>
#include <QPalette>
#include <QPlainTextEdit>
#include <QPointer>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

static void init_resources() {
    Q_INIT_RESOURCE(espalier_looks);
} // a static library's resources need the call, outside of namespaces

namespace espalier {

namespace {

constexpr std::array<const char*, role_count> role_names = {
    "window",         "panel",       "border",    "inner_border", "text",      "secondary", "hint",
    "accent",         "accent_tint", "on_accent", "good",         "attention", "fault",     "fault_tint",
    "attention_tint", "series1",     "series2",   "series3",      "series4",   "series5",   "series6",
    "series7",        "series8",     "grid",      "selection"};

QPointer<Theme> the_theme;

QByteArray read_resource(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("resource %s is not in this program",
               qPrintable(path)); // a broken build: nothing can be shown without it
    return file.readAll();
}

} // namespace

/// Sees the system's palette before it is overlaid with the theme's: Qt asks again whenever the system changes it,
/// which is how "follow the system" works on Qt 6.4, where there is no colour scheme to ask for.
class ThemeStyle : public QProxyStyle {
public:
    explicit ThemeStyle(Theme* theme) : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))), theme_(theme) {}

    using QProxyStyle::polish;
    void polish(QWidget* widget) override {
        QProxyStyle::polish(widget);
        if (theme_ && (qobject_cast<QLineEdit*>(widget) || qobject_cast<QPlainTextEdit*>(widget)))
            widget->installEventFilter(theme_);
    }
    void polish(QPalette& palette) override {
        if (!theme_)
            return;
        theme_->system_lightness(palette.color(QPalette::Window).lightness() < 128);
        theme_->overlay(palette);
    }

    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* data) const override {
        if (hint == SH_ToolTip_WakeUpDelay)
            return 300;
        return QProxyStyle::styleHint(hint, option, widget, data);
    }

    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
        return metric == PM_ButtonIconSize ? 20 : QProxyStyle::pixelMetric(metric, option, widget);
    }

    /// A menu's tick: Fusion's is of whole pixels, and coarse on a screen of twice as many.
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override {
        if (element != PE_IndicatorMenuCheckMark || !theme_)
            return QProxyStyle::drawPrimitive(element, option, painter, widget);
        theme_->icon(QStringLiteral("check")).paint(painter, option->rect);
    }

private:
    QPointer<Theme> theme_;
};

Theme& Theme::instance() {
    Q_ASSERT(the_theme);
    return *the_theme;
}

void Theme::install(Mode mode) {
    if (the_theme) {
        the_theme->set_mode(mode);
        return;
    }
    init_resources();
    the_theme = new Theme(mode);
    the_theme->setParent(qApp);
    the_theme->apply();
    QApplication::setStyle(new ThemeStyle(the_theme)); // asks for the palette: lightness and colours settle here
    the_theme->apply();
}

Theme::Theme(Mode mode) : mode_(mode) {}

/// A style sheet's placeholders are its text, half seen through, which is too faint to read.
bool Theme::eventFilter(QObject* watched, QEvent* event) {
    auto* field = event->type() == QEvent::PaletteChange ? qobject_cast<QWidget*>(watched) : nullptr;
    if (field && field->palette().color(QPalette::PlaceholderText) != color(Role::hint)) {
        QPalette palette = field->palette();
        palette.setColor(QPalette::PlaceholderText, color(Role::hint));
        field->setPalette(palette);
    }
    return QObject::eventFilter(watched, event);
}

void Theme::set_mode(Mode mode) {
    if (mode == mode_)
        return;
    mode_ = mode;
    apply();
}

void Theme::system_lightness(bool dark) {
    if (dark == system_dark_)
        return;
    system_dark_ = dark;
    if (mode_ == Mode::system)
        QMetaObject::invokeMethod(this, &Theme::apply, Qt::QueuedConnection); // not from inside of polish
}

void Theme::apply() {
    dark_ = mode_ == Mode::dark || (mode_ == Mode::system && system_dark_);
    const auto document = QJsonDocument::fromJson(read_resource(QStringLiteral(":/theme/colors.json"))).object();
    const auto values = document[dark_ ? QStringLiteral("dark") : QStringLiteral("light")].toObject();
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        colors_[i] = QColor(values[QLatin1String(role_names[i])].toString());
        Q_ASSERT_X(colors_[i].isValid(), "Theme", role_names[i]);
    }
    QApplication::setFont(font(TextSize::normal));
    QPalette palette = QApplication::palette();
    overlay(palette);
    QApplication::setPalette(palette);
    qApp->setStyleSheet(style_sheet());
    emit changed();
}

void Theme::overlay(QPalette& palette) const {
    palette.setColor(QPalette::Window, color(Role::window));
    palette.setColor(QPalette::Base, color(Role::panel));
    palette.setColor(QPalette::AlternateBase, color(Role::window));
    palette.setColor(QPalette::Button, color(Role::panel));
    palette.setColor(QPalette::ToolTipBase, color(Role::panel));
    palette.setColor(QPalette::ToolTipText, color(Role::text));
    palette.setColor(QPalette::PlaceholderText, color(Role::hint));
    palette.setColor(QPalette::Link, color(Role::accent));
    palette.setColor(QPalette::Highlight, color(Role::accent));
    palette.setColor(QPalette::HighlightedText, color(Role::on_accent));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(role, color(Role::text));
        palette.setColor(QPalette::Disabled, role, color(Role::hint));
    }
}

QFont Theme::font(TextSize size, QFont::Weight weight) const {
    constexpr std::array<int, 5> pixels = {11, 13, 15, 17, 20};
    QFont font = QApplication::font();
    font.setPixelSize(pixels[static_cast<std::size_t>(size)]);
    font.setWeight(weight);
    return font;
}

QIcon Theme::icon(const QString& name, Role role) const { return tinted_icon(name, color(role), color(Role::hint)); }

QIcon Theme::button_icon(const QString& name, Role role) const {
    return tinted_icon(name, color(role), color(Role::hint), true);
}

QString Theme::style_sheet() const {
    QString sheet = QString::fromUtf8(read_resource(QStringLiteral(":/theme/window.qss")));
    for (std::size_t i = 0; i < role_names.size(); ++i)
        sheet.replace(QLatin1Char('@') + QLatin1String(role_names[i]) + QLatin1Char('@'), colors_[i].name());
    return sheet;
}

} // namespace espalier
