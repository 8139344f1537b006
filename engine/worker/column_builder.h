// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "io/column_file.h"

#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// Makes blocks of a column file (io/column_file.h) from a run's events, in their order: steps that follow each other
/// are joined to tables, samples of resources to others, heartbeats are left out, and every other event stays the line
/// that it is; so does one whose numbers fit no table.
class ColumnBuilder {
public:
    /// A line of events.jsonl, without its LF. What is no JSON object is left out.
    void add(std::string_view line);
    /// The same for an event that has been read already.
    void add(const Json& event, std::string_view line);
    /// The payload so far; the next one begins.
    [[nodiscard]] std::string take();

private:
    [[nodiscard]] bool add_steps(const Json& event);
    [[nodiscard]] bool add_resources(const Json& event);
    void flush_steps();
    void flush_resources();

    template <typename Number>
    struct Columns {
        std::vector<std::string> names;
        std::vector<std::vector<Number>> values;
        std::size_t rows = 0;

        void put_into(ColumnTable& table) const;
        void clear() { *this = {}; }
    };

    std::string payload_;
    Columns<float> steps_;
    ColumnTable about_steps_; ///< time, step and epoch of the table to come
    Columns<double> resources_;
};

} // namespace espalier
