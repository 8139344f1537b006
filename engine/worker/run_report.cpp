// SPDX-License-Identifier: Apache-2.0
#include "worker/run_report.h"

#include "io/zip_archive.h"
#include "worker/run_summary.h"

#include <QString>
#include <QSysInfo>
#include <fstream>
#include <optional>

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t longest = 2 * 1024 * 1024; // bytes of each file's end

/// The file, or of a long one the last lines; nothing where there is none.
std::optional<std::string> end_of(const fs::path& file) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    std::ifstream stream(file, std::ios::binary);
    if (error || !stream)
        return std::nullopt;
    std::string text(static_cast<std::size_t>(std::min(size, longest)), '\0');
    stream.seekg(static_cast<std::streamoff>(size - text.size()));
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (size > longest)
        text.erase(0, text.find('\n') + 1); // of the first line the beginning is missing
    return text;
}

Json about(const RunFolder& run) {
    auto summary = summarize(run).to_json();
    summary.erase("notes");
    summary.erase("tags");
    return {{"version", ESPALIER_VERSION},
            {"system", QSysInfo::prettyProductName().toStdString()},
            {"kernel", QSysInfo::kernelVersion().toStdString()},
            {"run", std::move(summary)}};
}

} // namespace

std::string run_report(const RunFolder& run) {
    run.check_is_run();
    ZipArchive archive;
    archive.add("about.json", about(run).dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
    for (const auto& file : {run.config(), run.passport(), run.faults(), run.log(), run.events()})
        if (const auto text = end_of(file))
            archive.add(file.filename().string(), *text);
    return std::move(archive).finish();
}

std::string report_name(const RunFolder& run) { return run.absolute_path().filename().string() + "-report.zip"; }

} // namespace espalier
