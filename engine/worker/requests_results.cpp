// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/content_hash.h"
#include "data/image_decoder.h"
#include "io/checkpoint_folder.h"
#include "io/run_folder.h"
#include "train/confusion.h"
#include "train/run_config.h"
#include "worker/evaluation_set.h"
#include "worker/protocol.h"
#include "worker/requests.h"
#include "worker/run_results.h"
#include "worker/trained_model.h"

#include <QByteArray>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

namespace espalier {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t hardest_shown = 100;
constexpr auto progress_every = std::chrono::milliseconds(100);

/// Which checkpoint is asked about, and where what is known of it is kept.
struct Subject {
    fs::path checkpoint;
    std::string name;                ///< best, last or a step's; empty: a file that is no run's
    std::optional<RunConfig> config; ///< of its run, if its data are meant
    fs::path results;                ///< empty: nothing is kept
    std::string data, part;
};

std::optional<Part> part_named(const std::string& name) {
    for (const auto part : all_parts)
        if (name == name_of(part))
            return part;
    return std::nullopt;
}

std::string results_name(const std::string& checkpoint, const std::string& part) {
    return checkpoint + "-" + (part.empty() ? "unseen" : part) + ".json";
}

Subject subject_of(const Json& arguments) {
    Subject subject{.data = optional_text(arguments, "data"), .part = optional_text(arguments, "part")};
    check_part_name(subject.part);
    const auto path = optional_text(arguments, "path");
    subject.name = optional_text(arguments, "checkpoint");
    if (path.empty()) {
        subject.checkpoint = required_text(arguments, "checkpoint");
        subject.name.clear();
        if (subject.data.empty()) {
            subject.config = config_around(subject.checkpoint);
            subject.data = subject.config->data;
        }
        return subject;
    }
    const RunFolder run(path);
    run.check_is_run();
    const CheckpointFolder folder(run.checkpoints());
    if (subject.name.empty())
        subject.name = fs::exists(folder.best()) ? "best" : "last";
    subject.checkpoint = folder.find(subject.name);
    if (subject.data.empty()) {
        subject.config = RunConfig::from_json(read_json(run.config()));
        subject.data = subject.config->data;
        subject.results = run.path() / "results" / results_name(subject.name, subject.part);
    }
    return subject;
}

/// What is kept, under the name of the part or as that which is taken where none is named.
std::optional<RunResults> kept_results(const Subject& subject) {
    if (subject.results.empty())
        return std::nullopt;
    auto kept = load_results(subject.results, subject.checkpoint);
    if (!kept && !subject.part.empty()) {
        kept = load_results(subject.results.parent_path() / results_name(subject.name, {}), subject.checkpoint);
        if (kept && protocol::text_at(kept->summary, "set") != subject.part)
            kept.reset();
    }
    return kept && kept->data == subject.data ? std::move(kept) : std::nullopt;
}

/// -log p. A probability that single precision cannot tell from 0 counts as its smallest one, so that one image leaves
/// the mean a number.
double loss_of(float probability) {
    return -std::log(static_cast<double>(std::max(probability, std::numeric_limits<float>::denorm_min())));
}

std::vector<std::string> class_names(const Dataset& dataset) { return dataset.info().classes; }

Json per_class(const ConfusionMatrix& matrix, const std::vector<std::string>& names) {
    Json classes = Json::array();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto score = matrix.score(i);
        classes.push_back({{"name", names[i]},
                           {"images", score.images},
                           {"predicted", score.predicted},
                           {"correct", score.correct},
                           {"precision", protocol::number(score.precision)},
                           {"recall", protocol::number(score.recall)},
                           {"f1", protocol::number(score.f1)}});
    }
    return classes;
}

/// [truth, predicted, images] of every cell that is not empty.
Json cells(const ConfusionMatrix& matrix) {
    Json cells = Json::array();
    for (const auto& [cell, images] : matrix.cells())
        cells.push_back({cell.first, cell.second, images});
    return cells;
}

/// Places of images, those whose truth was least probable first, at most `most` of them.
void sort_hardest(std::vector<std::size_t>& places, const std::vector<float>& probability, std::size_t most) {
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(most, places.size()));
    std::partial_sort(places.begin(), end, places.end(), [&](auto a, auto b) {
        return probability[a] != probability[b] ? probability[a] < probability[b] : a < b;
    });
    places.erase(end, places.end());
}

Json described(const RunResults& results, std::size_t place, const std::string& file) {
    return {{"index", place},
            {"file", file},
            {"truth", results.truth[place]},
            {"predicted", results.predicted[place]},
            {"probability", results.probability[place]},
            {"loss", loss_of(results.probability[place])}};
}

Json hardest(const RunResults& results, const SampleSet& set) {
    std::vector<std::size_t> places(results.index.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    sort_hardest(places, results.probability, hardest_shown);
    Json images = Json::array();
    for (const auto place : places)
        images.push_back(described(results, place, set.file(place)));
    return images;
}

/// Tells whether the indices of a part still mean the same files, and their classes the same truths: by name, for the
/// network may number them otherwise. Files that `counts` denies are passed over.
template <class Predicate>
std::string hash_of_part(const Dataset& dataset, Part part, Predicate counts) {
    ContentHash hash;
    for (std::size_t i = 0; i < dataset.size(part); ++i)
        if (const auto file = dataset.file(part, i); counts(file)) {
            hash.add(file);
            hash.add(dataset.info().classes[static_cast<std::size_t>(dataset.label(part, i))]);
        }
    return hash.text();
}

/// The network's answer for every image of the set. Throws Error if the network gives no numbers.
RunResults examine(TrainedModel& model, const EvaluationSet& evaluation, const RequestContext& context) {
    const auto& set = evaluation.set;
    RunResults results{.data = {}, .part_of_data = std::string(name_of(set.part))};
    results.images = hash_of_part(*set.dataset, set.part, [](const std::string&) { return true; });
    for (const auto& bad : set.dataset->left_out())
        results.left_out.push_back(bad.file);
    ConfusionMatrix matrix(set.dataset->classes());
    double loss = 0;
    auto told = Clock::now();
    const auto leave = [&] { return context.stop.stop_requested(); };
    const bool whole = model.examine(
        set,
        [&](std::size_t place, std::span<const float> probabilities) {
            if (!std::ranges::all_of(probabilities, [](float value) { return std::isfinite(value); }))
                throw Error("The network's probabilities are not numbers: its weights have run away. Choose an earlier "
                            "checkpoint.");
            const auto truth = static_cast<std::size_t>(set.label(place));
            const auto predicted =
                static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
            matrix.add(truth, predicted);
            loss += loss_of(probabilities[truth]);
            results.index.push_back(set.indices[place]);
            results.truth.push_back(static_cast<std::uint32_t>(truth));
            results.predicted.push_back(static_cast<std::uint32_t>(predicted));
            results.probability.push_back(probabilities[truth]);
            if (const auto now = Clock::now(); now - told >= progress_every) {
                told = now;
                context.progress({{"done", place + 1}, {"total", set.size()}});
            }
        },
        leave);
    if (!whole)
        throw Error("Cancelled.", ExitCode::stopped);
    const auto names = class_names(*set.dataset);
    results.summary = {{"known", true},
                       {"set", evaluation.part},
                       {"parts", evaluation.parts},
                       {"step", model.info().step},
                       {"epoch", protocol::number_at(model.info().run_state, "epoch")},
                       {"images", set.size()},
                       {"left_out", results.left_out.size()},
                       {"accuracy", matrix.accuracy()},
                       {"loss", protocol::number(loss / static_cast<double>(set.size()))},
                       {"classes", names},
                       {"cells", cells(matrix)},
                       {"per_class", per_class(matrix, names)},
                       {"hardest", hardest(results, set)}};
    return results;
}

/// The data set as thumbnails are cut from it: image files are decoded one by one, as they are asked for. Making it
/// throws DataError if its files or their classes are others than those that were evaluated.
class ThumbnailSource {
public:
    ThumbnailSource(const RunResults& results, std::int64_t side, const RequestContext& context)
        : dataset_(open_dataset(
              results.data,
              {.image_size = side, .watch = {.progress = {}, .leave = [&] { return context.stop.stop_requested(); }}})),
          part_(part_named(results.part_of_data).value_or(Part::train)), side_(side) {
        const std::unordered_set<std::string> left_out(results.left_out.begin(), results.left_out.end());
        const auto files = hash_of_part(*dataset_, part_, [&](const auto& file) { return !left_out.contains(file); });
        if (files != results.images)
            throw DataError("The data set has changed since the network was evaluated: it has other files, or other "
                            "classes for them, now. Evaluate it again.");
        for (std::size_t i = 0; i < dataset_->size(part_) && !left_out.empty(); ++i)
            if (!left_out.contains(dataset_->file(part_, i)))
                good_.push_back(i);
        all_good_ = left_out.empty();
    }

    [[nodiscard]] std::size_t place(std::uint32_t index) const { return all_good_ ? index : good_.at(index); }
    [[nodiscard]] std::string file(std::size_t place) const { return dataset_->file(part_, place); }
    [[nodiscard]] std::string png(std::size_t place) const {
        Image image{dataset_->image(), std::vector<std::uint8_t>(dataset_->image().bytes())};
        dataset_->read(part_, place, image.pixels);
        image.shape.channels = image.shape.channels < 3 ? 1 : 3;
        image.pixels.resize(image.shape.bytes());
        const auto bytes = encode_png(fitted_into(image, side_));
        return QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()))
            .toBase64()
            .toStdString();
    }

private:
    std::shared_ptr<const Dataset> dataset_;
    Part part_;
    std::int64_t side_;
    bool all_good_ = true;
    std::vector<std::size_t> good_; ///< indices of the files that were evaluated, if not all were
};

} // namespace

Json answer_confusion(const Json& arguments, const RequestContext& context) {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    const auto most = whole_argument(arguments, "most", any, 0, any);
    const auto subject = subject_of(arguments);
    const auto named = [&](Json summary) {
        summary["checkpoint"] = subject.name;
        return summary;
    };
    // A trainer may replace the file while it is read.
    const auto stamp = subject.results.empty() ? CheckpointStamp{} : stamp_of(subject.checkpoint);
    const bool again = arguments.contains("again") && arguments.at("again") == true;
    if (!again)
        if (auto known = kept_results(subject))
            return named(std::move(known->summary));
    if (most == 0)
        return named({{"known", false}});
    const auto evaluation =
        set_to_evaluate({subject.data, subject.config ? &*subject.config : nullptr}, subject.part,
                        read_checkpoint_info(subject.checkpoint), [&] { return context.stop.stop_requested(); });
    context.check();
    if (static_cast<std::int64_t>(evaluation.set.size()) > most)
        return named({{"known", false}, {"images", evaluation.set.size()}});
    context.progress({{"done", 0}, {"total", evaluation.set.size()}});
    TrainedModel model(subject.checkpoint, optional_text(arguments, "backend", "auto"));
    auto results = examine(model, evaluation, context);
    if (!subject.results.empty()) {
        results.data = subject.data;
        try {
            save_results(subject.results, stamp, results);
        } catch (const Error& error) { // a full disk takes the images of the cells, not the numbers
            results.summary["not_kept"] = error.what();
        }
    }
    return named(std::move(results.summary));
}

Json answer_cell_images(const Json& arguments, const RequestContext& context) {
    const auto subject = subject_of(arguments);
    const auto count = static_cast<std::size_t>(whole_argument(arguments, "count", 60, 1, 500));
    const auto first = static_cast<std::size_t>(whole_argument(arguments, "first", 0, 0, 1'000'000'000));
    const auto side = whole_argument(arguments, "size", 96, 8, 512);
    constexpr std::int64_t most_classes = 1'000'000;
    const auto truth = whole_argument(arguments, "truth", -1, 0, most_classes);
    const auto predicted = whole_argument(arguments, "predicted", -1, 0, most_classes);
    const auto known = kept_results(subject);
    if (!known)
        throw ConfigError("Nothing is known of this checkpoint's images yet: it has to be evaluated first.");
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < known->index.size(); ++i)
        if ((truth < 0 || known->truth[i] == truth) && (predicted < 0 || known->predicted[i] == predicted))
            places.push_back(i);
    const auto total = places.size();
    sort_hardest(places, known->probability, first + count);
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(std::min(first, places.size())));
    const ThumbnailSource source(*known, side, context);
    for (const auto place : places) {
        context.check();
        const auto at = source.place(known->index[place]);
        auto image = described(*known, place, source.file(at));
        image["png"] = source.png(at);
        context.part({{"images", Json::array({std::move(image)})}});
    }
    return {{"images", Json::array()}, {"total", total}};
}

} // namespace espalier
