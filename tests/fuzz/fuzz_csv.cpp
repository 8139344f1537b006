// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/csv_text.h"
#include "fuzz/fuzz_target.h"

using namespace espalier;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        std::size_t line = 0, bytes = 0;
        for (const auto& row : parse_csv({reinterpret_cast<const char*>(data), size})) {
            fuzz::require(row.line > line, "rows stand in the order of their lines");
            fuzz::require(!row.fields.empty(), "a row has a field");
            line = row.line;
            for (const auto& field : row.fields)
                bytes += field.size();
        }
        fuzz::require(bytes <= size, "nothing is made up");
    } catch (const DataError&) {
    }
    return 0;
}
