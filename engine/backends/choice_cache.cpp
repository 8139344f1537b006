// SPDX-License-Identifier: Apache-2.0
#include "backends/choice_cache.h"

#include "base/atomic_file.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr int format = 2; ///< counts up whenever a choice of an older release would mean something else
constexpr std::uintmax_t most_bytes = 8 << 20;
constexpr const char* prefix = "algorithms-";
constexpr auto abandoned = std::chrono::hours(1); ///< age of a temporary file whose process has died

/// FNV-1a: the name of a file must not change between releases and machines.
std::string hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    return hex;
}

Json header_of(const std::string& device) { return {{"espalier_algorithms", format}, {"device", device}}; }

} // namespace

ChoiceCache::ChoiceCache(fs::path folder, std::string device) : device_(std::move(device)) {
    if (folder.empty())
        return;
    file_ = folder / (prefix + hash_of(header_of(device_).dump()) + ".jsonl");
    for (auto& [problem, choice] : read())
        choices_[problem] = std::move(choice);
}

std::optional<Json> ChoiceCache::find(const std::string& problem) const {
    const auto found = choices_.find(problem);
    return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void ChoiceCache::put(const std::string& problem, Json choice) {
    choices_[problem] = std::move(choice);
    new_.push_back(problem);
}

/// In the order of the file, the oldest first.
ChoiceCache::Choices ChoiceCache::read() {
    std::error_code error;
    const auto bytes = fs::file_size(file_, error);
    if (error)
        return {}; // not there
    try {
        if (bytes > most_bytes)
            throw std::runtime_error("it is far too large");
        std::ifstream stream(file_, std::ios::binary);
        std::string line;
        if (!std::getline(stream, line) || Json::parse(line) != header_of(device_))
            throw std::runtime_error("it begins otherwise");
        Choices choices;
        while (std::getline(stream, line)) {
            const auto entry = Json::parse(line);
            choices.emplace_back(entry.at("problem").get<std::string>(), entry.at("choice"));
        }
        return choices;
    } catch (const Json::exception&) {
        warn_unusable("it is damaged");
    } catch (const std::exception& fault) {
        warn_unusable(fault.what());
    }
    return {};
}

/// Once: it is read again before it is replaced.
void ChoiceCache::warn_unusable(const std::string& fault) {
    const auto text = "The timed algorithms in " + file_.string() + " cannot be used (" + fault +
                      "): they are timed anew, and the file is replaced.";
    if (std::ranges::find(warnings_, text) == warnings_.end())
        warnings_.push_back(text);
}

std::string ChoiceCache::text_of(const Choices& choices) const {
    std::ostringstream text;
    text << header_of(device_).dump() << '\n';
    for (const auto& [problem, choice] : choices)
        text << Json{{"problem", problem}, {"choice", choice}}.dump() << '\n';
    return text.str();
}

void ChoiceCache::save() {
    if (new_.empty() || file_.empty())
        return;
    auto merged = read(); // what others have found out meanwhile stays
    for (const auto& problem : new_) {
        std::erase_if(merged, [&](const auto& entry) { return entry.first == problem; });
        merged.emplace_back(problem, choices_[problem]);
    }
    if (merged.size() > most_choices)
        merged.erase(merged.begin(), merged.end() - most_choices);
    new_.clear(); // a place that cannot be written now is not tried again and again
    try {
        fs::create_directories(file_.parent_path());
        write_file_atomically(file_, text_of(merged));
        remove_old_files();
    } catch (const std::exception& fault) {
        warnings_.push_back("The timed algorithms cannot be kept for later runs: " + std::string(fault.what()));
    }
}

void ChoiceCache::remove_old_files() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(file_.parent_path(), error)) {
        const auto& path = entry.path();
        if (!path.filename().string().starts_with(prefix))
            continue;
        const auto written = entry.last_write_time(error);
        if (!AtomicFile::is_temporary(path))
            files.emplace_back(written, path);
        else if (written < fs::file_time_type::clock::now() - abandoned)
            fs::remove(path, error);
    }
    std::sort(files.rbegin(), files.rend());
    for (std::size_t i = most_files; i < files.size(); ++i)
        fs::remove(files[i].second, error);
}

} // namespace espalier
