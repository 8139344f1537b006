// SPDX-License-Identifier: Apache-2.0
#include "worker/onnx_comparison.h"

#include "backends/registry.h"
#include "base/counted.h"
#include "base/error.h"
#include "data/dataset.h"
#include "data/hash_random.h"
#include "io/onnx_import.h"
#include "plan/session.h"
#include "worker/trained_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

namespace espalier {
namespace {

constexpr std::int64_t images_at_once = 20;

SampleImages random_images(const NetworkSpec& network, std::int64_t count, const std::string& why) {
    SampleImages images{.count = count, .origin = "random pixels (" + why + ")"};
    images.pixels.resize(static_cast<std::size_t>(count * network.channels * network.height * network.width));
    HashRandom random{1};
    for (auto& pixel : images.pixels)
        pixel = static_cast<std::uint8_t>(random.below(256));
    return images;
}

/// The file's network made ready on a backend, for a batch of one size.
class ImportedModel {
public:
    ImportedModel(const std::string& model, std::int64_t batch, const std::string& backend)
        : network_(read_onnx(model, batch)), backend_(choose_backend(backend, network_.graph, {})),
          session_(*backend_, {}), plan_(session_.plan("imported", network_.graph)) {
        for (const auto& [name, values] : network_.values)
            session_.set(name, values);
    }
    [[nodiscard]] std::vector<float> probabilities(std::span<const std::uint8_t> pixels) {
        const std::vector<float> values(pixels.begin(), pixels.end());
        plan_.set_input("image", values.data(), values.size() * sizeof(float));
        plan_.run();
        return plan_.read(network_.output);
    }

private:
    OnnxNetwork network_;
    std::unique_ptr<Backend> backend_;
    Session session_;
    Plan& plan_;
};

std::string text_of(double value) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.2g", value);
    return text.data();
}

/// One image of each of `most` equal stretches of a part: the first that can be read. Throws the fault of the first
/// that cannot if there is no other.
SampleImages images_of(const Dataset& set, Part part, std::int64_t most) {
    const auto size = set.size(part), stretches = std::min(static_cast<std::size_t>(most), size);
    const auto bytes = set.image().bytes();
    SampleImages images{.origin = set.info().spec + " (" + std::string(name_of(part)) + ")"};
    images.pixels.resize(stretches * bytes);
    std::optional<DataError> fault;
    for (std::size_t stretch = 0; stretch < stretches; ++stretch)
        for (auto i = stretch * size / stretches; i < (stretch + 1) * size / stretches; ++i) {
            try {
                set.read(part, i,
                         std::span(images.pixels).subspan(static_cast<std::size_t>(images.count) * bytes, bytes));
                ++images.count;
                break;
            } catch (const DataError& error) { // a bad file, which training left out as well
                if (!fault)
                    fault = error;
            }
        }
    if (images.count == 0 && fault)
        throw *fault;
    images.pixels.resize(static_cast<std::size_t>(images.count) * bytes);
    return images;
}

} // namespace

SampleImages sample_images(const std::string& data, const NetworkSpec& network, std::int64_t most) {
    if (data.empty())
        return random_images(network, most, "no data set is known");
    const ImageShape shape{network.channels, network.height, network.width};
    try {
        const auto set = open_dataset(data, {.image = shape});
        if (set->image() != shape)
            return random_images(network, most, data + " has images of " + set->image().text());
        auto part = Part::test;
        for (const auto candidate : {Part::test, Part::validation, Part::train})
            if (set->size(part) == 0)
                part = candidate;
        return images_of(*set, part, most);
    } catch (const Error& error) {
        return random_images(network, most, data + " cannot be used. " + error.what());
    }
}

double compare_onnx(const std::string& model, const Checkpoint& checkpoint, const SampleImages& images,
                    const std::string& backend, const std::function<void(std::int64_t)>& progress) {
    const auto batch = std::min(images_at_once, images.count);
    TrainedModel trained(checkpoint, backend, "fp32");
    ImportedModel imported(model, batch, backend);
    const auto image_bytes = images.pixels.size() / static_cast<std::size_t>(images.count);
    double largest = 0;
    for (std::int64_t done = 0; done < images.count; done += batch) {
        if (progress)
            progress(done);
        const auto first = std::min(done, images.count - batch); // the last batch may repeat some
        const auto pixels =
            std::span(images.pixels)
                .subspan(static_cast<std::size_t>(first) * image_bytes, static_cast<std::size_t>(batch) * image_bytes);
        const auto expected = trained.probabilities(pixels, batch);
        const auto found = imported.probabilities(pixels);
        if (found.size() != expected.size())
            throw Error("The ONNX file gives " + counted(found.size(), "probability", "probabilities") +
                        " where the network gives " + std::to_string(expected.size()) + ". It was not written.");
        for (std::size_t i = 0; i < found.size(); ++i)
            if (const double difference = std::abs(double{found[i]} - expected[i]); !(difference <= largest))
                largest = difference; // NaN too
        if (std::isnan(largest))
            throw Error("The network's probabilities are not numbers: its weights have run away. The ONNX file was not "
                        "written; export an earlier checkpoint.");
    }
    if (largest > onnx_tolerance)
        throw Error("The ONNX file does not compute what the network does: probabilities differ by up to " +
                    text_of(largest) + ", more than " + text_of(onnx_tolerance) +
                    ". It was not written. Please report this with the checkpoint.");
    return largest;
}

} // namespace espalier
