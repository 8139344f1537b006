// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// Where tests make things go wrong. In every program that people get, these functions do nothing (no_faults.cpp). The
/// tests have an espalier-train of their own, `espalier-train-faulty`, which is linked with others
/// (tests/faults/injected_faults.cpp): they read what shall happen from the file that ESPALIER_FAULTS names.
/// docs/CONTRIBUTING.md lists the faults.
namespace espalier::faults {

/// An update of a run begins. May end the process, or never come back.
void before_step(std::int64_t step);
/// A kernel is about to be launched, or a recorded step replayed. May throw DeviceError.
void before_launch();
/// Memory is about to be taken from a backend. May throw OutOfMemory.
void before_allocation(std::size_t bytes);
/// Whether the backend's kernel for ops of this kind refuses to be made ready.
[[nodiscard]] bool refuses(const std::string& kind);
/// Whether the results of the backend's kernel for ops of this kind are wrong where they are checked.
[[nodiscard]] bool spoils(const std::string& kind);
/// What the loss scale is to be set to before this update.
[[nodiscard]] std::optional<float> loss_scale_at(std::int64_t step);

/// Whether another program holds the file of this name, so that no other one may take its place.
[[nodiscard]] bool denies_rename(const std::string& name);

} // namespace espalier::faults
