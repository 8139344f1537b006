// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QFrame>
#include <QImage>
#include <vector>

class QBoxLayout;
class QLabel;

namespace espalier {

/// Names and numbers of images of the classes, as bars.
class ClassBars : public QWidget {
    Q_OBJECT

public:
    using QWidget::QWidget;
    void set_classes(std::vector<std::pair<QString, qint64>> classes);
    [[nodiscard]] QSize sizeHint() const override { return {280, static_cast<int>(classes_.size()) * 18 + 4}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {120, 40}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    std::vector<std::pair<QString, qint64>> classes_;
};

/// The first images of a data set in a row or two.
class ThumbnailStrip : public QWidget {
    Q_OBJECT

public:
    using QWidget::QWidget;
    void set_images(std::vector<QImage> images);
    [[nodiscard]] QSize sizeHint() const override { return {400, 92}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, 92}; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    std::vector<QImage> images_;
};

/// What a data set holds: some of its images, its classes, and what the scan found, beside the classes or, where that
/// is too narrow, below them.
class DataPanel : public QWidget {
    Q_OBJECT

public:
    struct Finding {
        QString icon; ///< check, warning or info
        Role role;
        QString text;
    };
    explicit DataPanel(QWidget* parent = nullptr);
    void set_images(const QString& title, std::vector<QImage> images); ///< none: the card is left out
    void set_classes(const QString& note, std::vector<std::pair<QString, qint64>> classes);
    void set_findings(const std::vector<Finding>& findings);
    void set_message(const QString& text, Role role); ///< instead of classes and findings

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QFrame* image_card_;
    QLabel* image_title_;
    ThumbnailStrip* images_;
    QLabel* class_note_;
    ClassBars* classes_;
    QWidget* findings_;
    QBoxLayout* lower_; ///< classes and findings
};

} // namespace espalier
