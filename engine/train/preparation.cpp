// SPDX-License-Identifier: Apache-2.0
#include "train/preparation.h"

#include <atomic>
#include <chrono>
#include <future>

namespace espalier {
namespace {

constexpr auto progress_distance = std::chrono::milliseconds(500);

} // namespace

RunSetup set_up_answering(const RunConfig& config, const KeptPrecision& kept, RunControl& control) {
    std::atomic<bool> leaving = false;
    std::atomic<std::size_t> read = 0, images = 0;
    const WorkWatch watch{.progress =
                              [&](std::size_t done, std::size_t total) {
                                  read = done;
                                  images = total;
                              },
                          .leave = [&] { return leaving.load(); }};
    auto prepared =
        std::async(std::launch::async, [&] { return set_up_run(config, watch, ImageFilesUse::decoded, kept); });
    std::size_t told = 0;
    auto next_telling = std::chrono::steady_clock::now() + progress_distance;
    while (prepared.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        control.poll();
        leaving = control.stop_wanted();
        if (const auto now = std::chrono::steady_clock::now(); now >= next_telling && read != told) {
            told = read;
            next_telling = now + progress_distance;
            control.enter("preparing",
                          "Reading images: " + std::to_string(told) + " of " + std::to_string(images) + ".");
        }
    }
    auto setup = prepared.get();
    if (setup.backend)
        setup.backend->enter_thread();
    return setup;
}

} // namespace espalier
