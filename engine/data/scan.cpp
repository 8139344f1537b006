// SPDX-License-Identifier: Apache-2.0
#include "data/scan.h"

#include "base/error.h"
#include "base/text_width.h"
#include "data/content_hash.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace espalier {
namespace {

constexpr std::size_t most_repeated = 100;
constexpr std::int64_t scanned_side = 64; // enough to tell images apart, and quick
constexpr std::size_t imbalance = 10;     // times as many images in the largest class as in the smallest

std::string images_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " image" : " images"); }

/// What one image shows.
struct Finding {
    std::uint64_t hash = 0;
    ImageShape size;
    bool blank = false; // of one value throughout
    std::string fault;
};

Finding look_at(const Dataset& set, Part part, std::size_t index) {
    Finding finding;
    std::vector<std::uint8_t> image(set.image().bytes());
    try {
        finding.size = set.inspect(part, index, image);
    } catch (const DataError& error) {
        finding.fault = error.what();
        return finding;
    }
    finding.blank = std::ranges::all_of(image, [&](auto value) { return value == image[0]; });
    ContentHash hash;
    hash.add(image);
    finding.hash = hash.value();
    return finding;
}

/// What the images show together, gathered in their order.
struct Findings {
    std::size_t blank = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> seen; // training images by the hash of their pixels
    std::vector<ScanReport::Repeated> torn;                // between two classes: the first ones
    std::size_t torn_count = 0;
    std::size_t doubles = 0; // within the training part
    std::array<std::size_t, 3> leaked{}; // images of the other parts that are in the training part, too
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> sizes; // images by height and width

    void add(const Dataset& set, Part part, std::size_t index, const Finding& one, ScanReport& report) {
        blank += one.blank;
        ++sizes[{one.size.height, one.size.width}];
        const auto found = seen.find(one.hash);
        if (found != seen.end()) {
            ++(part == Part::train ? doubles : leaked[static_cast<std::size_t>(part)]);
            const bool is_torn = set.label(part, index) != set.label(Part::train, found->second);
            torn_count += is_torn;
            if (auto& list = is_torn ? torn : report.repeated; list.size() < most_repeated)
                list.push_back({set.file(part, index), set.file(Part::train, found->second), is_torn});
        } else if (part == Part::train) {
            seen.emplace(one.hash, static_cast<std::uint32_t>(index));
        }
    }
};

std::vector<std::string> warnings_of(const ScanReport& report, const Findings& findings) {
    std::vector<std::string> warnings;
    if (report.training_refuses)
        warnings.emplace_back("Training refuses this set until its bad files are mended.");
    else if (!report.bad.empty() && report.total() > 0) {
        const auto all = static_cast<double>(report.bad_images + report.total());
        const bool many = static_cast<double>(report.bad_images) > OpenOptions{}.max_bad_share * all;
        warnings.push_back("Training leaves the bad files out" +
                           std::string(many ? " only if max_bad_share allows so many" : "") + ": " +
                           std::to_string(report.bad.size()) + " of " +
                           std::to_string(report.bad.size() + report.total()) + ".");
    }
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
    if (findings.torn_count > 0)
        warnings.push_back("The same in two classes: " + images_text(findings.torn_count) +
                           ". One of the two labels is wrong.");
    if (findings.doubles > 0)
        warnings.push_back("Repeated within the training part: " + images_text(findings.doubles) + ".");
    for (const auto part : {Part::validation, Part::test})
        if (const auto count = findings.leaked[static_cast<std::size_t>(part)]; count > 0)
            warnings.push_back("In the training part and in the " + std::string(name_of(part)) +
                               " part: " + images_text(count) + ". Accuracy will look a little better than it is.");
    return warnings;
}

/// The size that most images have, and the smallest and largest, by area.
void take_sizes(const Findings& findings, ScanReport& report) {
    std::size_t most = 0;
    for (const auto& [size, count] : findings.sizes) {
        const ImageShape shape{report.info.image.channels, size.first, size.second};
        if (count > most) {
            most = count;
            report.info.image = shape;
        }
        if (report.smallest.pixels() == 0 || shape.pixels() < report.smallest.pixels())
            report.smallest = shape;
        if (shape.pixels() > report.largest.pixels())
            report.largest = shape;
    }
    report.sizes = findings.sizes.size();
}

std::string size_text(const ImageShape& shape) {
    return std::to_string(shape.width) + " x " + std::to_string(shape.height);
}

} // namespace

ScanReport scan_dataset(const std::string& spec, const WorkWatch& watch) {
    ScanReport report;
    std::shared_ptr<const Dataset> set;
    try {
        set = open_dataset(spec, {.image_size = scanned_side, .bad = &report.bad, .watch = watch});
    } catch (const DataError& error) {
        report.bad.push_back({spec, error.what()});
    }
    if (!set) {
        report.info.spec = spec;
        report.info.kind = spec.substr(0, spec.find(':'));
        report.warnings.emplace_back("There is no image that could be used.");
        return report;
    }

    report.training_refuses = !report.bad.empty();
    report.info = set->info();
    report.class_counts.resize(set->classes());
    report.bad.insert(report.bad.end(), set->left_out().begin(), set->left_out().end());
    std::vector<std::pair<Part, std::size_t>> order;
    for (const auto part : all_parts)
        for (std::size_t i = 0; i < set->size(part); ++i)
            order.emplace_back(part, i);
    std::vector<Finding> found(order.size());
    for_each_image(order.size(), watch,
                   [&](std::size_t i) { found[i] = look_at(*set, order[i].first, order[i].second); });

    Findings findings;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto [part, index] = order[i];
        const auto column = static_cast<std::size_t>(part);
        if (!found[i].fault.empty()) {
            report.bad.push_back({set->file(part, index), found[i].fault});
            ++report.bad_images;
            continue;
        }
        findings.add(*set, part, index, found[i], report);
        ++report.images[column];
        ++report.class_counts[static_cast<std::size_t>(set->label(part, index))][column];
    }
    take_sizes(findings, report);
    report.repeated.insert(report.repeated.begin(), findings.torn.begin(), findings.torn.end());
    report.repeated.resize(std::min(report.repeated.size(), most_repeated));
    report.warnings = warnings_of(report, findings);
    for (auto& remark : set->remarks())
        report.warnings.push_back(std::move(remark));
    return report;
}

Json ScanReport::to_json(std::size_t most_bad) const {
    Json classes = Json::array(), bad_files = Json::array(), parts = Json::array(), repeats = Json::array();
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
    for (const auto& one : repeated)
        repeats.push_back({{"file", one.file}, {"same_as", one.same_as}, {"in_two_classes", one.in_two_classes}});
    return {{"data", info.spec},
            {"kind", info.kind},
            {"classes", std::move(classes)},
            {"images", total()},
            {"parts", std::move(parts)},
            {"width", info.image.width},
            {"height", info.image.height},
            {"channels", info.image.channels},
            {"sizes", sizes},
            {"smallest", {smallest.width, smallest.height}},
            {"largest", {largest.width, largest.height}},
            {"repeated", std::move(repeats)},
            {"bad", std::move(bad_files)},
            {"bad_count", bad.size()},
            {"bad_images", bad_images},
            {"warnings", warnings}};
}

std::string ScanReport::to_text() const {
    std::string text = info.spec + ": " + images_text(total());
    if (total() > 0)
        text += ", " + size_text(info.image) + " pixels, " + std::to_string(info.image.channels) +
                (info.image.channels == 1 ? " channel" : " channels");
    if (sizes > 1)
        text += "; " + std::to_string(sizes) + " sizes from " + size_text(smallest) + " to " + size_text(largest);
    text += "\n";
    for (const auto part : all_parts)
        if (const auto count = images[static_cast<std::size_t>(part)]; count > 0)
            text += "  " + std::string(name_of(part)) + ": " + std::to_string(count) + "\n";
    std::size_t widest = 0;
    for (const auto& name : info.classes)
        widest = std::max(widest, text_width(name));
    for (std::size_t i = 0; i < class_counts.size(); ++i) {
        text += "  " + padded(info.classes[i], widest);
        for (const auto part : all_parts)
            if (images[static_cast<std::size_t>(part)] > 0)
                text += "  " + std::to_string(class_counts[i][static_cast<std::size_t>(part)]);
        text += "\n";
    }
    for (const auto& file : bad)
        text +=
            "bad: " + (file.reason.find(file.file) == std::string::npos ? file.file + ": " : "") + file.reason + "\n";
    for (const auto& one : repeated)
        text += "repeated: " + one.file + " is " + one.same_as +
                (one.in_two_classes ? ", in another class: one of the labels is wrong" : "") + "\n";
    for (const auto& warning : warnings)
        text += "warning: " + warning + "\n";
    return text;
}

} // namespace espalier
