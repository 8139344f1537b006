// SPDX-License-Identifier: Apache-2.0
#include "plan/recording_check.h"

#include "base/error.h"
#include "base/faults.h"
#include "plan/host_values.h"

#include <cmath>
#include <cstring>
#include <sstream>
#include <vector>

namespace espalier {
namespace {

constexpr double most_of_one = 0.1, most_of_all = 0.01;
/// Of a value: what rounding alone may do to a change that is small next to it.
constexpr double rounding = 1e-6;

/// A tensor that a step leaves behind.
struct Result {
    const Value& value;
    std::byte* address;
    std::vector<std::byte> state;        ///< before, as it lies there; empty for what is computed anew
    std::vector<float> before, replayed; ///< in row-major order

    [[nodiscard]] std::vector<float> read(Backend& backend) const {
        std::vector<std::byte> host(host_bytes(value.tensor));
        backend.download(value.tensor, value.layout, address, host.data());
        return from_host_values(value.tensor, host);
    }
    [[nodiscard]] std::string name() const {
        return value.tensor.name.empty() ? "a result of the step" : "'" + value.tensor.name + "'";
    }
};

/// Squared 2-norms.
struct Distance {
    double between = 0; ///< replayed and launched
    double change = 0;  ///< before and launched
    double size = 0;    ///< launched

    [[nodiscard]] bool beyond(double share) const {
        return !(std::sqrt(between) <= share * std::sqrt(change) + rounding * std::sqrt(size));
    }
    void add(const Distance& other) {
        between += other.between;
        change += other.change;
        size += other.size;
    }
};

/// Numbers that are not finite count only where one of the two is finite.
Distance distance(const Result& result, const std::vector<float>& launched) {
    const auto square = [](double x) { return x * x; };
    Distance sum;
    for (std::size_t i = 0; i < launched.size(); ++i) {
        const double a = result.replayed[i], b = launched[i];
        if (!std::isfinite(a) && !std::isfinite(b))
            continue;
        sum.between += square(a - b);
        sum.change += square(b - (result.before.empty() ? 0.0 : static_cast<double>(result.before[i])));
        sum.size += square(b);
    }
    return sum;
}

std::string told(const std::string& name, const Distance& found) {
    std::ostringstream text;
    text << "The recorded step leaves other values in " << name << " than its kernels one by one: they differ by "
         << std::sqrt(found.between) << ", where the step changes them by " << std::sqrt(found.change) << ".";
    return text.str();
}

std::string compare(Backend& backend, const std::vector<Result>& results, bool exact) {
    Distance all;
    for (const auto& result : results) {
        const auto launched = result.read(backend);
        if (std::memcmp(launched.data(), result.replayed.data(), launched.size() * sizeof(float)) == 0)
            continue;
        const auto found = distance(result, launched);
        if (exact || found.beyond(most_of_one))
            return told(result.name(), found);
        all.add(found);
    }
    return all.beyond(most_of_all) ? told("all parameters and buffers", all) : std::string();
}

} // namespace

std::string check_recording(Backend& backend, Executor& executor, bool exact) {
    std::vector<Result> results;
    for (const auto id : executor.results()) {
        const auto& value = executor.program().values[static_cast<std::size_t>(id)];
        auto& result = results.emplace_back(Result{value, executor.address(id), {}, {}, {}});
        if (value.place != Value::Place::persistent)
            continue;
        result.state = download_bytes(backend, result.address, value.layout.bytes);
        result.before = result.read(backend);
    }
    faults::before_launch(); // an injected fault is of the device, not of the recording
    std::string fault;
    try {
        executor.replay();
        for (auto& result : results)
            result.replayed = result.read(backend);
    } catch (const Error& error) {
        fault = std::string("The recorded step failed: ") + error.what();
    }
    for (const auto& result : results)
        if (!result.state.empty())
            upload_bytes(backend, result.state, result.address);
    executor.run(false, {});
    return fault.empty() ? compare(backend, results, exact) : fault;
}

} // namespace espalier
