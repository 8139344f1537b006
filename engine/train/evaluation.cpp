// SPDX-License-Identifier: Apache-2.0
#include "train/evaluation.h"

#include <algorithm>

namespace espalier {

std::optional<Totals> evaluate(NetworkSession& network, Loader& loader, const std::function<bool()>& leave,
                               const Interrupt& interrupt) {
    Totals totals;
    loader.start(0, 0, 1);
    for (;;) {
        if ((leave && leave()) || !loader.wait(interrupt)) {
            loader.stop();
            return std::nullopt;
        }
        const Batch* batch = loader.next();
        if (!batch)
            return totals;
        const auto result = network.evaluate({batch->images, batch->labels}, interrupt);
        if (!result) {
            loader.stop();
            return std::nullopt;
        }
        const auto images = static_cast<double>(batch->count);
        totals.loss += result->loss * images;
        totals.correct += result->correct;
        totals.images += images;
    }
}

std::vector<std::int64_t> confusion_matrix(NetworkSession& network, Loader& loader, std::int64_t classes) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(classes * classes), 0);
    loader.start(0, 0, 1);
    while (const Batch* batch = loader.next()) {
        const auto probabilities = network.probabilities(batch->images, batch->count);
        for (std::int64_t i = 0; i < batch->count; ++i) {
            const auto row = probabilities.begin() + i * classes;
            const auto predicted = std::max_element(row, row + classes) - row;
            ++counts[static_cast<std::size_t>(batch->labels[static_cast<std::size_t>(i)] * classes + predicted)];
        }
    }
    return counts;
}

} // namespace espalier
