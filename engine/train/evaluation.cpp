// SPDX-License-Identifier: Apache-2.0
#include "train/evaluation.h"

#include <algorithm>
#include <deque>

namespace espalier {

std::optional<Totals> evaluate(NetworkSession& network, BatchFeed& feed, const std::function<bool()>& leave,
                               const Interrupt& interrupt) {
    Totals totals;
    std::deque<std::int64_t> images; // of the batches whose results have not been read yet
    const auto read_results = [&] {
        for (const auto& result : network.take_evaluations()) {
            const auto count = static_cast<double>(images.front());
            images.pop_front();
            totals.loss += result.loss * count;
            totals.correct += result.correct;
            totals.images += count;
        }
    };
    static_cast<void>(network.take_evaluations()); // of an evaluation that was left
    feed.start(0, 0, 1);
    for (;;) {
        if ((leave && leave()) || !feed.wait(interrupt))
            break;
        const auto batch = feed.next();
        if (!batch) {
            read_results();
            return totals;
        }
        if (!network.evaluate(*batch, interrupt))
            break;
        images.push_back(batch->size());
        if (static_cast<std::int64_t>(images.size()) == history_rows)
            read_results();
    }
    feed.stop();
    return std::nullopt;
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
