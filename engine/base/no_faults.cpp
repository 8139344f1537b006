// SPDX-License-Identifier: Apache-2.0
#include "base/faults.h"

// Nothing else belongs into this file: a program that brings its own definitions leaves it out of its link.
namespace espalier::faults {

void before_step(std::int64_t) {}
void before_launch() {}
void before_allocation(std::size_t) {}
bool refuses(const std::string&) { return false; }
bool spoils(const std::string&) { return false; }
std::optional<float> loss_scale_at(std::int64_t) { return std::nullopt; }
bool denies_rename(const std::string&) { return false; }

} // namespace espalier::faults
