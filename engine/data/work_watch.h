// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace espalier {

/// How long work over many images is watched and ended early. Both may be empty; both are called in the thread that
/// asked for the work.
struct WorkWatch {
    std::function<void(std::size_t done, std::size_t total)> progress; ///< now and then, and at the end
    std::function<bool()> leave; ///< asked every few milliseconds; yes ends the work with an Error of ExitCode::stopped

    /// Throws that Error if it is time to leave.
    void check() const;
};

/// Calls work(i) once for each i below `count`, on as many threads as this process may use. Rethrows the first
/// exception that `work` throws.
void for_each_image(std::size_t count, const WorkWatch& watch, const std::function<void(std::size_t)>& work);

} // namespace espalier
