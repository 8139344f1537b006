// SPDX-License-Identifier: GPL-3.0-or-later
#include "prediction_panel.h"

#include "format.h"
#include "image_file.h"
#include "tabular.h"
#include "theme.h"

#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int row_height = 34;
constexpr int image_width = 176;

/// The one image that is dropped; empty if it is anything else, which the window takes.
QString dropped_image(const QMimeData* data) {
    const QList<QUrl> urls = data->urls();
    const QString file = urls.size() == 1 ? urls.front().toLocalFile() : QString();
    return is_image_name(file) ? file : QString();
}

} // namespace

ProbabilityBars::ProbabilityBars(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Most probable classes"));
}

void ProbabilityBars::set_classes(std::vector<std::pair<QString, double>> classes) {
    classes.resize(std::min(classes.size(), shown));
    classes_ = std::move(classes);
    QStringList words;
    for (const auto& [name, probability] : classes_)
        words.append(tr("%1 %2").arg(name, format_percent(probability)));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

QSize ProbabilityBars::sizeHint() const { return {240, static_cast<int>(classes_.size()) * row_height}; }

void ProbabilityBars::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(TextSize::normal));
    const int numbers = tabular_width(painter.fontMetrics(), format_percent(1));
    for (std::size_t i = 0; i < classes_.size(); ++i) {
        const auto& [name, probability] = classes_[i];
        const int y = static_cast<int>(i) * row_height;
        painter.setPen(theme.color(i == 0 ? Role::text : Role::secondary));
        painter.drawText(QRect(0, y, width() - numbers - 8, 18), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(name, Qt::ElideRight, width() - numbers - 8));
        draw_tabular(painter, QRect(width() - numbers - 2, y, numbers + 2, 18), Qt::AlignRight | Qt::AlignVCenter,
                     format_percent(probability));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.color(Role::inner_border));
        painter.drawRoundedRect(QRectF(0, y + 20, width(), 6), 3, 3);
        painter.setBrush(theme.color(i == 0 ? Role::series1 : Role::hint));
        painter.drawRoundedRect(QRectF(0, y + 20, std::max(3.0, width() * probability), 6), 3, 3);
    }
}

PredictionPanel::PredictionPanel(QWidget* parent)
    : QWidget(parent), image_(new QLabel), name_(new QLabel), words_(new QLabel), bars_(new ProbabilityBars),
      choose_(new QPushButton(tr("Choose an image…"))) {
    setAcceptDrops(true);
    setAccessibleName(tr("Prediction"));
    choose_->setObjectName(QStringLiteral("chooseImage"));
    image_->setFixedWidth(image_width);
    image_->setAlignment(Qt::AlignTop | Qt::AlignHCenter);
    name_->setTextFormat(Qt::PlainText);
    name_->setProperty("textSize", "small");
    name_->setProperty("tone", "secondary");
    name_->setWordWrap(true);
    words_->setTextFormat(Qt::PlainText);
    words_->setWordWrap(true);
    words_->setObjectName(QStringLiteral("predictionWords"));
    bars_->setObjectName(QStringLiteral("predictionBars"));
    auto* left = new QVBoxLayout;
    left->setSpacing(6);
    left->addWidget(image_);
    left->addWidget(name_);
    left->addStretch(1);
    auto* right = new QVBoxLayout;
    right->setSpacing(10);
    right->addWidget(words_);
    right->addWidget(bars_);
    right->addWidget(choose_, 0, Qt::AlignLeft);
    right->addStretch(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(10, 10, 10, 10);
    row->setSpacing(16);
    row->addLayout(left);
    row->addLayout(right, 1);
    connect(choose_, &QPushButton::clicked, this, &PredictionPanel::choose_requested);
    clear();
}

void PredictionPanel::clear() {
    picture_ = {};
    name_->clear();
    bars_->set_classes({});
    words_->setProperty("tone", "secondary");
    words_->setText(tr("Drop an image here, or choose one: it is scaled and cut as in training, and the network says "
                       "what it sees."));
    show_image();
}

void PredictionPanel::set_image(const QImage& image, const QString& name) {
    picture_ = image;
    name_->setText(name);
    show_image();
}

void PredictionPanel::set_working() {
    bars_->set_classes({});
    words_->setText(tr("The network looks at it…"));
}

void PredictionPanel::set_classes(const std::vector<std::pair<QString, double>>& classes) {
    bars_->set_classes(classes);
    words_->setText(
        classes.empty()
            ? tr("The network knows no classes.")
            : tr("%1, with a probability of %2").arg(classes.front().first, format_percent(classes.front().second)));
}

void PredictionPanel::set_error(const QString& text) {
    bars_->set_classes({});
    words_->setText(text);
}

void PredictionPanel::show_image() {
    image_->setVisible(!picture_.isNull());
    name_->setVisible(!picture_.isNull());
    if (picture_.isNull())
        return;
    const double ratio = devicePixelRatioF();
    const int side = std::clamp(height() - 60, 64, image_width);
    QPixmap shown = QPixmap::fromImage(
        picture_.scaled(QSize(image_width, side) * ratio, Qt::KeepAspectRatio, Qt::SmoothTransformation));
    shown.setDevicePixelRatio(ratio);
    image_->setPixmap(shown);
}

void PredictionPanel::resizeEvent(QResizeEvent*) { show_image(); }

void PredictionPanel::dragEnterEvent(QDragEnterEvent* event) {
    if (dropped_image(event->mimeData()).isEmpty())
        return;
    dragged_over_ = true;
    update();
    event->acceptProposedAction();
}

void PredictionPanel::dragLeaveEvent(QDragLeaveEvent*) {
    dragged_over_ = false;
    update();
}

void PredictionPanel::dropEvent(QDropEvent* event) {
    dragged_over_ = false;
    update();
    if (const QString file = dropped_image(event->mimeData()); !file.isEmpty()) {
        event->acceptProposedAction();
        emit image_dropped(file);
    }
}

void PredictionPanel::paintEvent(QPaintEvent*) {
    if (!picture_.isNull() && !dragged_over_)
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::instance();
    QPen pen(theme.color(dragged_over_ ? Role::accent : Role::border), 1.5, Qt::DashLine);
    painter.setPen(pen);
    painter.setBrush(dragged_over_ ? theme.color(Role::accent_tint) : QColor(Qt::transparent));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
}

} // namespace espalier
