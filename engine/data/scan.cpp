// SPDX-License-Identifier: Apache-2.0
#include "data/scan.h"

#include "base/error.h"
#include "data/content_hash.h"

#include <algorithm>
#include <unordered_set>

namespace espalier {
namespace {

constexpr std::size_t progress_every = 500; // images
constexpr std::size_t imbalance = 10;       // times as many images in the largest class as in the smallest

std::string images_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " image" : " images"); }

/// What the images themselves show, gathered while they are read.
struct Findings {
    std::size_t blank = 0;                  // of one value throughout
    std::unordered_set<std::uint64_t> seen; // hashes of the training images
    std::size_t doubles = 0;                // within the training part
    std::array<std::size_t, 3> leaked{};    // images of the other parts that are in the training part, too

    void add(Part part, std::span<const std::uint8_t> image) {
        blank += std::ranges::all_of(image, [&](auto value) { return value == image[0]; });
        ContentHash hash;
        hash.add(image);
        if (part == Part::train)
            doubles += !seen.insert(hash.value()).second;
        else
            leaked[static_cast<std::size_t>(part)] += seen.count(hash.value());
    }
};

void read_part(const Dataset& set, Part part, ScanReport& report, Findings& findings,
               const std::function<void()>& tick) {
    const auto column = static_cast<std::size_t>(part);
    std::vector<std::uint8_t> image(set.image().bytes());
    for (std::size_t i = 0; i < set.size(part); ++i) {
        tick();
        try {
            set.read(part, i, image);
        } catch (const DataError& error) {
            report.bad.push_back({set.file(part, i), error.what()});
            continue;
        }
        findings.add(part, image);
        ++report.images[column];
        ++report.class_counts[static_cast<std::size_t>(set.label(part, i))][column];
    }
}

std::vector<std::string> warnings_of(const ScanReport& report, const Findings& findings) {
    std::vector<std::string> warnings;
    std::size_t largest = 0, smallest = SIZE_MAX, filled = 0;
    for (std::size_t i = 0; i < report.class_counts.size(); ++i) {
        const auto count = report.class_counts[i][0];
        if (count == 0)
            warnings.push_back("The class '" + report.info.classes[i] +
                               "' has no training image: it can never be learned.");
        else
            smallest = std::min(smallest, count), ++filled;
        largest = std::max(largest, count);
    }
    if (filled == 1)
        warnings.push_back("Only one class has images: there is nothing to tell apart.");
    if (filled > 1 && largest > imbalance * smallest)
        warnings.push_back("The classes are far from balanced: the largest has " + images_text(largest) +
                           ", the smallest " + std::to_string(smallest) + ".");
    if (findings.blank > 0)
        warnings.push_back("Of a single colour throughout: " + images_text(findings.blank) + ".");
    if (findings.doubles > 0)
        warnings.push_back("Repeated within the training part: " + images_text(findings.doubles) + ".");
    for (const auto part : {Part::validation, Part::test})
        if (const auto count = findings.leaked[static_cast<std::size_t>(part)]; count > 0)
            warnings.push_back("In the training part and in the " + std::string(name_of(part)) +
                               " part: " + images_text(count) + ". Accuracy will look a little better than it is.");
    return warnings;
}

} // namespace

ScanReport scan_dataset(const std::string& spec, const ScanProgress& progress, std::stop_token stop) {
    ScanReport report;
    std::shared_ptr<const Dataset> set;
    try {
        set = open_dataset(spec, report.bad);
    } catch (const DataError& error) {
        report.bad.push_back({spec, error.what()});
    }
    if (!set) {
        report.info.spec = spec;
        report.info.kind = spec.substr(0, spec.find(':'));
        report.warnings.emplace_back("There is no image that could be used.");
        return report;
    }

    const bool refused = !report.bad.empty();
    report.info = set->info();
    report.class_counts.resize(set->classes());
    std::size_t done = 0, total = 0;
    for (const auto part : all_parts)
        total += set->size(part);
    const auto tick = [&] {
        if (stop.stop_requested())
            throw Error("The scan of '" + spec + "' was cancelled after " + images_text(done) + ".", ExitCode::stopped);
        if (progress && done % progress_every == 0)
            progress(done, total);
        ++done;
    };
    Findings findings;
    for (const auto part : all_parts)
        read_part(*set, part, report, findings, tick);
    if (progress)
        progress(total, total);
    report.warnings = warnings_of(report, findings);
    if (refused)
        report.warnings.insert(report.warnings.begin(), "Training refuses this set until its bad files are mended.");
    return report;
}

Json ScanReport::to_json(std::size_t most_bad) const {
    Json classes = Json::array(), bad_files = Json::array(), parts = Json::array();
    for (std::size_t i = 0; i < class_counts.size(); ++i) {
        Json entry{{"name", info.classes[i]}, {"count", class_counts[i][0] + class_counts[i][1] + class_counts[i][2]}};
        for (const auto part : all_parts)
            if (images[static_cast<std::size_t>(part)] > 0)
                entry[std::string(name_of(part))] = class_counts[i][static_cast<std::size_t>(part)];
        classes.push_back(std::move(entry));
    }
    for (const auto part : all_parts)
        if (const auto count = images[static_cast<std::size_t>(part)]; count > 0)
            parts.push_back({{"name", name_of(part)}, {"images", count}});
    for (const auto& file : std::span(bad).first(std::min(most_bad, bad.size())))
        bad_files.push_back({{"file", file.file}, {"reason", file.reason}});
    return {{"data", info.spec},
            {"kind", info.kind},
            {"classes", std::move(classes)},
            {"images", total()},
            {"parts", std::move(parts)},
            {"width", info.image.width},
            {"height", info.image.height},
            {"channels", info.image.channels},
            {"bad", std::move(bad_files)},
            {"bad_count", bad.size()},
            {"warnings", warnings}};
}

std::string ScanReport::to_text() const {
    std::string text = info.spec + ": " + images_text(total());
    if (total() > 0)
        text += ", " + std::to_string(info.image.width) + " x " + std::to_string(info.image.height) + " pixels, " +
                std::to_string(info.image.channels) + (info.image.channels == 1 ? " channel" : " channels");
    text += "\n";
    for (const auto part : all_parts)
        if (const auto count = images[static_cast<std::size_t>(part)]; count > 0)
            text += "  " + std::string(name_of(part)) + ": " + std::to_string(count) + "\n";
    std::size_t widest = 0;
    for (const auto& name : info.classes)
        widest = std::max(widest, name.size());
    for (std::size_t i = 0; i < class_counts.size(); ++i) {
        text += "  " + info.classes[i] + std::string(widest - info.classes[i].size(), ' ');
        for (const auto part : all_parts)
            if (images[static_cast<std::size_t>(part)] > 0)
                text += "  " + std::to_string(class_counts[i][static_cast<std::size_t>(part)]);
        text += "\n";
    }
    for (const auto& file : bad)
        text += "bad: " + file.file + ": " + file.reason + "\n";
    for (const auto& warning : warnings)
        text += "warning: " + warning + "\n";
    return text;
}

} // namespace espalier
