// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace espalier::tensorboard {

/// What TensorBoard's event files are made of: tensorflow/core/util/event.proto and framework/summary.proto, of which
/// scalars need a handful of fields, in records as tensorflow/core/lib/io/record_writer.h frames them.
struct Scalar {
    std::string tag; ///< "loss/train": the part before the slash is its group
    double value = 0;
};

/// The first message of every file. Times are seconds since 1970, UTC.
[[nodiscard]] std::string version_event(double time);
/// A session that goes on from there: TensorBoard forgets what earlier files have at this step and later.
[[nodiscard]] std::string session_start(double time, std::int64_t step);
/// Values of one step, rounded to f32 as the format has them.
[[nodiscard]] std::string scalar_event(double time, std::int64_t step, std::span<const Scalar> scalars);

/// A message with its frame: length u64, masked CRC-32C of the length, the message, masked CRC-32C of the message; all
/// little-endian.
[[nodiscard]] std::string record(std::string_view message);

} // namespace espalier::tensorboard
