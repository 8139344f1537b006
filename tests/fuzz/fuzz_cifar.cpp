// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/cifar.h"
#include "fuzz/fuzz_target.h"

#include <algorithm>

using namespace espalier;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (std::size_t label_bytes : {1u, 2u})
        try {
            const auto part = read_cifar_file(*unpacked(bytes_of({data, size})), "input", label_bytes, 10);
            fuzz::require(part.pixels.size() == part.labels.size() * 3072, "every label has an image");
            fuzz::require(std::ranges::all_of(part.labels, [](auto label) { return label < 10; }),
                          "every label is one of a class");
            if (data[0] != 0x1f) // not packed
                fuzz::require(part.pixels.size() + part.labels.size() * label_bytes == size, "nothing is left over");
        } catch (const DataError&) {
        }
    return 0;
}
