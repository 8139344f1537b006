// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <cstdint>
#include <string>

namespace espalier::test {

/// How the stand-in is to be, faults among it that a real engine should never show:
///     --version 2.0        another protocol
///     --refuse-start       every start is an error
///     --fail-at STEP       the run fails there
///     --crash-at STEP      the whole process ends there, without a word
///     --flood              20 lines a second of 5,000 steps each
///     --pace N             N steps a line (default 3), 20 lines a second
///     --noise              lines that are no JSON in between
///     --not-utf8           a warning of a run names a file in another encoding
///     --long-line          a line of 10 MB in between
///     --half-line          with --crash-at: the last line is cut off
///     --complain           its standard error is flooded
///     --hang-at STEP       the whole process stands still there
///     --slow-scan          a scan goes through 200,000 files until it is cancelled; others say how many do so
///     --late-hello MS      it says hello so late, and other things before
///     --mute               answers nothing
///     --gpu                it has an H100
///     --two-gpus           it has two cards of one name, an old one, and a processor on which all takes ten times as
///     long
///     --old-driver         it has a card whose driver is too old, and a processor
///     --fall-back-at STEP  there the engine turns recomputation on by itself
///     --slow-thumbnails MS images of a data set come so long after they were asked for
///     --slow-plan MS       the rest of the fit check comes so long after its quick part
///     --long-past          the newest run of before has 8,000 epochs and 3,000 layers
///     --more-runs N        N more finished runs of before
///     --overview           the newest run of before is so long that its overview alone ever comes
///     --slow-overview MS   finer buckets of it come so long after they were asked for
///     --no-smoothing       it says what it can do, and smoothing the stretches of a long run is not among it
///     --no-restore         it says what it can do, and neither bringing back a deleted run nor stretches of a long one
///     is among it
///     --slow-past          the newest run is at work, and its past does not come before it has been stopped
struct Behaviour {
    std::string version{protocol::version};
    bool refuse_start = false, flood = false, noise = false, mute = false, long_past = false, slow_past = false;
    bool slow_scan = false, not_utf8 = false, long_line = false, half_line = false, complain = false;
    bool gpu = false, two_gpus = false, overview = false, no_restore = false;
    bool old_driver = false, no_smoothing = false;
    std::int64_t more_runs = 0, fail_at = 0, crash_at = 0, pace = 3, fall_back_at = 0, slow_plan = 0, hang_at = 0,
                 late_hello = 0, slow_overview = 0, slow_thumbnails = 0;
};

/// Read once from the command line, before anything else looks at it.
extern Behaviour behaviour;
void read_behaviour(int argc, char** argv);

} // namespace espalier::test
