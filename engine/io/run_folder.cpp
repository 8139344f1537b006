// SPDX-License-Identifier: Apache-2.0
#include "io/run_folder.h"

#include "base/atomic_file.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/user_folders.h"
#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <string_view>
#include <system_error>

namespace espalier {

namespace fs = std::filesystem;

namespace {

std::string timestamp() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
#ifdef _WIN32
    localtime_s(&local, &now);
#else
    localtime_r(&now, &local);
#endif
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local); // digits alone: the same in every locale
    return text.data();
}

/// Names that Windows keeps for devices, with or without an extension.
bool is_device_name(std::string name) {
    name = name.substr(0, name.find('.'));
    for (char& c : name) {
        c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; // not toupper: a Turkish locale changes i
    }
    static const std::array<std::string, 4> whole{"CON", "PRN", "AUX", "NUL"};
    const bool numbered =
        name.size() == 4 && (name.starts_with("COM") || name.starts_with("LPT")) && name[3] >= '0' && name[3] <= '9';
    return numbered || std::ranges::find(whole, name) != whole.end();
}

[[noreturn]] void refuse_name(const std::string& name, const std::string& reason) {
    throw ConfigError("The name \"" + name + "\" cannot be used for a run: it " + reason + ". Choose another one.");
}

/// A path is told in JSON, and to other programs as text.
void check_path(const fs::path& path) {
    if (!is_utf8(path.string()))
        throw ConfigError("The folder of a run must have a path in UTF-8, but " + path.string() +
                          " is none. Choose another one with ESPALIER_RUNS or --out.");
}

} // namespace

fs::path default_runs_root() {
    if (const std::string set = environment("ESPALIER_RUNS"); !set.empty()) {
        return set;
    }
#ifdef _WIN32
    if (const std::string data = environment("LOCALAPPDATA"); !data.empty()) {
        return fs::path(data) / "espalier" / "runs";
    }
#else
    // The XDG rules: a relative path in the variable does not count.
    if (const std::string data = environment("XDG_DATA_HOME"); data.starts_with('/')) {
        return fs::path(data) / "espalier" / "runs";
    }
    if (const std::string home = environment("HOME"); !home.empty()) {
        return fs::path(home) / ".local" / "share" / "espalier" / "runs";
    }
#endif
    throw ConfigError("There is no home folder to keep runs in. Set ESPALIER_RUNS to a folder.");
}

void check_run_name(const std::string& name) {
    constexpr std::size_t longest = 100;
    if (!is_utf8(name)) {
        throw ConfigError("The name of a run must be UTF-8 text.");
    }
    if (name.size() > longest) {
        refuse_name(name,
                    "has " + std::to_string(name.size()) + " bytes and at most " + std::to_string(longest) + " fit");
    }
    for (const char c : name) {
        if (static_cast<unsigned char>(c) < 32 || c == 127) {
            throw ConfigError("The name of a run must not have control characters such as a line break.");
        }
        if (std::string_view("<>:\"/\\|?*").find(c) != std::string_view::npos) {
            refuse_name(name, std::string("has the character ") + c + ", which file names of some systems cannot have");
        }
    }
    if (name.ends_with('.') || name.ends_with(' ') || name.starts_with(' ')) {
        refuse_name(name, "begins or ends with a space, or ends with a dot, which some systems drop");
    }
    if (is_device_name(name)) {
        refuse_name(name, "is kept for a device by Windows");
    }
}

RunFolder RunFolder::create(const fs::path& root, const std::string& name) {
    check_run_name(name);
    check_path(root);
    std::error_code error;
    fs::create_directories(root, error);
    const std::string stem = timestamp() + (name.empty() ? "" : "-" + name);
    constexpr int most = 1000;
    for (int number = 1; number <= most; ++number) {
        const std::string numbered = stem + (number == 1 ? "" : "-" + std::to_string(number));
        const fs::path path = root / std::u8string(numbered.begin(), numbered.end());
        // create_directory says whether this call made it: of two programs only one is told yes.
        if (fs::create_directory(path, error)) {
            return RunFolder(path);
        }
        if (error) {
            throw Error("The folder " + path.string() + " cannot be made: " + error.message() + ". " +
                        remedy_for(error) + " The place is chosen with ESPALIER_RUNS or --out.");
        }
    }
    throw Error("There are more than " + counted(most, "run") + " called " + stem + " in " + root.string() + ".");
}

RunFolder RunFolder::create_at(const fs::path& path) {
    check_path(path);
    std::error_code error, ignored;
    fs::create_directories(path, error);
    if (!fs::is_directory(path, ignored)) {
        if (!error) {
            error = std::make_error_code(std::errc::not_a_directory);
        }
        throw Error("The folder " + path.string() + " cannot be made: " + error.message() + ". " + remedy_for(error),
                    error == std::errc::not_a_directory ? ExitCode::bad_configuration : ExitCode::failed);
    }
    RunFolder run(path);
    const bool empty = fs::is_empty(path, error);
    // Of two programs that find it empty at the same instant, one makes this folder and is told so.
    const bool ours = empty && fs::create_directory(run.checkpoints(), error);
    if (error) {
        throw Error("The folder " + path.string() + " cannot be used: " + error.message() + ". " + remedy_for(error));
    }
    if (!ours) {
        throw ConfigError("The folder " + path.string() +
                          " is not empty: a new run needs one of its own. Choose another, or resume that run.");
    }
    return run;
}

fs::path RunFolder::absolute_path() const { return RunFolder(fs::absolute(path_).lexically_normal()).path(); }

bool RunFolder::is_run() const {
    std::error_code ignored;
    return fs::is_regular_file(config(), ignored);
}

void RunFolder::check_is_run() const {
    if (!is_run()) {
        throw ConfigError("There is no run in " + path_.string() + ": a run's folder holds a config.json.");
    }
}

std::string RunFolder::name() const {
    for (const auto& file : {notes(), config()}) {
        const auto json = read_object(file);
        if (const auto name = json.find("name"); name != json.end() && name->is_string() && *name != "") {
            return name->get<std::string>();
        }
    }
    return path_.filename().string();
}

Json RunFolder::read_notes() const {
    std::error_code ignored;
    return fs::exists(notes(), ignored) ? read_json(notes())
                                        : Json({{"name", ""}, {"tags", Json::array()}, {"notes", ""}});
}

void RunFolder::write_notes(const Json& json) const {
    const bool sound = json.is_object() && json.value("name", Json("")).is_string() &&
                       json.value("notes", Json("")).is_string() && json.value("tags", Json::array()).is_array();
    if (!sound) {
        throw ConfigError(
            "Notes of a run must be an object with \"name\" (text), \"tags\" (list) and \"notes\" (text).");
    }
    write_json(notes(), json);
}

std::optional<RunFolder> run_around(const fs::path& file) {
    for (auto folder = fs::absolute(file).parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
        if (RunFolder(folder).is_run()) {
            return RunFolder(folder);
        }
    }
    return std::nullopt;
}

std::vector<RunFolder> runs_in(const fs::path& root) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
        if (RunFolder(it->path()).is_run()) {
            paths.push_back(it->path());
        }
    }
    std::ranges::sort(paths, std::greater{});
    return {paths.begin(), paths.end()};
}

Json read_json(const fs::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) {
        throw Error("The file " + path.string() + " cannot be read: " +
                    (errno != 0 ? std::generic_category().message(errno) : "the system does not say why") + ".");
    }
    try {
        return Json::parse(text);
    } catch (const Json::exception& error) {
        std::string_view reason = error.what(); // behind the name of the exception
        if (const auto end = reason.find("] "); reason.starts_with('[') && end != std::string_view::npos)
            reason.remove_prefix(end + 2);
        throw ConfigError("The file " + path.string() + " holds no JSON: " + std::string(reason) + ".");
    }
}

Json read_object(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    auto json = Json::parse(file, nullptr, false);
    return json.is_object() ? json : Json::object();
}

void write_json(const fs::path& path, const Json& json, FileOperations& operations) {
    write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", operations);
}

} // namespace espalier
