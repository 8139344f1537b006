// SPDX-License-Identifier: Apache-2.0
#include "nn/initial_values.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace espalier {

namespace {

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// Random bits as a function of a stream and a position in it.
class Stream {
public:
    Stream(std::uint64_t seed, const std::string& name) {
        std::uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
        for (const char c : name) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        }
        key_ = mixed(hash + mixed(seed + golden));
    }

    /// Uniform in (0, 1), never 0: its logarithm is finite.
    [[nodiscard]] double uniform(std::uint64_t position) const {
        return (static_cast<double>(mixed(key_ + (position + 1) * golden) >> 11) + 0.5) * 0x1p-53;
    }

    [[nodiscard]] double normal(std::uint64_t position) const {
        const double radius = std::sqrt(-2.0 * std::log(uniform(2 * position)));
        return radius * std::cos(2.0 * std::numbers::pi * uniform(2 * position + 1));
    }

private:
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
    std::uint64_t key_ = 0;
};

/// One where the first two indices are equal (at the first place of a window), zero elsewhere: a 1x1 convolution that
/// passes the channels it has.
std::vector<float> identity(const Shape& shape, const std::string& name) {
    if (shape.rank() < 2) {
        throw ConfigError("The parameter " + name + " of shape " + shape.text() +
                          " cannot start as an identity: it needs two dimensions.");
    }
    std::vector<float> values(static_cast<std::size_t>(shape.count()), 0.0f);
    const std::int64_t inner = shape.count() / std::max<std::int64_t>(shape[0] * shape[1], 1);
    for (std::int64_t i = 0; i < std::min(shape[0], shape[1]); ++i) {
        values[static_cast<std::size_t>((i * shape[1] + i) * inner)] = 1.0f;
    }
    return values;
}

} // namespace

std::vector<float> initial_values(const Initializer& initializer, const Shape& shape, std::uint64_t seed,
                                  const std::string& name) {
    if (initializer.kind == Initializer::Kind::identity) {
        return identity(shape, name);
    }
    const Stream stream(seed, name);
    const double value = initializer.value;
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        switch (initializer.kind) {
        case Initializer::Kind::kaiming_normal:
            values[i] = static_cast<float>(std::sqrt(2.0 / value) * stream.normal(i));
            break;
        case Initializer::Kind::normal:
            values[i] = static_cast<float>(value * stream.normal(i));
            break;
        case Initializer::Kind::uniform:
            values[i] = static_cast<float>(value * (2.0 * stream.uniform(i) - 1.0));
            break;
        default:
            values[i] = static_cast<float>(value);
            break;
        }
    }
    return values;
}

} // namespace espalier
