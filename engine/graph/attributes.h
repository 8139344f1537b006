// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace espalier {

/// The constants of an op: comparable, so that passes can find equal ops and plans can be cached by everything that
/// decides them. Each family of ops reads them once into a struct of its own (Convolution::from, Pooling::from, ...).
class Attributes {
public:
    using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

    Attributes() = default;
    Attributes(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

    void set(const std::string& name, Value value) { values_[name] = std::move(value); }
    void erase(const std::string& name) { values_.erase(name); }
    [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }

    /// The value, or `otherwise` where the attribute is absent. Throws ConfigError if it has another type.
    [[nodiscard]] bool flag(const std::string& name, bool otherwise = false) const;
    [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t otherwise = 0) const;
    [[nodiscard]] double real(const std::string& name, double otherwise = 0.0) const;
    [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise = "") const;
    [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name,
                                                     const std::vector<std::int64_t>& otherwise = {}) const;

    /// One line, for example `groups=1 stride=[2,2]`: for logs, cache keys and error texts.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }

    friend bool operator==(const Attributes&, const Attributes&) = default;

private:
    std::map<std::string, Value> values_;
};

} // namespace espalier
