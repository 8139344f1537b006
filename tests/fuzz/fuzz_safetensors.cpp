// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "fuzz/fuzz_target.h"
#include "io/safetensors.h"

using namespace espalier;

/// The input is the size of the data behind the header (4 bytes, little endian), then the header's JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4)
        return 0;
    const std::uint64_t data_bytes = data[0] | data[1] << 8 | data[2] << 16 | std::uint64_t{data[3]} << 24;
    try {
        const std::string_view json(reinterpret_cast<const char*>(data + 4), size - 4);
        const auto header = safetensors::parse_header(json, data_bytes, "input");
        std::uint64_t at = 0;
        for (const auto& entry : header.entries) {
            std::uint64_t count = 1;
            for (auto extent : entry.shape)
                count *= static_cast<std::uint64_t>(extent);
            fuzz::require(entry.begin == at && entry.end >= at, "tensors follow each other without hole or overlap");
            fuzz::require(count * safetensors::size_of(entry.type) == entry.end - entry.begin, "bytes and shape agree");
            at = entry.end;
        }
        fuzz::require(at == data_bytes, "every byte belongs to a tensor");
    } catch (const CheckpointError&) {
    }
    return 0;
}
