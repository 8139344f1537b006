// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace espalier {

/// What holds a device's clocks down, as bits of DeviceState::throttle. That it has nothing to do is no reason.
namespace throttle {
inline constexpr unsigned power_limit = 1;   ///< it would draw more than it may
inline constexpr unsigned temperature = 2;   ///< it is too hot
inline constexpr unsigned hardware = 4;      ///< its hardware slows it down: the supply, or a signal from outside
inline constexpr unsigned set_clocks = 8;    ///< somebody has set lower clocks
inline constexpr unsigned synchronized = 16; ///< it is held to the clocks of other devices
} // namespace throttle

/// What a device says of itself at one moment; each value is absent where it does not tell (under WSL 2 many do not).
struct DeviceState {
    std::optional<double> utilisation;         ///< share of the last moments in which any kernel ran, 0 to 1
    std::optional<double> temperature;         ///< degrees Celsius
    std::optional<double> power;               ///< watts
    std::optional<double> power_limit;         ///< watts
    std::optional<double> core_clock;          ///< MHz, of the multiprocessors
    std::optional<double> memory_clock;        ///< MHz
    std::optional<unsigned> throttle;          ///< bits of espalier::throttle
    std::optional<std::size_t> process_memory; ///< bytes of device memory that this process has, libraries included
    std::optional<std::size_t> memory_used;    ///< bytes in use by all programs
    std::optional<std::size_t> memory_total;   ///< bytes
};

/// Watches a device from a thread of its own, as long as it lives.
class DeviceMonitor {
public:
    DeviceMonitor() = default;
    DeviceMonitor(const DeviceMonitor&) = delete;
    DeviceMonitor& operator=(const DeviceMonitor&) = delete;
    virtual ~DeviceMonitor() = default;
    /// The newest sample, at most about a second old; empty before the first. Never waits for the device.
    [[nodiscard]] virtual DeviceState latest() const = 0;
};

/// A device for people, and what it could do at best.
struct DeviceFacts {
    std::string name;                         ///< empty: nothing is known
    std::size_t memory = 0;                   ///< bytes of its own memory; 0: it uses the machine's
    std::map<std::string, double> peak_flops; ///< FLOP/s by precision ("fp16"); absent where the peak is not known
    /// What a run's passport says of it besides, by name: "uuid", "compute_capability", "driver", "library" ("cuDNN
    /// 9.19.0"), "instructions" ("avx512").
    std::map<std::string, std::string> identity;

    /// In that precision; 0: not known.
    [[nodiscard]] double peak(const std::string& precision) const {
        const auto found = peak_flops.find(precision);
        return found == peak_flops.end() ? 0 : found->second;
    }
};

} // namespace espalier
