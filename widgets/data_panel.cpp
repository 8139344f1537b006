// SPDX-License-Identifier: GPL-3.0-or-later
#include "data_panel.h"

#include "format.h"
#include "icon.h"
#include "tabular.h"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QScrollArea>
#include <algorithm>

namespace espalier {

namespace {

constexpr int least_beside = 440; ///< two cards with lines of some words

QFrame* card(QWidget* parent) {
    auto* frame = new QFrame(parent);
    frame->setProperty("card", true);
    return frame;
}

QLabel* strong(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("strong", true);
    return label;
}

/// An icon beside a finding, in the finding's colour.
class FindingIcon : public QWidget {
public:
    FindingIcon(QString name, Role role) : name_(std::move(name)), role_(role) { setFixedSize(16, 18); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paint_icon(painter, QRectF(1, 2, 13, 13), name_, Theme::instance().color(role_));
    }

private:
    QString name_;
    Role role_;
};

} // namespace

void ClassBars::set_classes(std::vector<std::pair<QString, qint64>> classes) {
    classes_ = std::move(classes);
    QStringList words;
    for (const auto& [name, count] : classes_)
        words.append(QStringLiteral("%1 %2").arg(name).arg(count));
    setAccessibleName(tr("Images of each class"));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

void ClassBars::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(TextSize::small));
    const QFontMetrics metrics = painter.fontMetrics();
    int names = 0, numbers = 0;
    qint64 largest = 1;
    for (const auto& [name, count] : classes_) {
        names = std::max(names, metrics.horizontalAdvance(name));
        numbers = std::max(numbers, tabular_width(metrics, format_count(static_cast<double>(count))));
        largest = std::max(largest, count);
    }
    names = std::min(names, width() / 3);
    const int bar_left = names + 14;
    const int bar_width = std::max(20, width() - bar_left - numbers - 10);
    const std::size_t room = static_cast<std::size_t>(std::max(1, height() / 18));
    const bool all = classes_.size() <= room;
    const std::size_t shown = all ? classes_.size() : room - 1;
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& [name, count] = classes_[i];
        const int y = static_cast<int>(i) * 18;
        painter.setPen(theme.color(Role::secondary));
        painter.drawText(QRect(0, y, names + 2, 18), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(name, Qt::ElideRight, names + 1));
        const double wide =
            std::max(3.0, static_cast<double>(bar_width) * static_cast<double>(count) / static_cast<double>(largest));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(Role::series1));
        painter.drawRoundedRect(QRectF(bar_left, y + 5.5, wide, 7), 3.5, 3.5);
        painter.setPen(theme.color(Role::secondary));
        draw_tabular(painter, QRect(bar_left + static_cast<int>(wide) + 8, y, numbers + 4, 18),
                     Qt::AlignLeft | Qt::AlignVCenter, format_count(static_cast<double>(count)));
    }
    if (!all) {
        painter.setPen(theme.color(Role::hint));
        painter.drawText(QRect(0, static_cast<int>(shown) * 18, width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                         tr("and %1 more").arg(classes_.size() - shown));
    }
}

void ThumbnailStrip::set_images(std::vector<QImage> images) {
    images_ = std::move(images);
    update();
}

void ThumbnailStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    // All of them in two rows: smaller where the window is narrow.
    constexpr int largest = 44, gap = 4;
    const int needed = std::max(1, (static_cast<int>(images_.size()) + 1) / 2);
    const int side = std::clamp((width() + gap) / needed - gap, 8, largest);
    const int columns = std::max(needed, (width() + gap) / (side + gap));
    const double step = columns > 1 ? static_cast<double>(width() - side) / (columns - 1) : 0;
    for (std::size_t i = 0; i < images_.size() && static_cast<int>(i) < columns * 2; ++i) {
        const QRectF box(static_cast<int>(i) % columns * step, static_cast<int>(i) / columns * (side + gap), side,
                         side);
        QPainterPath shape;
        shape.addRoundedRect(box, 3, 3);
        painter.setClipPath(shape);
        painter.drawImage(box, images_[i]);
    }
}

DataPanel::DataPanel(QWidget* parent)
    : QWidget(parent), image_card_(card(this)), image_title_(strong({})), images_(new ThumbnailStrip),
      class_note_(new QLabel), classes_(new ClassBars), findings_(new QWidget),
      lower_(new QBoxLayout(QBoxLayout::LeftToRight)) {
    auto* image_column = new QVBoxLayout(image_card_);
    image_column->setContentsMargins(12, 10, 12, 12);
    image_column->addWidget(image_title_);
    image_column->addWidget(images_);
    image_card_->hide();

    auto* class_card = card(this);
    auto* class_column = new QVBoxLayout(class_card);
    class_column->setContentsMargins(12, 10, 12, 12);
    auto* class_title = new QHBoxLayout;
    class_title->addWidget(strong(tr("Classes")));
    class_title->addSpacing(6);
    class_title->addWidget(class_note_, 1);
    class_note_->setProperty("tone", "secondary");
    class_note_->setProperty("textSize", "small");
    class_column->addLayout(class_title);
    class_column->addWidget(classes_, 1);

    auto* scan_card = card(this);
    auto* scan_column = new QVBoxLayout(scan_card);
    scan_column->setContentsMargins(12, 10, 12, 12);
    scan_column->addWidget(strong(tr("Scan")));
    findings_->setLayout(new QGridLayout);
    findings_->layout()->setContentsMargins(0, 0, 0, 0);
    auto* content = new QWidget;
    content->setProperty("clear", true);
    auto* lines = new QVBoxLayout(content);
    lines->setContentsMargins(0, 0, 8, 0);
    lines->addWidget(findings_);
    lines->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setObjectName(QStringLiteral("scanScroll"));
    scroll->setAccessibleName(tr("Scan"));
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(content);
    scan_column->addWidget(scroll, 1);

    lower_->setSpacing(8);
    lower_->addWidget(class_card, 6);
    lower_->addWidget(scan_card, 5);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(8);
    column->addWidget(image_card_);
    column->addLayout(lower_, 1);
}

void DataPanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    lower_->setDirection(width() < least_beside ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void DataPanel::set_images(const QString& title, std::vector<QImage> images) {
    image_card_->setVisible(!images.empty());
    image_title_->setText(title);
    images_->set_images(std::move(images));
}

void DataPanel::set_classes(const QString& note, std::vector<std::pair<QString, qint64>> classes) {
    class_note_->setText(note);
    classes_->set_classes(std::move(classes));
}

void DataPanel::set_findings(const std::vector<Finding>& findings) {
    auto* grid = static_cast<QGridLayout*>(findings_->layout());
    while (QLayoutItem* item = grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    grid->setHorizontalSpacing(6);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    int line = 0;
    for (const Finding& finding : findings) {
        auto* label = new QLabel(finding.text);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setProperty("textSize", "small");
        label->setProperty("tone", "secondary");
        grid->addWidget(new FindingIcon(finding.icon, finding.role), line, 0, Qt::AlignTop);
        grid->addWidget(label, line++, 1);
    }
}

void DataPanel::set_message(const QString& text, Role role) {
    set_images({}, {});
    set_classes({}, {});
    set_findings({{role == Role::fault ? QStringLiteral("warning") : QStringLiteral("info"), role, text}});
}

} // namespace espalier
