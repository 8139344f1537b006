// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QRectF>
#include <vector>

namespace espalier::test {

/// Something to paint on that keeps what is written, where and in which colour, and nothing else.
class TextRecorder : public QPaintDevice {
public:
    struct Words {
        QString text;
        QColor ink;
        QRectF place; ///< in the device's pixels
    };

    explicit TextRecorder(const QSize& size) : size_(size), engine_(this) {}

    [[nodiscard]] QPaintEngine* paintEngine() const override { return &engine_; }
    [[nodiscard]] bool has(const QString& text) const {
        for (const Words& one : words)
            if (one.text == text)
                return true;
        return false;
    }

    std::vector<Words> words;

protected:
    [[nodiscard]] int metric(PaintDeviceMetric metric) const override {
        switch (metric) {
        case PdmWidth:
            return size_.width();
        case PdmHeight:
            return size_.height();
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return 96;
        case PdmDepth:
            return 32;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return 0;
        }
    }

private:
    class Engine : public QPaintEngine {
    public:
        explicit Engine(TextRecorder* to) : QPaintEngine(AllFeatures), to_(to) {}
        bool begin(QPaintDevice*) override { return true; }
        bool end() override { return true; }
        void updateState(const QPaintEngineState&) override {}
        void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
        void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
        void drawPath(const QPainterPath&) override {}
        void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
        void drawTextItem(const QPointF& at, const QTextItem& item) override {
            QColor ink = painter()->pen().color();
            ink.setAlphaF(ink.alphaF() * static_cast<float>(painter()->opacity()));
            const QRectF place(at.x(), at.y() - item.ascent(), item.width(), item.ascent() + item.descent());
            to_->words.push_back({item.text(), ink, painter()->transform().mapRect(place)});
        }
        [[nodiscard]] Type type() const override { return User; }

    private:
        TextRecorder* to_;
    };

    QSize size_;
    mutable Engine engine_;
};

} // namespace espalier::test
