// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/registry.h"

/// A backend in a library of its own, opened at run time: a machine without that hardware's libraries can do without
/// it.
namespace espalier {

/// Counts up whenever anything changes that crosses this border: Backend, Kernel, Graph, Layout, BackendDefinition.
inline constexpr int plugin_abi = 8;

/// The release, the compiler and its standard library: classes cross the border, so both sides must agree on them.
#define ESPALIER_PLUGIN_BUILD ESPALIER_VERSION " " __VERSION__

struct BackendPlugin {
    int abi = plugin_abi;
    const char* build = ESPALIER_PLUGIN_BUILD;
    BackendDefinition (*definition)() = nullptr;
};

/// Name of the one function that a plug-in exports, and its type.
inline constexpr const char* plugin_entry = "espalier_backend_plugin";
using PluginEntry = const BackendPlugin* (*)();

/// Of a plug-in's backend, for "auto".
inline constexpr int plugin_preference = 10;

/// Opens the plug-in `name` ("cuda": libespalier-cuda.so beside this program, or in ../lib/espalier from it). If it
/// cannot be opened, the definition that comes back is not available and says why in one sentence. Never throws; the
/// library stays open as long as the program.
[[nodiscard]] BackendDefinition plugin_backend(const std::string& name, const std::string& description);

/// The same for one file.
[[nodiscard]] BackendDefinition plugin_backend_at(const std::string& path, const std::string& name,
                                                  const std::string& description);

} // namespace espalier
