// SPDX-License-Identifier: GPL-3.0-or-later
#include "icon.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QRegularExpression>
#include <QXmlStreamReader>

namespace espalier {

namespace {

constexpr double side = 16;
constexpr double button_side = 20; ///< of the square that a button keeps for its icon

/// Path data of an SVG `path`. Returns what it could not read, empty if nothing.
QString add_path(QPainterPath& outline, const QString& data) {
    static const QRegularExpression token(QStringLiteral("([A-Za-z])|(-?[0-9]*\\.?[0-9]+)"));
    QString command;
    QList<double> numbers;
    const auto draw = [&] { // draws as soon as the command has all its numbers
        const QPointF at = outline.currentPosition();
        if (command == u"M" && numbers.size() == 2) {
            outline.moveTo(numbers[0], numbers[1]);
            command = QStringLiteral("L"); // further pairs are lines
        } else if (command == u"L" && numbers.size() == 2) {
            outline.lineTo(numbers[0], numbers[1]);
        } else if (command == u"H" && numbers.size() == 1) {
            outline.lineTo(numbers[0], at.y());
        } else if (command == u"V" && numbers.size() == 1) {
            outline.lineTo(at.x(), numbers[0]);
        } else if (command == u"C" && numbers.size() == 6) {
            outline.cubicTo(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
        } else {
            return;
        }
        numbers.clear();
    };
    for (auto it = token.globalMatch(data); it.hasNext();) {
        const auto match = it.next();
        if (match.capturedLength(1) == 0) {
            numbers.append(match.captured(2).toDouble());
            draw();
            continue;
        }
        if (!numbers.isEmpty())
            return data;
        command = match.captured(1);
        if (command == u"Z")
            outline.closeSubpath();
        else if (!QStringLiteral("MLHVC").contains(command))
            return data;
    }
    return numbers.isEmpty() ? QString() : data;
}

class TintedEngine : public QIconEngine {
public:
    TintedEngine(QString name, QColor normal, QColor disabled, bool beside_text)
        : name_(std::move(name)), normal_(normal), disabled_(disabled), beside_text_(beside_text) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        QRectF box = rect;
        if (beside_text_) {
            const double drawn = box.width() * side / button_side;
            box = QRectF(box.left(), box.center().y() - drawn / 2, drawn, drawn);
        }
        paint_icon(*painter, box, name_, mode == QIcon::Disabled ? disabled_ : normal_);
    }
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }
    [[nodiscard]] QIconEngine* clone() const override { return new TintedEngine(*this); }

private:
    QString name_;
    QColor normal_, disabled_;
    bool beside_text_;
};

} // namespace

QPainterPath icon_outline(const QString& name, QString* problem) {
    static QHash<QString, QPainterPath> known;
    if (const auto it = known.constFind(name); it != known.constEnd() && !problem)
        return *it;
    const auto complain = [&](const QString& text) {
        if (problem)
            *problem = text;
    };
    QPainterPath outline;
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        complain(QStringLiteral("no icon named %1").arg(name));
    QXmlStreamReader reader(&file);
    while (!reader.atEnd()) {
        if (reader.readNext() != QXmlStreamReader::StartElement)
            continue;
        const auto attributes = reader.attributes();
        const auto number = [&](const char* key) { return attributes.value(QLatin1String(key)).toDouble(); };
        if (reader.name() == u"path") {
            if (const auto bad = add_path(outline, attributes.value(QLatin1String("d")).toString()); !bad.isEmpty())
                complain(QStringLiteral("%1: path data '%2'").arg(name, bad));
        } else if (reader.name() == u"rect") {
            outline.addRoundedRect(number("x"), number("y"), number("width"), number("height"), number("rx"),
                                   number("rx"));
        } else if (reader.name() == u"circle") {
            outline.addEllipse(QPointF(number("cx"), number("cy")), number("r"), number("r"));
        } else if (reader.name() != u"svg") {
            complain(QStringLiteral("%1: element '%2'").arg(name, reader.name()));
        }
    }
    if (reader.hasError())
        complain(QStringLiteral("%1: %2").arg(name, reader.errorString()));
    known.insert(name, outline);
    return outline;
}

void paint_icon(QPainter& painter, const QRectF& target, const QString& name, const QColor& color) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const double scale = std::min(target.width(), target.height()) / side;
    painter.translate(target.center() - QPointF(side, side) * scale / 2);
    painter.scale(scale, scale);
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(icon_outline(name));
    painter.restore();
}

QIcon tinted_icon(const QString& name, const QColor& normal, const QColor& disabled, bool beside_text) {
    return QIcon(new TintedEngine(name, normal, disabled, beside_text));
}

} // namespace espalier
