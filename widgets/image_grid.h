// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QListView>
#include <vector>

namespace espalier {

/// An image and what a network made of it.
struct ExaminedImage {
    QImage image;
    QString truth, predicted;
    double probability = 0; ///< that the network gave to the truth, 0 to 1
    QString file;           ///< for the tooltip
};

/// Images with what they are and what they were taken for, in rows that fill the width. Asks for more when its end
/// comes into sight.
class ImageGrid : public QListView {
    Q_OBJECT

public:
    static constexpr int image_side = 80; ///< logical pixels

    explicit ImageGrid(QWidget* parent = nullptr);
    /// `total`: how many there are, these among them.
    void set_images(std::vector<ExaminedImage> images, qint64 total);
    void append_images(std::vector<ExaminedImage> images);
    void give_up_more(); ///< they cannot be had; the next scroll asks again
    [[nodiscard]] int count() const;

signals:
    void more_wanted();

protected:
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    class Model;
    class Delegate;
    void look_at_end();
    void look_later();

    Model* model_;
    qint64 total_ = 0;
    bool asked_ = false; ///< for more
};

} // namespace espalier
