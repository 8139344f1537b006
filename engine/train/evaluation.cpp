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

} // namespace espalier
