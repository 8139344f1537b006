// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour.h"

#include <map>

namespace espalier::test {

Behaviour behaviour;

namespace {

const std::map<std::string, bool Behaviour::*> flags{{"--refuse-start", &Behaviour::refuse_start},
                                                     {"--flood", &Behaviour::flood},
                                                     {"--noise", &Behaviour::noise},
                                                     {"--mute", &Behaviour::mute},
                                                     {"--slow-scan", &Behaviour::slow_scan},
                                                     {"--not-utf8", &Behaviour::not_utf8},
                                                     {"--long-line", &Behaviour::long_line},
                                                     {"--half-line", &Behaviour::half_line},
                                                     {"--complain", &Behaviour::complain},
                                                     {"--long-past", &Behaviour::long_past},
                                                     {"--slow-past", &Behaviour::slow_past},
                                                     {"--gpu", &Behaviour::gpu},
                                                     {"--two-gpus", &Behaviour::two_gpus},
                                                     {"--overview", &Behaviour::overview},
                                                     {"--old-driver", &Behaviour::old_driver},
                                                     {"--no-smoothing", &Behaviour::no_smoothing},
                                                     {"--no-restore", &Behaviour::no_restore}};

const std::map<std::string, std::int64_t Behaviour::*> numbers{{"--more-runs", &Behaviour::more_runs},
                                                               {"--fail-at", &Behaviour::fail_at},
                                                               {"--crash-at", &Behaviour::crash_at},
                                                               {"--hang-at", &Behaviour::hang_at},
                                                               {"--pace", &Behaviour::pace},
                                                               {"--fall-back-at", &Behaviour::fall_back_at},
                                                               {"--slow-plan", &Behaviour::slow_plan},
                                                               {"--late-hello", &Behaviour::late_hello},
                                                               {"--slow-overview", &Behaviour::slow_overview},
                                                               {"--slow-thumbnails", &Behaviour::slow_thumbnails}};

} // namespace

void read_behaviour(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool more = i + 1 < argc;
        if (const auto flag = flags.find(word); flag != flags.end())
            behaviour.*flag->second = true;
        else if (const auto number = numbers.find(word); number != numbers.end() && more)
            behaviour.*number->second = std::stoll(argv[++i]);
        else if (word == "--version" && more)
            behaviour.version = argv[++i];
    }
}

} // namespace espalier::test
