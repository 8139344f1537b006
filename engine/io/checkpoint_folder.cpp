// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint_folder.h"

#include "base/atomic_file.h"
#include "base/error.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <tuple>

namespace espalier {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view step_prefix = "step-";
constexpr std::string_view suffix = ".safetensors";

fs::path step_name(std::int64_t step) {
    char text[48];
    std::snprintf(text, sizeof text, "step-%08lld.safetensors", static_cast<long long>(step));
    return text;
}

/// Step, and time of writing, of a step's file: "step-00000150.safetensors", or "step-00000150~1.safetensors" where the
/// first name was held. Nothing for other files.
std::optional<std::tuple<std::int64_t, fs::file_time_type>> rank_of(const fs::path& file) {
    const std::string name = file.filename().string();
    if (!name.starts_with(step_prefix) || !name.ends_with(suffix)) {
        return {};
    }
    std::int64_t step = 0;
    const char* const begin = name.data() + step_prefix.size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), step);
    if (error != std::errc{} || (*end != '.' && *end != '~')) {
        return {};
    }
    std::error_code ignored;
    return std::tuple(step, fs::last_write_time(file, ignored));
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        files.push_back(it->path());
    }
    std::ranges::sort(files);
    return files;
}

} // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, FileOperations& operations)
    : folder_(std::move(folder)), operations_(operations) {}

CheckpointFolder::Saved CheckpointFolder::save(const CheckpointInfo& info, const ParameterStore& store, bool best,
                                               std::int64_t keep) {
    const auto begin = std::chrono::steady_clock::now();
    std::error_code error;
    fs::create_directory(folder_, error); // of a run whose folder was removed nothing is made anew
    Saved saved;
    const fs::path wanted = folder_ / step_name(info.step);
    saved.file = save_checkpoint(wanted, info, store, operations_);
    saved.kinds.push_back("step");
    if (saved.file != wanted) {
        saved.warnings.push_back("The checkpoint is called " + saved.file.filename().string() +
                                 ", because another program holds " + wanted.filename().string() + ".");
    }
    saved.bytes = fs::file_size(saved.file, error);
    name_also(saved.file, last(), saved);
    if (best) {
        name_also(saved.file, this->best(), saved);
    }
    remove_old(keep);
    saved.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return saved;
}

std::error_code CheckpointFolder::link(const fs::path& file, const fs::path& name) {
    fs::path fresh = name;
    fresh += ".partial";
    std::error_code error;
    fs::remove(fresh, error);
    fs::create_hard_link(file, fresh, error);
    if (error) {
        fs::copy_file(file, fresh, fs::copy_options::overwrite_existing, error);
    }
    if (!error) {
        error = rename_patiently(fresh, name, operations_);
    }
    // Renaming one of two names of the same file to the other does nothing and leaves both.
    std::error_code ignored;
    fs::remove(fresh, ignored);
    return error;
}

void CheckpointFolder::name_also(const fs::path& file, const fs::path& name, Saved& saved) {
    if (const std::error_code error = link(file, name)) {
        saved.warnings.push_back("The file " + name.string() + " still shows an earlier checkpoint: " +
                                 error.message() + ". The newest one is " + file.string() + ".");
        return;
    }
    operations_.sync_folder(folder_);
    saved.kinds.push_back(name.stem().string());
}

std::vector<fs::path> CheckpointFolder::step_files() const {
    std::vector<fs::path> files = files_in(folder_);
    std::erase_if(files, [](const fs::path& file) { return !rank_of(file); });
    std::ranges::stable_sort(files, std::greater{}, [](const fs::path& file) { return *rank_of(file); });
    return files;
}

void CheckpointFolder::remove_old(std::int64_t keep) {
    std::error_code ignored; // a file that cannot be removed now is tried again at the next save
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(keep, 2));
    const std::vector<fs::path> files = step_files();
    for (std::size_t i = kept; i < files.size(); ++i) {
        fs::remove(files[i], ignored);
    }
    // Of what was taken back the newest written are kept, whatever their step.
    std::vector<fs::path> taken_back = files_in(superseded());
    std::erase_if(taken_back, [](const fs::path& file) { return !rank_of(file); });
    std::ranges::stable_sort(taken_back, std::greater{},
                             [](const fs::path& file) { return std::get<1>(*rank_of(file)); });
    for (std::size_t i = kept; i < taken_back.size(); ++i) {
        fs::remove(taken_back[i], ignored);
    }
    for (const fs::path& file : files_in(folder_)) {
        if (AtomicFile::is_temporary(file)) {
            fs::remove(file, ignored);
        }
    }
}

CheckpointFolder::Found CheckpointFolder::load_newest() const {
    Found found;
    for (const fs::path& file : files_in(folder_)) {
        if (AtomicFile::is_temporary(file)) {
            found.problems.push_back("The file " + file.string() + " was never finished and is not used.");
        }
    }
    std::vector<fs::path> candidates = step_files();
    for (const fs::path& further : {last(), best()}) {
        if (fs::exists(further)) {
            candidates.push_back(further);
        }
    }
    for (const fs::path& file : candidates) {
        try {
            found.checkpoint = load_checkpoint(file);
            found.file = file;
            break;
        } catch (const CheckpointError& error) {
            found.problems.push_back(error.what());
        }
    }
    return found;
}

std::vector<std::string> CheckpointFolder::names() const {
    std::vector<std::string> names;
    for (const fs::path& file : step_files()) {
        names.push_back(file.stem().string());
    }
    for (const fs::path& file : {best(), last()}) {
        if (fs::exists(file)) {
            names.push_back(file.stem().string());
        }
    }
    return names;
}

fs::path CheckpointFolder::find(const std::string& name) const {
    std::string wanted = name;
    if (wanted.ends_with(suffix)) {
        wanted.resize(wanted.size() - suffix.size());
    }
    std::int64_t step = 0;
    const auto [end, fault] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), step);
    if (fault == std::errc{} && end == wanted.data() + wanted.size() && step >= 0) {
        wanted = step_name(step).stem().string();
    }
    std::string there;
    for (const std::string& one : names()) {
        if (one == wanted) {
            return folder_ / (one + std::string(suffix));
        }
        there += (there.empty() ? "" : ", ") + one;
    }
    throw ConfigError("There is no checkpoint \"" + name + "\" in " + folder_.string() + ". " +
                      (there.empty() ? "It has none." : "There are " + there + "."));
}

void CheckpointFolder::go_back_to(const fs::path& file) {
    const auto refuse = [&](const fs::path& what, const std::error_code& error) {
        throw Error("The file " + what.string() + " cannot be put in place: " + error.message() + ".");
    };
    const std::int64_t step = read_checkpoint_info(file).step;
    fs::path of_step = file;
    if (!rank_of(file)) { // best or last, whose step's file may be gone
        of_step = folder_ / step_name(step);
        std::error_code ignored;
        if (!fs::equivalent(file, of_step, ignored)) {
            if (const std::error_code error = link(file, of_step)) {
                refuse(of_step, error);
            }
        }
    }
    std::vector<fs::path> later;
    for (const fs::path& other : step_files()) { // the newest first, so that what is left is a run's past at any moment
        if (rank_of(other) > rank_of(of_step)) {
            later.push_back(other);
        }
    }
    const auto of_later_step = [&](const fs::path& other) {
        try {
            return read_checkpoint_info(other).step > step;
        } catch (const CheckpointError&) {
            return true; // damaged: of no use either
        }
    };
    if (fs::exists(best()) && of_later_step(best())) {
        later.push_back(best());
    }
    std::error_code error;
    if (!later.empty() && !fs::create_directories(superseded(), error) && error) {
        refuse(superseded(), error);
    }
    for (const fs::path& other : later) {
        if (const std::error_code fault = rename_patiently(other, superseded() / other.filename(), operations_)) {
            refuse(superseded() / other.filename(), fault);
        }
    }
    if (const std::error_code fault = link(of_step, last())) {
        refuse(last(), fault);
    }
    operations_.sync_folder(folder_);
}

} // namespace espalier
