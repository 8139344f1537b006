// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/image_decoder.h"
#include "data/scan.h"
#include "data/thumbnails.h"
#include "worker/requests.h"

#include <QByteArray>

namespace espalier {

Json answer_scan(const Json& arguments, const RequestContext& context) {
    const WorkWatch watch{.progress =
                              [&](std::size_t done, std::size_t total) {
                                  context.progress({{"done", done}, {"total", total}});
                              },
                          .leave = [&] { return context.stop.stop_requested(); }};
    return scan_dataset(required_text(arguments, "data"), watch).to_json();
}

Json answer_thumbnails(const Json& arguments, const RequestContext& context) {
    const auto count = whole_argument(arguments, "count", 24, 1, 1000);
    const auto side = whole_argument(arguments, "size", 64, 8, 512);
    const auto dataset = open_dataset(
        required_text(arguments, "data"),
        {.image_size = side, .watch = {.progress = {}, .leave = [&] { return context.stop.stop_requested(); }}});
    context.check();
    Json images = Json::array();
    for (const auto& thumbnail : thumbnails(*dataset, static_cast<std::size_t>(count), side)) {
        context.check();
        const auto png = encode_png(thumbnail.image);
        const QByteArray bytes(reinterpret_cast<const char*>(png.data()), static_cast<qsizetype>(png.size()));
        images.push_back(
            {{"png", bytes.toBase64().toStdString()}, {"label", thumbnail.label}, {"file", thumbnail.file}});
    }
    return {{"images", std::move(images)}};
}

} // namespace espalier
