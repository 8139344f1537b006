// SPDX-License-Identifier: Apache-2.0
#include "backends/plugin.h"

#include "base/error.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace espalier {
namespace {

namespace fs = std::filesystem;

BackendDefinition unavailable(const std::string& name, const std::string& description, std::string reason) {
    return {name, description, plugin_preference,
            [reason](const BackendOptions&) -> std::unique_ptr<Backend> { throw DeviceError(reason); },
            [reason](const BackendOptions&) { return Support::no(reason); }};
}

std::vector<fs::path> places(const std::string& name) {
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error);
    if (error)
        return {};
    const auto file = "libespalier-" + name + ".so";
    return {program.parent_path() / file, program.parent_path().parent_path() / "lib" / "espalier" / file};
}

/// The message of dlopen for a person: which library is missing, and what brings it.
std::string explain(const std::string& message) {
    if (message.find("libcudnn") != std::string::npos)
        return "The GPU engine needs cuDNN 9, which is not installed (package libcudnn9-cuda-13, about 0.5 GB): " +
               message + ".";
    return "The GPU engine cannot be opened: " + message + ".";
}

/// Whether the file ends before it should, as after a disk that was full. Such a library opens, and kills the process
/// that reads where nothing is. False for what is no library.
bool is_cut_off(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    ElfW(Ehdr) header{};
    const auto read = [&](auto& part, std::uint64_t at) {
        stream.seekg(static_cast<std::streamoff>(at));
        return bool(stream.read(reinterpret_cast<char*>(&part), sizeof part));
    };
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error || !read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32)) // of another machine
        return false;
    const auto beyond = [size](std::uint64_t at, std::uint64_t bytes) { return at > size || bytes > size - at; };
    if (beyond(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize)) // stands at the end, mostly
        return true;
    for (unsigned i = 0; i < header.e_phnum; ++i)
        if (ElfW(Phdr) part{};
            !read(part, header.e_phoff + std::uint64_t{i} * header.e_phentsize) || beyond(part.p_offset, part.p_filesz))
            return true;
    return false;
}

} // namespace

BackendDefinition plugin_backend_at(const std::string& path, const std::string& name, const std::string& description) {
    if (is_cut_off(path))
        return unavailable(name, description, path + " is cut off. Install the program again.");
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* message = dlerror();
        return unavailable(name, description, explain(message != nullptr ? message : path));
    }
    const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, plugin_entry));
    if (entry == nullptr)
        return unavailable(name, description, path + " is not a plug-in of Espalier. Install the program again.");
    const auto* plugin = entry();
    if (plugin->abi != plugin_abi)
        return unavailable(name, description,
                           path + " speaks interface " + std::to_string(plugin->abi) + ", this program " +
                               std::to_string(plugin_abi) + ". Install both from one release.");
    if (std::string(plugin->build) != ESPALIER_PLUGIN_BUILD)
        return unavailable(name, description,
                           path + " was built as \"" + plugin->build + "\", this program as \"" +
                               ESPALIER_PLUGIN_BUILD + "\". Install both from one release.");
    return plugin->definition();
}

BackendDefinition plugin_backend(const std::string& name, const std::string& description) {
    for (const auto& path : places(name))
        if (std::error_code error; fs::exists(path, error))
            return plugin_backend_at(path.string(), name, description);
    return unavailable(name, description,
                       "The engine for " + description + "s is not installed (libespalier-" + name + ".so).");
}

} // namespace espalier
