// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/kernels/typed.cuh"

#include <span>

/// Many tensors in one launch: a table of addresses and sizes as a kernel parameter. Each block finds the tensor that
/// it works on by its index.
namespace espalier::cuda {

template <int addresses>
struct TableEntry {
    void* at[addresses];
    unsigned count;
    unsigned first_block : 28;
    unsigned type : 3; ///< DType of the tensor that is not f32
    unsigned flag : 1;
};

/// Parameters of a kernel may have 32,764 bytes; some are left for others.
inline constexpr std::size_t table_bytes = 32000;
/// Entries of the short table: a launch copies all of its parameters, so few tensors do not pay for many.
inline constexpr std::size_t short_table = 48;

template <int addresses, bool is_short>
struct TensorTable {
    static constexpr std::size_t capacity = is_short ? short_table : table_bytes / sizeof(TableEntry<addresses>);
    TableEntry<addresses> entries[capacity];
    int used;

    /// The last entry that begins at or before this block.
    [[nodiscard]] __device__ const TableEntry<addresses>& entry_of_block() const {
        int low = 0, high = used - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (entries[middle].first_block <= blockIdx.x)
                low = middle;
            else
                high = middle - 1;
        }
        return entries[low];
    }
};

/// Calls launch(table, blocks) for as few tables as hold all tensors; `fill(entry, tensor)` sets what differs. A block
/// works on `chunk` elements. count_of(tensor) is its number of elements.
template <int addresses, class Tensor, class Count, class Fill, class Launch>
void for_each_table(std::span<const Tensor> tensors, unsigned chunk, Count count_of, Fill fill, Launch launch) {
    const auto run = [&]<class Table>() {
        for (std::size_t at = 0; at < tensors.size();) {
            Table table;
            table.used = 0;
            unsigned blocks = 0;
            for (; at < tensors.size() && static_cast<std::size_t>(table.used) < Table::capacity; ++at) {
                auto& entry = table.entries[table.used++];
                const std::int64_t count = count_of(tensors[at]);
                entry = {};
                entry.count = static_cast<unsigned>(count);
                entry.first_block = blocks;
                fill(entry, tensors[at]);
                blocks += static_cast<unsigned>((count + chunk - 1) / chunk);
            }
            if (blocks > 0)
                launch(table, blocks);
        }
    };
    if (tensors.size() <= short_table)
        run.template operator()<TensorTable<addresses, true>>();
    else
        run.template operator()<TensorTable<addresses, false>>();
}

} // namespace espalier::cuda
