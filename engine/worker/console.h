// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace espalier {

/// Shows a run's events to a person: on a terminal a progress bar that is redrawn in place, in a pipe one plain line
/// for each epoch, evaluation and word of the run.
class Console {
public:
    using Clock = std::chrono::steady_clock;
    using Print = std::function<void(std::string_view text)>;

    Console(Print print, bool terminal, int columns = 80);

    void show(const Json& event);
    /// How much of a long past has been read, 0 to 1: on a terminal only.
    void show_reading(double share);
    /// Ends the line of a progress bar.
    void finish();

    /// "3:07", "1:02:09"
    [[nodiscard]] static std::string clock_text(double seconds);
    /// "1.2 GiB"
    [[nodiscard]] static std::string bytes_text(double bytes);
    /// 1234567 as "1,234,567"
    [[nodiscard]] static std::string count_text(std::int64_t count);
    /// "1 step", "1,234 steps" (base/counted.h)
    [[nodiscard]] static std::string count_text(std::int64_t count, const std::string& one,
                                                const std::string& many = {});
    /// Fixed digits behind the point, whatever the locale.
    [[nodiscard]] static std::string fixed(double value, int digits);
    /// Two digits and the power of ten: 1.5e-07.
    [[nodiscard]] static std::string scientific(double value);

private:
    void line(const std::string& text);
    void show_plan(const Json& event);
    void show_steps(const Json& event);
    void show_phase(const Json& event);
    void draw_bar();
    void print_bar(std::string text);

    Print print_;
    bool terminal_;
    int columns_;
    std::size_t bar_length_ = 0; ///< of the bar that stands in the last line; 0: none
    Clock::time_point last_drawn_{};

    std::string phase_;
    std::int64_t epochs_ = 0, steps_per_epoch_ = 0, batch_ = 0;
    std::int64_t step_ = 0;
    double loss_ = 0, accuracy_ = 0; ///< smoothed
    double step_seconds_ = 0;        ///< smoothed
    bool seen_steps_ = false;
};

} // namespace espalier
