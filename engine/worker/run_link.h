// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace espalier {

/// supervisor.json in a run's folder: where the supervisor that owns the run listens. It may be stale: a supervisor
/// that was killed leaves it behind, so only an answer on the socket proves that one is alive.
struct RunLink {
    std::int64_t pid = 0;
    std::string socket; ///< full name of the local socket

    static constexpr const char* file = "supervisor.json";

    [[nodiscard]] static std::optional<RunLink> read(const std::filesystem::path& run);
    /// Throws Error if the file cannot be written.
    void write(const std::filesystem::path& run) const;
};

/// Whether a living supervisor owns the run: something answers on its socket.
[[nodiscard]] bool is_supervised(const std::filesystem::path& run);
/// The same, but of a run that is at work: its supervisor does not say that it pauses. What it says is true at this
/// moment, other than what stands in the run's events. One that says nothing within half a second counts as at work.
[[nodiscard]] bool is_at_work(const std::filesystem::path& run);

} // namespace espalier
