// SPDX-License-Identifier: Apache-2.0
#include "graph/attributes.h"

#include "base/error.h"

#include <sstream>

namespace espalier {
namespace {

template <class T>
T read(const std::map<std::string, Attributes::Value>& values, const std::string& name, const T& otherwise) {
    const auto found = values.find(name);
    if (found == values.end())
        return otherwise;
    if (const T* value = std::get_if<T>(&found->second))
        return *value;
    throw ConfigError("Attribute '" + name + "' has another type than this op reads.");
}

struct Print {
    std::ostream& out;
    void operator()(bool value) const { out << (value ? "true" : "false"); }
    void operator()(std::int64_t value) const { out << value; }
    void operator()(double value) const { out << value; }
    void operator()(const std::string& value) const { out << value; }
    void operator()(const std::vector<std::int64_t>& values) const {
        out << '[';
        for (std::size_t i = 0; i < values.size(); ++i)
            out << (i ? "," : "") << values[i];
        out << ']';
    }
};

} // namespace

bool Attributes::flag(const std::string& name, bool otherwise) const { return read(values_, name, otherwise); }

std::int64_t Attributes::integer(const std::string& name, std::int64_t otherwise) const {
    return read(values_, name, otherwise);
}

double Attributes::real(const std::string& name, double otherwise) const { return read(values_, name, otherwise); }

std::string Attributes::text(const std::string& name, const std::string& otherwise) const {
    return read(values_, name, otherwise);
}

std::vector<std::int64_t> Attributes::integers(const std::string& name,
                                               const std::vector<std::int64_t>& otherwise) const {
    return read(values_, name, otherwise);
}

std::string Attributes::text() const {
    std::ostringstream out;
    out.precision(17);
    for (const auto& [name, value] : values_) {
        out << (out.tellp() > 0 ? " " : "") << name << '=';
        std::visit(Print{out}, value);
    }
    return out.str();
}

} // namespace espalier
