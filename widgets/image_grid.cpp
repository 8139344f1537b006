// SPDX-License-Identifier: GPL-3.0-or-later
#include "image_grid.h"

#include "format.h"
#include "theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <QStyledItemDelegate>

namespace espalier {

namespace {

constexpr int cell_width = 114, cell_height = ImageGrid::image_side + 46;
constexpr int examined_role = Qt::UserRole;

QString caption(const ExaminedImage& one) {
    return one.truth == one.predicted ? one.truth : one.truth + QStringLiteral(" → ") + one.predicted;
}

} // namespace

class ImageGrid::Model : public QAbstractListModel {
public:
    using QAbstractListModel::QAbstractListModel;

    void set(std::vector<ExaminedImage> images) {
        beginResetModel();
        images_ = std::move(images);
        endResetModel();
    }
    void append(std::vector<ExaminedImage> images) {
        if (images.empty())
            return;
        const int before = static_cast<int>(images_.size());
        beginInsertRows({}, before, before + static_cast<int>(images.size()) - 1);
        for (ExaminedImage& one : images)
            images_.push_back(std::move(one));
        endInsertRows();
    }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(images_.size());
    }
    [[nodiscard]] const ExaminedImage& at(const QModelIndex& index) const {
        return images_[static_cast<std::size_t>(index.row())];
    }
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override {
        const ExaminedImage& one = at(index);
        const QString words =
            ImageGrid::tr("%1, %2 for %3").arg(caption(one), format_percent(one.probability), one.truth);
        if (role == Qt::ToolTipRole)
            return words + QLatin1Char('\n') + one.file;
        return role == Qt::DisplayRole || role == Qt::AccessibleTextRole ? QVariant(words) : QVariant();
    }

private:
    std::vector<ExaminedImage> images_;
};

class ImageGrid::Delegate : public QStyledItemDelegate {
public:
    Delegate(const Model* model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {cell_width, cell_height};
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const ExaminedImage& one = model_->at(index);
        const Theme& theme = Theme::instance();
        const QRect box = option.rect.adjusted(2, 2, -2, -2);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        if (option.state & (QStyle::State_Selected | QStyle::State_HasFocus)) {
            painter->setPen(option.state & QStyle::State_HasFocus ? theme.color(Role::accent)
                                                                  : QColor(Qt::transparent));
            painter->setBrush(theme.color(Role::selection));
            painter->drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        }
        // Small images are enlarged without blur: their pixels are what the network sees.
        QSize size = one.image.size().scaled(image_side, image_side, Qt::KeepAspectRatio);
        const QRect place(box.x() + (box.width() - size.width()) / 2, box.y() + 4 + (image_side - size.height()) / 2,
                          size.width(), size.height());
        painter->setRenderHint(QPainter::SmoothPixmapTransform, one.image.width() > image_side / 2);
        painter->drawImage(place, one.image);
        const QFontMetrics metrics(theme.font(TextSize::small));
        painter->setFont(theme.font(TextSize::small));
        QRect text(box.x() + 4, box.y() + image_side + 6, box.width() - 8, 16);
        painter->setPen(theme.color(one.truth == one.predicted ? Role::text : Role::attention));
        painter->drawText(text, Qt::AlignHCenter | Qt::AlignVCenter,
                          metrics.elidedText(caption(one), Qt::ElideMiddle, text.width()));
        text.translate(0, 16);
        painter->setPen(theme.color(Role::secondary));
        painter->drawText(text, Qt::AlignHCenter | Qt::AlignVCenter,
                          metrics.elidedText(ImageGrid::tr("truth %1").arg(format_percent(one.probability)),
                                             Qt::ElideRight, text.width()));
        painter->restore();
    }

private:
    const Model* model_;
};

ImageGrid::ImageGrid(QWidget* parent) : QListView(parent), model_(new Model(this)) {
    setModel(model_);
    setItemDelegate(new Delegate(model_, this));
    setAccessibleName(tr("Images"));
    setFrameShape(QFrame::NoFrame);
    setViewMode(IconMode);
    setMovement(Static);
    setResizeMode(Adjust);
    setUniformItemSizes(true);
    setGridSize({cell_width + 4, cell_height + 4});
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSelectionMode(SingleSelection);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, &ImageGrid::look_later);
    connect(verticalScrollBar(), &QScrollBar::rangeChanged, this, &ImageGrid::look_later);
    connect(&Theme::instance(), &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void ImageGrid::set_images(std::vector<ExaminedImage> images, qint64 total) {
    total_ = total;
    asked_ = false;
    model_->set(std::move(images));
    scrollToTop();
    viewport()->update();
    look_later();
}

void ImageGrid::append_images(std::vector<ExaminedImage> images) {
    asked_ = false;
    if (images.empty())
        total_ = count(); // the other side has no more after all
    model_->append(std::move(images));
    look_later();
}

void ImageGrid::give_up_more() { asked_ = false; }

int ImageGrid::count() const { return model_->rowCount(); }

/// Also where no scroll bar moves: the end may be in sight from the beginning. Not from inside of a layout.
void ImageGrid::look_later() { QMetaObject::invokeMethod(this, &ImageGrid::look_at_end, Qt::QueuedConnection); }

void ImageGrid::showEvent(QShowEvent* event) {
    QListView::showEvent(event);
    look_later();
}

void ImageGrid::resizeEvent(QResizeEvent* event) {
    QListView::resizeEvent(event);
    look_later();
}

void ImageGrid::look_at_end() {
    executeDelayedItemsLayout(); // or the scroll bar is that of before
    const QScrollBar* bar = verticalScrollBar();
    if (asked_ || count() == 0 || count() >= total_ || bar->value() < bar->maximum() - cell_height || !isVisible())
        return;
    asked_ = true;
    emit more_wanted();
}

void ImageGrid::paintEvent(QPaintEvent* event) {
    QListView::paintEvent(event);
    if (count() > 0)
        return;
    QPainter painter(viewport());
    painter.setPen(Theme::instance().color(Role::secondary));
    painter.drawText(viewport()->rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap,
                     total_ > 0 ? tr("Fetching the images…") : tr("There is no such image."));
}

} // namespace espalier
