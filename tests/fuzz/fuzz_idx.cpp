// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/idx.h"
#include "fuzz/fuzz_target.h"

#include <algorithm>

using namespace espalier;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (std::size_t rank : {1u, 3u})
        try {
            const auto array = read_idx(*unpacked(bytes_of({data, size})), "input", rank);
            std::int64_t count = 1;
            for (auto extent : array.extents)
                count *= extent;
            fuzz::require(array.extents.size() == rank, "the rank is the one asked for");
            fuzz::require(array.values.size() == static_cast<std::size_t>(count), "there is a value for every element");
            if (data[0] == 0) // not packed: the values are the input's last bytes, none of them filled in
                fuzz::require(
                    std::equal(array.values.rbegin(), array.values.rend(), std::make_reverse_iterator(data + size)),
                    "the values are those of the file");
        } catch (const DataError&) {
        }
    return 0;
}
