// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"
#include "plan/backend.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace espalier {

/// One device of a backend, as a person tells it from others.
struct DeviceDescription {
    std::string name; ///< "NVIDIA H100 80GB HBM3"
    std::string uuid;
    std::string compute_capability; ///< "9.0"
    std::string driver;             ///< "580.95.05"
    std::string library;            ///< "cuDNN 9.19.0"
    std::size_t memory_bytes = 0;
    std::size_t free_bytes = 0; ///< when it was asked
    Support usable;
};

/// A backend that this program may use.
struct BackendDefinition {
    std::string name;        ///< "cpu", "cuda", "reference"
    std::string description; ///< one line for people
    int preference = 0;      ///< "auto" tries the highest first; below 0: only when asked for by name
    std::function<std::unique_ptr<Backend>(const BackendOptions&)> make;
    /// Whether it can be made on this machine, as far as can be said without touching another device than the one that
    /// the options name. Never throws. Empty: always.
    std::function<Support(const BackendOptions&)> available;
    /// Every device, each tried. Never throws. Empty: the backend is the processor.
    std::function<std::vector<DeviceDescription>()> devices;
    std::vector<std::string> precisions{"fp32"}; ///< that it computes in, the usual one first
};

/// Whether a backend can be used here, and why not.
struct BackendStatus {
    std::string name;
    std::string description;
    Support available;
    std::vector<DeviceDescription> devices;
    std::vector<std::string> precisions;
};

/// Backends by name.
class BackendRegistry {
public:
    /// A backend that may have to be opened: nothing of its library runs before it is asked for.
    class Entry {
    public:
        explicit Entry(BackendDefinition definition);
        /// `open` may be called by any thread, once.
        Entry(std::string name, std::string description, int preference, std::function<BackendDefinition()> open);

        [[nodiscard]] const BackendDefinition& definition() const;

        std::string name, description; ///< known without opening it
        int preference = 0;

    private:
        struct Opened;
        std::shared_ptr<Opened> opened_;
    };

    static BackendRegistry& instance();
    /// Throws ConfigError if the name is taken.
    void add(Entry entry);
    void add(BackendDefinition definition) { add(Entry(std::move(definition))); }
    /// Throws ConfigError listing the names if there is none of that name.
    [[nodiscard]] const BackendDefinition& find(const std::string& name) const;
    /// The most preferred first.
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

private:
    std::vector<Entry> entries_;
};

/// Adds every backend that is linked in; may be called again.
void register_all_backends();

/// Every backend, the most preferred first, with the reason of each that is not available. Those named in `unusable`
/// are not asked: the reason is known.
[[nodiscard]] std::vector<BackendStatus> available_backends(const std::map<std::string, std::string>& unusable = {});

/// A backend and perhaps one of its devices: "cuda", "cuda:0", "cuda:GPU-1b2c..." (BackendOptions::device).
struct BackendChoice {
    std::string name, device;
};
[[nodiscard]] BackendChoice parse_backend(const std::string& text);

/// `name` may name a device, as parse_backend() has it. Throws ConfigError for an unknown name, and with the reason if
/// it is not available here; DeviceError if its device refuses.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const std::string& name, const BackendOptions& options);

/// The first op of the graph that the backend refuses, with its reason; yes if it runs them all.
[[nodiscard]] Support supports_all(const Backend& backend, const Graph& graph);

/// The backend of that name (and device), or for "auto" the most preferred one that is available and supports every op
/// of `graph`. Throws ConfigError with every backend's reason if none does.
[[nodiscard]] std::unique_ptr<Backend> choose_backend(const std::string& name, const Graph& graph,
                                                      const BackendOptions& options);

} // namespace espalier
