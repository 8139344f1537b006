// SPDX-License-Identifier: GPL-3.0-or-later
#include "preset_gallery.h"

#include "refusal.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

namespace espalier {

namespace {

constexpr int inset = 17;
constexpr int summary_top = 52, least_summary = 40, line_height = 18, between = 4, below = 8; ///< of a card

/// The order of sizes in a row; other sizes become links in the row's header.
int column_of(const QString& size) { return size == u"small" ? 0 : size == u"medium" ? 1 : size == u"large" ? 2 : -1; }

QString size_title(const QString& size) {
    if (size == u"small")
        return PresetGallery::tr("Small");
    if (size == u"medium")
        return PresetGallery::tr("Medium");
    if (size == u"large")
        return PresetGallery::tr("Large");
    if (size == u"recommended")
        return PresetGallery::tr("Recommended");
    if (size == u"conservative")
        return PresetGallery::tr("Stability first");
    return size;
}

} // namespace

PresetCard::PresetCard(const PresetEntry& preset, QWidget* parent) : QAbstractButton(parent), preset_(preset) {
    setObjectName(QStringLiteral("preset-") + preset.name);
    set_refusal(this, preset.available ? QString() : preset.reason);
    setCursor(preset.available ? Qt::PointingHandCursor : Qt::ArrowCursor);
    setFocusPolicy(preset.available ? Qt::StrongFocus : Qt::NoFocus);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAttribute(Qt::WA_Hover);
    setAccessibleName(preset.title);
    setAccessibleDescription(preset.available ? preset.summary : preset.summary + QLatin1Char(' ') + preset.reason);
}

void PresetCard::set_facts(const QString& facts, const QString& fit, Role fit_role) {
    facts_ = facts;
    fit_ = fit;
    fit_role_ = fit_role;
    setAccessibleDescription(QStringLiteral("%1 %2 %3 %4").arg(preset_.summary, facts, fit, toolTip()));
    updateGeometry();
    update();
}

PresetCard::Lines PresetCard::lines(int width) const {
    const QFontMetrics metrics(Theme::instance().font(TextSize::small));
    const int room = width - 2 * inset;
    const auto height_of = [&](const QString& text) {
        return metrics.boundingRect(QRect(0, 0, room, QWIDGETSIZE_MAX), Qt::TextWordWrap, text).height();
    };
    const bool beside =
        fit_.isEmpty() || metrics.horizontalAdvance(foot()) + 10 + metrics.horizontalAdvance(fit_) <= room;
    return {std::max(least_summary, height_of(preset_.summary)), std::max(line_height, height_of(foot())),
            beside ? 0 : line_height};
}

int PresetCard::heightForWidth(int width) const {
    const Lines parts = lines(width);
    return summary_top + parts.summary + between + parts.facts + parts.fit + below;
}

void PresetCard::paint_picture(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::instance();
    painter.save();
    painter.setOpacity(isEnabled() ? 1 : 0.45);
    const auto at = [&](double x, double y) {
        return QPointF(area.left() + x * area.width(), area.top() + y * area.height());
    };
    if (preset_.row == u"search") { // weights of candidates, some chosen
        constexpr std::array<const char*, 4> rows = {"13122222", "22131332", "31442211", "11431224"};
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < 8; ++c) {
                QColor color = theme.color(Role::series4);
                color.setAlphaF(std::array{0.0F, 0.14F, 0.3F, 0.6F,
                                           1.0F}[static_cast<std::size_t>(rows[static_cast<std::size_t>(r)][c] - '0')]);
                painter.fillRect(QRectF(area.left() + c * 9, area.top() + r * 9, 7, 7), color);
            }
    } else if (preset_.row == u"grow") { // a small tree
        painter.setPen(QPen(theme.color(Role::series3), 2, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(at(0.5, 1.1), at(0.5, 0.05));
        painter.drawLine(at(0.5, 0.75), at(0.2, 0.4));
        painter.drawLine(at(0.5, 0.6), at(0.8, 0.25));
        painter.drawLine(at(0.5, 0.4), at(0.28, 0.1));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(Role::series3));
        for (const QPointF& leaf : {at(0.5, 0.03), at(0.2, 0.4), at(0.8, 0.25), at(0.28, 0.1)})
            painter.drawEllipse(leaf, 4, 4);
    } else { // loss falls, accuracy rises
        QPainterPath loss(at(0, 0.05)), accuracy(at(0, 0.95));
        loss.cubicTo(at(0.3, 0.8), at(0.5, 0.92), at(1, 1));
        accuracy.cubicTo(at(0.3, 0.15), at(0.5, 0.1), at(1, 0.02));
        painter.setBrush(Qt::NoBrush);
        QPen dashed(theme.color(Role::series2), 2);
        dashed.setDashPattern({2, 1.2});
        painter.setPen(dashed);
        painter.drawPath(loss);
        painter.setPen(QPen(theme.color(Role::series1), 2));
        painter.drawPath(accuracy);
    }
    painter.restore();
}

void PresetCard::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool marked = isEnabled() && (underMouse() || hasFocus());
    painter.setPen(QPen(theme.color(marked ? Role::accent : Role::border), 1));
    painter.setBrush(theme.color(isDown() ? Role::selection : Role::panel));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
    paint_picture(painter, QRectF(width() - inset - 78, 12, 72, 36));

    const QRect inner = rect().adjusted(inset, 0, -inset, 0);
    painter.setFont(theme.font(TextSize::heading, QFont::DemiBold));
    painter.setPen(theme.color(isEnabled() ? Role::text : Role::secondary));
    painter.drawText(QRect(inner.left(), 12, inner.width() - 90, 24), Qt::AlignLeft | Qt::AlignVCenter,
                     size_title(preset_.size));
    painter.setFont(theme.font(TextSize::small));
    painter.setPen(theme.color(isEnabled() ? Role::secondary : Role::hint));
    const Lines parts = lines(width());
    const int fit_top = height() - below - parts.fit, facts_top = fit_top - parts.facts;
    const int summary_height = facts_top - between - summary_top;
    painter.drawText(QRect(inner.left(), summary_top, inner.width(), summary_height),
                     Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap | Qt::TextDontClip, preset_.summary);

    const QRect facts(inner.left(), facts_top, inner.width(), parts.facts);
    painter.setPen(theme.color(isEnabled() ? fit_role_ : Role::hint));
    if (parts.fit > 0)
        painter.drawText(QRect(inner.left(), fit_top, inner.width(), parts.fit), Qt::AlignLeft | Qt::AlignVCenter,
                         fit_);
    else
        painter.drawText(facts, Qt::AlignRight | Qt::AlignVCenter, fit_);
    painter.setPen(theme.color(isEnabled() ? Role::text : Role::hint));
    painter.drawText(facts, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, foot());
}

PresetGallery::PresetGallery(QWidget* parent)
    : QWidget(parent), machine_(new QLabel), how_(new QPushButton(tr("How"))), demo_(new QFrame),
      demo_button_(new QPushButton(tr("One-minute demo"))), waiting_(new QLabel), rows_(new QVBoxLayout),
      row_area_(new QWidget) {
    auto* page = new QWidget;
    page->setProperty("page", true);
    auto* title = new QLabel(tr("What do you want to train?"));
    title->setProperty("textSize", "page");
    auto* top = new QHBoxLayout;
    top->addWidget(title);
    top->addWidget(machine_, 1);
    top->addWidget(how_);
    machine_->setProperty("textSize", "small");
    machine_->setTextFormat(Qt::PlainText);
    machine_->setObjectName(QStringLiteral("machineLine"));
    machine_->setWordWrap(true); // a reason may be long
    machine_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    how_->setProperty("kind", "link");
    how_->setObjectName(QStringLiteral("how"));
    how_->setToolTip(tr("What it takes to train on a GPU"));
    how_->hide();
    connect(how_, &QPushButton::clicked, this, &PresetGallery::how_requested);

    demo_->setProperty("band", "info");
    auto* invitation = new QLabel(tr("New here? Watch a network learn to tell shirts from sneakers."));
    demo_button_->setObjectName(QStringLiteral("preset-quick"));
    demo_button_->setProperty("kind", "primary");
    const auto paint = [this] {
        demo_button_->setIcon(Theme::instance().button_icon(QStringLiteral("play"), Role::on_accent));
    };
    paint();
    connect(&Theme::instance(), &Theme::changed, this, paint);
    auto* band = new QHBoxLayout(demo_);
    band->setContentsMargins(16, 10, 16, 10);
    band->addWidget(invitation, 1);
    band->addWidget(demo_button_);
    demo_->hide();
    connect(demo_button_, &QPushButton::clicked, this, [this] { emit preset_chosen(demo_name_); });

    waiting_->setProperty("tone", "secondary");
    waiting_->setWordWrap(true);
    waiting_->setObjectName(QStringLiteral("presetsWaiting"));
    waiting_->hide();
    rows_->setSpacing(8);
    rows_->setContentsMargins(0, 0, 0, 0);
    row_area_->setLayout(rows_);

    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(24, 16, 24, 16);
    column->setSpacing(10);
    column->addLayout(top);
    column->addWidget(demo_);
    column->addWidget(waiting_);
    column->addWidget(row_area_);
    column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(page);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(scroll);
}

void PresetGallery::set_machine_line(const QString& text, Role role, bool how) {
    machine_->setText(text);
    how_->setVisible(how);
    const char* const tone = role == Role::good        ? "good"
                             : role == Role::attention ? "attention"
                             : role == Role::fault     ? "fault"
                                                       : "secondary";
    machine_->setProperty("tone", tone);
    machine_->style()->unpolish(machine_);
    machine_->style()->polish(machine_);
}

void PresetGallery::set_waiting(const QString& text) {
    waiting_->setText(text);
    waiting_->setVisible(!text.isEmpty() && cards_.empty());
}

void PresetGallery::set_presets(const std::vector<PresetEntry>& presets) {
    set_waiting({});
    cards_.clear();
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    demo_->hide();
    for (const PresetEntry& preset : presets)
        if (preset.size == u"demo" && preset.available) {
            demo_name_ = preset.name;
            demo_button_->setText(preset.title);
            demo_button_->setToolTip(preset.summary);
            demo_->show();
        }
    for (const char* row : {"train", "search", "grow"})
        add_row(QLatin1String(row), presets);
}

void PresetGallery::add_row(const QString& row, const std::vector<PresetEntry>& presets) {
    const bool any = std::any_of(presets.begin(), presets.end(),
                                 [&](const PresetEntry& p) { return p.row == row && column_of(p.size) >= 0; });
    if (!any)
        return;
    auto* block = new QWidget;
    auto* column = new QVBoxLayout(block);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    auto* header = new QHBoxLayout;
    auto* title = new QLabel(row == u"train" ? tr("Train") : row == u"search" ? tr("Search") : tr("Grow"));
    title->setProperty("textSize", "heading");
    auto* says = new QLabel(row == u"train"    ? tr("a network of fixed shape")
                            : row == u"search" ? tr("let the network find its cells")
                                               : tr("start small, add branches while it learns"));
    says->setProperty("tone", "secondary");
    says->setProperty("textSize", "small");
    header->addWidget(title);
    header->addSpacing(8);
    header->addWidget(says, 1);
    column->addLayout(header);
    auto* cards = new QHBoxLayout;
    cards->setSpacing(12);
    column->addLayout(cards);
    std::array<const PresetEntry*, 3> sizes{};
    for (const PresetEntry& preset : presets) {
        if (preset.row != row || preset.size == u"demo")
            continue;
        if (const int place = column_of(preset.size); place >= 0) {
            sizes[static_cast<std::size_t>(place)] = &preset;
            continue;
        }
        auto* link = new QPushButton(size_title(preset.size));
        link->setProperty("kind", "link");
        set_refusal(link, preset.available ? QString() : preset.reason, preset.summary);
        link->setAccessibleName(preset.title);
        connect(link, &QPushButton::clicked, this, [this, name = preset.name] { emit preset_chosen(name); });
        header->addWidget(link);
    }
    for (const PresetEntry* preset : sizes) {
        if (!preset) {
            cards->addStretch(1);
            continue;
        }
        auto* card = new PresetCard(*preset);
        connect(card, &PresetCard::clicked, this, [this, name = preset->name] { emit preset_chosen(name); });
        cards->addWidget(card, 1);
        cards_.emplace_back(preset->name, card);
    }
    rows_->addWidget(block);
}

void PresetGallery::set_facts(const QString& preset, const QString& facts, const QString& fit, Role fit_role) {
    for (const auto& [name, card] : cards_)
        if (name == preset)
            card->set_facts(facts, fit, fit_role);
}

} // namespace espalier
