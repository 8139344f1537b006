// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier {

/// How a set is cut into batches.
///
/// Evaluation takes every image once; what is left over is a smaller last batch.
///
/// Training must not end its epochs on a tiny batch: its batch norm statistics would be poor (those of a single image
/// useless) and its gradient as heavy as a full one's. So a remainder of at least half a batch is a batch of its own; a
/// smaller one is shared out: it and the last full batch become two batches of about equal size. No image is left out,
/// no batch is larger than asked for, none is smaller than half. The one exception is batch 2 with an odd number of
/// images: one image, another one each epoch, sits out.
class Batches {
public:
    enum class Use { training, evaluation };

    /// Throws ConfigError if batch < 1, or if a training batch is larger than the set (see fitted_batch).
    Batches(std::size_t images, std::int64_t batch, Use use);

    struct Range {
        std::size_t first = 0; ///< place in the epoch's order
        std::size_t count = 0;
    };
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    /// Requires 0 <= index < count().
    [[nodiscard]] Range operator[](std::int64_t index) const noexcept;
    /// The different sizes of batches, largest first: each needs a plan.
    [[nodiscard]] std::vector<std::int64_t> sizes() const;

private:
    std::size_t images_;
    std::size_t batch_;
    std::int64_t count_ = 0;
    std::size_t shared_ = 0; ///< images in the last two batches, if a remainder was shared out
};

/// What happens to the images that do not fill a batch, to be shown before training starts; empty if all batches are
/// full.
[[nodiscard]] std::string last_batch_note(std::size_t images, std::int64_t batch);

/// A batch size that the set can fill, and what to tell the user if it is not the one asked for.
struct FittedBatch {
    std::int64_t batch = 0;
    std::string note;
};
/// Makes a batch larger than the set as large as the set. Throws ConfigError if batch < 1, DataError if there are fewer
/// than 2 images.
[[nodiscard]] FittedBatch fitted_batch(std::size_t images, std::int64_t batch);

/// A permutation of 0 ... size-1 that is a function of (seed, epoch) alone.
[[nodiscard]] std::vector<std::uint32_t> epoch_order(std::size_t size, std::uint64_t seed, std::int64_t epoch);

} // namespace espalier
