// SPDX-License-Identifier: GPL-3.0-or-later
#include "made_up_results.h"

#include <string>
#include <vector>

namespace espalier::test {

namespace {

const std::vector<std::string> clothes{"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                       "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

struct Part {
    const char* name;
    int images; ///< of each class
};
/// 8 x 8 pixels.
constexpr auto picture = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAK0lEQVR4nGMQ0XGJKelZ"
                         "sodBB8picIGyGGKgLIYSKIuhB8piWAJlMeyBsgDrZhTBMiS98QAAAABJRU5ErkJggg==";

constexpr Part parts[] = {{"validation", 200}, {"train", 400}};

const Part& part_of(const Json& arguments) {
    return protocol::text_at(arguments, "part") == "train" ? parts[1] : parts[0];
}

/// Of the images of a class so many are taken for the next one in the list; all others are told right.
int mistaken(const Part& part, std::size_t truth) { return part.images * static_cast<int>(truth) / 100; }

} // namespace

Json confusion(const Json& arguments) {
    const Part& part = part_of(arguments);
    const std::size_t count = clothes.size();
    Json cells = Json::array(), classes = Json::array();
    int right = 0;
    for (std::size_t truth = 0; truth < count; ++truth) {
        const int wrong = mistaken(part, truth), correct = part.images - wrong;
        const int predicted = correct + mistaken(part, (truth + count - 1) % count);
        cells.push_back({truth, truth, correct});
        if (wrong > 0)
            cells.push_back({truth, (truth + 1) % count, wrong});
        classes.push_back({{"name", clothes[truth]},
                           {"images", part.images},
                           {"predicted", predicted},
                           {"correct", correct},
                           {"precision", static_cast<double>(correct) / predicted},
                           {"recall", static_cast<double>(correct) / part.images},
                           {"f1", 2.0 * correct / (predicted + part.images)}});
        right += correct;
    }
    const int images = part.images * static_cast<int>(count);
    return {{"known", true},
            {"checkpoint", protocol::text_at(arguments, "checkpoint", "best")},
            {"set", part.name},
            {"parts", {parts[0].name, parts[1].name}},
            {"step", 756},
            {"epoch", 12},
            {"images", images},
            {"left_out", 0},
            {"accuracy", static_cast<double>(right) / images},
            {"loss", 0.41},
            {"classes", clothes},
            {"cells", cells},
            {"per_class", classes},
            {"hardest", Json::array()}};
}

Json cell_images(const Json& arguments) {
    const Part& part = part_of(arguments);
    const auto wanted = [&](const char* key, std::size_t value) {
        return protocol::number_at(arguments, key, static_cast<double>(value)) == static_cast<double>(value);
    };
    const auto first = static_cast<std::size_t>(protocol::number_at(arguments, "first", 0));
    const auto most = static_cast<std::size_t>(protocol::number_at(arguments, "count", 60));
    std::size_t total = 0;
    Json images = Json::array();
    for (std::size_t truth = clothes.size(); truth-- > 0;) // the classes that are mistaken most come first
        for (int i = 0; i < part.images; ++i) {
            const bool wrong = i < mistaken(part, truth);
            const std::size_t predicted = wrong ? (truth + 1) % clothes.size() : truth;
            if (!wanted("truth", truth) || !wanted("predicted", predicted) || total++ < first || images.size() >= most)
                continue;
            images.push_back({{"index", i},
                              {"file", clothes[truth] + "/" + std::to_string(i) + ".png"},
                              {"truth", truth},
                              {"predicted", predicted},
                              {"probability", wrong ? 0.1 : 0.9},
                              {"loss", wrong ? 2.3 : 0.1},
                              {"png", picture}});
        }
    return {{"total", total}, {"images", images}};
}

Json prediction() {
    return {{"classes", Json::array({{{"name", "Ankle boot"}, {"probability", 0.93}},
                                     {{"name", "Sneaker"}, {"probability", 0.06}},
                                     {{"name", "Sandal"}, {"probability", 0.01}}})}};
}

} // namespace espalier::test
