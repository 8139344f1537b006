// SPDX-License-Identifier: Apache-2.0
#include "io/checkpoint_folder.h"

#include "base/error.h"
#include "io/atomic_file.h"

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
    char text[32];
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
    fs::create_directories(folder_, error);
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

void CheckpointFolder::name_also(const fs::path& file, const fs::path& name, Saved& saved) {
    fs::path link = name;
    link += ".partial";
    std::error_code error;
    fs::remove(link, error);
    fs::create_hard_link(file, link, error);
    if (error) {
        fs::copy_file(file, link, fs::copy_options::overwrite_existing, error);
    }
    if (!error) {
        error = operations_.rename(link, name);
    }
    // Renaming one of two names of the same file to the other does nothing and leaves both.
    std::error_code ignored;
    fs::remove(link, ignored);
    if (error) {
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
    const std::vector<fs::path> files = step_files();
    for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(keep, 2)); i < files.size(); ++i) {
        fs::remove(files[i], ignored);
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

} // namespace espalier
