// SPDX-License-Identifier: Apache-2.0
#include "worker/console.h"

#include "base/counted.h"
#include "worker/protocol.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace espalier {
namespace {

using protocol::is_event;
using protocol::number_at;
using protocol::text_at;

constexpr double smoothing = 0.98;
constexpr std::chrono::milliseconds redraw_every(100);

std::string percent(double fraction) { return Console::fixed(100 * fraction, 1) + " %"; }

/// What a rung of the ladder changes, for people.
std::string rung_name(std::string rung) {
    if (rung == "cpu")
        return "backend";
    if (rung == "cuda_graphs")
        return "CUDA graphs";
    std::ranges::replace(rung, '_', ' ');
    return rung;
}

std::int64_t whole(const Json& event, const char* key) { return protocol::whole_at(event, key); }

} // namespace

Console::Console(Print print, bool terminal, int columns)
    : print_(std::move(print)), terminal_(terminal), columns_(columns) {}

std::string Console::fixed(double value, int digits) {
    if (!std::isfinite(value))
        return protocol::number(value).get<std::string>();
    std::array<char, 400> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits).ptr;
    return {text.data(), end};
}

std::string Console::scientific(double value) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 1).ptr;
    return {text.data(), end};
}

std::string Console::clock_text(double seconds) {
    if (!(seconds >= 0 && seconds < 1e9))
        return "?";
    const auto total = std::llround(seconds);
    const auto two = [](long long value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    if (total < 3600)
        return std::to_string(total / 60) + ":" + two(total % 60);
    return std::to_string(total / 3600) + ":" + two(total / 60 % 60) + ":" + two(total % 60);
}

std::string Console::bytes_text(double bytes) {
    for (const char* unit : {"B", "KiB", "MiB", "GiB"}) {
        if (bytes < 1024)
            return fixed(bytes, *unit == 'B' ? 0 : 1) + " " + unit;
        bytes /= 1024;
    }
    return fixed(bytes, 1) + " TiB";
}

std::string Console::count_text(std::int64_t count) {
    auto text = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string Console::count_text(std::int64_t count, const std::string& one, const std::string& many) {
    return count_text(count) + " " + plural(count, one, many);
}

void Console::show(const Json& event) {
    if (event.contains("continued"))
        return;
    if (is_event(event, "steps"))
        return show_steps(event);
    if (is_event(event, "plan"))
        return show_plan(event);
    if (is_event(event, "phase"))
        return show_phase(event);
    if (is_event(event, "epoch")) {
        line("Epoch " + std::to_string(whole(event, "epoch")) + "/" + std::to_string(epochs_) + ": loss " +
             fixed(number_at(event, "loss"), 4) + ", accuracy " + percent(number_at(event, "accuracy")) + ", " +
             fixed(number_at(event, "images_per_second"), 0) + " images/s, " + clock_text(number_at(event, "seconds")));
    } else if (is_event(event, "evaluation")) {
        line("  " + text_at(event, "set") + ": loss " + fixed(number_at(event, "loss"), 4) + ", accuracy " +
             percent(number_at(event, "accuracy")) + (protocol::flag_at(event, "best") ? " (best)" : ""));
    } else if (is_event(event, "warning")) {
        line("Warning: " + text_at(event, "text"));
    } else if (is_event(event, "error")) {
        line("Error: " + text_at(event, "text"));
    } else if (is_event(event, "fallback")) {
        line("Fallback: " + rung_name(text_at(event, "rung")) + " " + text_at(event, "from") + " -> " +
             text_at(event, "to") + ". " + text_at(event, "reason"));
    } else if (is_event(event, "superseded")) {
        line("Going on from step " + count_text(whole(event, "from_step")) + "; later steps are taken again.");
        step_ = whole(event, "from_step");
    }
}

void Console::show_plan(const Json& event) {
    epochs_ = whole(event, "epochs");
    steps_per_epoch_ = whole(event, "steps_per_epoch");
    batch_ = whole(event, "batch");
    const auto memory = event.value("memory", Json::object());
    line(count_text(whole(event, "parameters"), "parameter") + ", " + bytes_text(number_at(memory, "total")) +
         " of memory, batch " + std::to_string(batch_) + ", " + counted(epochs_, "epoch") + " of " +
         count_text(steps_per_epoch_, "step") + " on " + text_at(event, "device", text_at(event, "backend")) + ", " +
         text_at(event, "precision", "fp32"));
    for (const auto& note : event.value("notes", Json::array()))
        if (note.is_string())
            line("Note: " + note.get<std::string>());
}

void Console::show_steps(const Json& event) {
    const auto smooth = [this](double& mean, double value) {
        mean = seen_steps_ ? smoothing * mean + (1 - smoothing) * value : value;
    };
    const auto values = [&](const char* key) { return event.value(key, Json::array()); };
    const auto loss = values("loss"), accuracy = values("accuracy"), seconds = values("seconds");
    for (std::size_t i = 0; i < loss.size(); ++i) {
        smooth(loss_, protocol::to_double(loss[i]));
        if (i < accuracy.size())
            smooth(accuracy_, protocol::to_double(accuracy[i]));
        if (i < seconds.size())
            smooth(step_seconds_, protocol::to_double(seconds[i]));
        seen_steps_ = true;
    }
    step_ = protocol::last_step(event);
    draw_bar();
}

void Console::show_phase(const Json& event) {
    const auto phase = text_at(event, "phase");
    const auto reason = text_at(event, "reason");
    const bool worth_a_line = phase == "paused" || phase == "finished" || phase == "stopped" || phase == "failed" ||
                              phase == "interrupted" || !reason.empty();
    if (worth_a_line && (phase != phase_ || !reason.empty())) {
        auto text = phase;
        if (!text.empty())
            text.front() = static_cast<char>(text.front() - 'a' + 'A');
        line(reason.empty() ? text + "." : text + ": " + reason);
    }
    phase_ = phase;
}

void Console::draw_bar() {
    const auto now = Clock::now();
    const auto total = epochs_ * steps_per_epoch_;
    if (!terminal_ || now - last_drawn_ < redraw_every || total <= 0)
        return;
    last_drawn_ = now;

    const auto in_epoch = step_ > 0 ? (step_ - 1) % steps_per_epoch_ + 1 : 0;
    const auto epoch = step_ > 0 ? (step_ - 1) / steps_per_epoch_ + 1 : 1;
    const auto left = static_cast<double>(std::max<std::int64_t>(0, total - step_));
    const double rate = step_seconds_ > 0 ? static_cast<double>(batch_) / step_seconds_ : 0;
    const auto before = std::to_string(epoch) + "/" + std::to_string(epochs_) + " ";
    const auto after = " " + percent(static_cast<double>(step_) / static_cast<double>(total)) + "  loss " +
                       fixed(loss_, 3) + "  acc " + percent(accuracy_) + "  " + fixed(rate, 0) + "/s  ETA " +
                       clock_text(left * step_seconds_);
    const auto room = columns_ - 1 - static_cast<int>(before.size() + after.size()) - 2;
    std::string bar;
    if (room >= 5) {
        const auto filled = static_cast<std::size_t>(room * in_epoch / steps_per_epoch_);
        bar = "[" + std::string(filled, '=') + std::string(static_cast<std::size_t>(room) - filled, ' ') + "]";
    }
    print_bar(before + bar + after);
}

void Console::show_reading(double share) {
    if (terminal_)
        print_bar("Reading the run's events: " + percent(share));
}

void Console::print_bar(std::string text) {
    text.resize(std::min(text.size(), static_cast<std::size_t>(columns_ - 1)));
    const auto length = text.size();
    if (length < bar_length_)
        text.append(bar_length_ - length, ' ');
    bar_length_ = length;
    print_("\r" + text);
}

void Console::line(const std::string& text) {
    if (bar_length_ > 0)
        print_("\r" + std::string(bar_length_, ' ') + "\r");
    bar_length_ = 0;
    print_(text + "\n");
}

void Console::finish() {
    if (bar_length_ > 0)
        print_("\n");
    bar_length_ = 0;
}

} // namespace espalier
