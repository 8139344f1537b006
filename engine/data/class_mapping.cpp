// SPDX-License-Identifier: Apache-2.0
#include "data/class_mapping.h"

#include "base/error.h"

#include <algorithm>

namespace espalier {
namespace {

class Relabelled final : public Dataset {
public:
    Relabelled(DatasetInfo info, std::shared_ptr<const Dataset> inner, std::vector<std::int32_t> labels)
        : Dataset(std::move(info)), inner_(std::move(inner)), labels_(std::move(labels)) {}

    [[nodiscard]] std::size_t size(Part part) const override { return inner_->size(part); }
    [[nodiscard]] std::int32_t label(Part part, std::size_t index) const override {
        return labels_[static_cast<std::size_t>(inner_->label(part, index))];
    }
    void read(Part part, std::size_t index, std::span<std::uint8_t> out) const override {
        inner_->read(part, index, out);
    }
    [[nodiscard]] std::string file(Part part, std::size_t index) const override { return inner_->file(part, index); }
    [[nodiscard]] std::string content_hash() const override { return inner_->content_hash(); }
    [[nodiscard]] std::span<const BadFile> left_out() const override { return inner_->left_out(); }
    [[nodiscard]] std::vector<std::string> remarks() const override { return inner_->remarks(); }

private:
    std::shared_ptr<const Dataset> inner_;
    std::vector<std::int32_t> labels_; ///< of the inner labels; -1: no image has it
};

} // namespace

std::shared_ptr<const Dataset> with_classes(std::shared_ptr<const Dataset> dataset,
                                            const std::vector<std::string>& classes) {
    const auto& own = dataset->info().classes;
    if (own == classes)
        return dataset;
    std::vector<bool> used(own.size());
    for (const auto part : all_parts)
        for (std::size_t i = 0; i < dataset->size(part); ++i)
            used[static_cast<std::size_t>(dataset->label(part, i))] = true;
    std::vector<std::int32_t> labels;
    for (std::size_t i = 0; i < own.size(); ++i) {
        const auto found = std::ranges::find(classes, own[i]);
        if (found == classes.end() && used[i]) {
            std::string known;
            for (const auto& name : classes)
                known += (known.empty() ? "" : ", ") + name;
            throw DataError("The data set has images of the class '" + own[i] +
                            "', which the network does not know. It knows: " + known + ".");
        }
        labels.push_back(found == classes.end() ? -1 : static_cast<std::int32_t>(found - classes.begin()));
    }
    auto info = dataset->info();
    info.classes = classes;
    return std::make_shared<Relabelled>(std::move(info), std::move(dataset), std::move(labels));
}

} // namespace espalier
