// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour.h"

namespace espalier::test {

Behaviour behaviour;

void read_behaviour(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        if (word == "--version")
            behaviour.version = next();
        behaviour.refuse_start |= word == "--refuse-start";
        behaviour.flood |= word == "--flood";
        behaviour.noise |= word == "--noise";
        behaviour.mute |= word == "--mute";
        behaviour.slow_scan |= word == "--slow-scan";
        behaviour.not_utf8 |= word == "--not-utf8";
        behaviour.long_line |= word == "--long-line";
        behaviour.half_line |= word == "--half-line";
        behaviour.complain |= word == "--complain";
        if (word == "--hang-at")
            behaviour.hang_at = std::stoll(next());
        if (word == "--late-hello")
            behaviour.late_hello = std::stoll(next());
        behaviour.long_past |= word == "--long-past";
        behaviour.gpu |= word == "--gpu";
        behaviour.no_restore |= word == "--no-restore";
        behaviour.overview |= word == "--overview";
        behaviour.two_gpus |= word == "--two-gpus";
        if (word == "--fall-back-at")
            behaviour.fall_back_at = std::stoll(next());
        if (word == "--slow-plan")
            behaviour.slow_plan = std::stoll(next());
        behaviour.slow_past |= word == "--slow-past";
        if (word == "--more-runs")
            behaviour.more_runs = std::stoi(next());
        if (word == "--fail-at")
            behaviour.fail_at = std::stoll(next());
        if (word == "--crash-at")
            behaviour.crash_at = std::stoll(next());
        if (word == "--pace")
            behaviour.pace = std::stoll(next());
    }
}

} // namespace espalier::test
