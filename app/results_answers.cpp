// SPDX-License-Identifier: GPL-3.0-or-later
#include "results_answers.h"

#include "json_convert.h"

#include <cmath>
#include <functional>

namespace espalier {

namespace {

void for_each_in(const Json& answer, const char* key, const std::function<void(const Json&)>& read) {
    if (const auto list = answer.find(key); list != answer.end() && list->is_array())
        for (const Json& one : *list)
            read(one);
}

} // namespace

std::vector<ClassRow> read_classes(const Json& answer) {
    std::vector<ClassRow> rows;
    for_each_in(answer, "per_class", [&](const Json& one) {
        const auto number = [&](const char* key) { return protocol::number_at(one, key, std::nan("")); };
        rows.push_back({text_at(one, "name"), static_cast<qint64>(protocol::number_at(one, "images")),
                        number("precision"), number("recall"), number("f1")});
    });
    return rows;
}

ConfusionCounts read_counts(const Json& answer, const QStringList& names) {
    const auto size = static_cast<std::size_t>(names.size());
    ConfusionCounts counts{names, std::vector<qint64>(size * size, 0)};
    const auto limit = static_cast<double>(size);
    for_each_in(answer, "cells", [&](const Json& cell) {
        if (!cell.is_array() || cell.size() != 3)
            return;
        const double truth = protocol::to_double(cell[0]), predicted = protocol::to_double(cell[1]);
        if (truth >= 0 && predicted >= 0 && truth < limit && predicted < limit)
            counts.counts[static_cast<std::size_t>(truth) * size + static_cast<std::size_t>(predicted)] =
                static_cast<qint64>(protocol::to_double(cell[2]));
    });
    return counts;
}

std::vector<ExaminedImage> read_images(const Json& answer, const QStringList& names) {
    std::vector<ExaminedImage> images;
    for_each_in(answer, "images", [&](const Json& one) {
        const auto name = [&](const char* key) {
            const auto index = static_cast<qsizetype>(protocol::number_at(one, key, -1));
            return index >= 0 && index < names.size() ? names[index] : QString();
        };
        const QByteArray png = QByteArray::fromBase64(QByteArray::fromStdString(protocol::text_at(one, "png")));
        images.push_back({QImage::fromData(png, "PNG"), name("truth"), name("predicted"),
                          protocol::number_at(one, "probability"), text_at(one, "file")});
    });
    return images;
}

std::vector<std::pair<QString, double>> read_prediction(const Json& answer) {
    std::vector<std::pair<QString, double>> classes;
    for_each_in(answer, "classes", [&](const Json& one) {
        classes.emplace_back(text_at(one, "name"), protocol::number_at(one, "probability"));
    });
    return classes;
}

} // namespace espalier
