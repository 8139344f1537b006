// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/copy.h"

#include <algorithm>
#include <cstring>

namespace espalier::cpu {

namespace {

/// Where a channel of image n stands at pixel 0, in elements.
std::int64_t address(const ActivationShape& s, std::int64_t n, std::int64_t channel) {
    return (n * s.blocks() + channel / s.block) * s.plane() + channel % s.block;
}

/// Channels from `channel` on that stand next to each other.
std::int64_t run_of(const ActivationShape& s, std::int64_t channel) { return s.block - channel % s.block; }

template <class Element>
void copy_pixels(const std::byte* source, std::int64_t from, std::byte* target, std::int64_t to, std::int64_t pixels,
                 std::int64_t from_stride, std::int64_t to_stride, std::int64_t run) {
    const Element* a = reinterpret_cast<const Element*>(source) + from;
    Element* b = reinterpret_cast<Element*>(target) + to;
    if (run == from_stride && run == to_stride) {
        std::memcpy(b, a, static_cast<std::size_t>(pixels * run) * sizeof(Element));
        return;
    }
    for (std::int64_t i = 0; i < pixels; ++i) {
        for (std::int64_t k = 0; k < run; ++k) {
            b[i * to_stride + k] = a[i * from_stride + k];
        }
    }
}

} // namespace

void copy_channels(const ActivationShape& from, std::int64_t from_channel, const std::byte* source,
                   const ActivationShape& to, std::int64_t to_channel, std::byte* target, std::int64_t channels,
                   std::size_t element, int threads) {
    const int team = from.n * from.pixels() * channels < 16384 ? 1 : threads;
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t n = 0; n < from.n; ++n) {
        for (std::int64_t done = 0; done < channels;) {
            const std::int64_t run =
                std::min({channels - done, run_of(from, from_channel + done), run_of(to, to_channel + done)});
            const auto copy = element == 1 ? copy_pixels<std::uint8_t> : copy_pixels<std::uint32_t>;
            copy(source, address(from, n, from_channel + done), target, address(to, n, to_channel + done),
                 from.pixels(), from.block, to.block, run);
            done += run;
        }
    }
}

void zero_channels(const ActivationShape& shape, std::int64_t first, std::int64_t last, std::byte* target,
                   std::size_t element, int threads) {
    if (first >= last) {
        return;
    }
    const int team = shape.n * shape.pixels() * (last - first) < 16384 ? 1 : threads;
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t n = 0; n < shape.n; ++n) {
        for (std::int64_t channel = first; channel < last;) {
            const std::int64_t run = std::min(last - channel, run_of(shape, channel));
            std::byte* plane = target + static_cast<std::size_t>(address(shape, n, channel)) * element;
            const auto size = static_cast<std::size_t>(run) * element;
            for (std::int64_t i = 0; i < shape.pixels(); ++i) {
                std::memset(plane + static_cast<std::size_t>(i * shape.block) * element, 0, size);
            }
            channel += run;
        }
    }
}

} // namespace espalier::cpu
