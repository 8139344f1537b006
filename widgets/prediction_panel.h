// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <vector>

class QLabel;
class QPushButton;

namespace espalier {

/// Classes with their probabilities as bars, the most probable first.
class ProbabilityBars : public QWidget {
    Q_OBJECT

public:
    static constexpr std::size_t shown = 5;

    explicit ProbabilityBars(QWidget* parent = nullptr);
    void set_classes(std::vector<std::pair<QString, double>> classes);
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<std::pair<QString, double>> classes_;
};

/// An image of one's own, and what the network takes it for. An image file can be dropped on it.
class PredictionPanel : public QWidget {
    Q_OBJECT

public:
    explicit PredictionPanel(QWidget* parent = nullptr);
    void clear();
    void set_image(const QImage& image, const QString& name);
    void set_working();
    void set_classes(const std::vector<std::pair<QString, double>>& classes);
    void set_error(const QString& text);

signals:
    void choose_requested();
    void image_dropped(const QString& path);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void show_image();

    QImage picture_;
    bool dragged_over_ = false;
    QLabel* image_;
    QLabel* name_;
    QLabel* words_;
    ProbabilityBars* bars_;
    QPushButton* choose_;
};

} // namespace espalier
