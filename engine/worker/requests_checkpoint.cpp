// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"
#include "base/error.h"
#include "data/image_decoder.h"
#include "io/exports.h"
#include "io/onnx_export.h"
#include "io/run_folder.h"
#include "worker/evaluation_set.h"
#include "worker/onnx_comparison.h"
#include "worker/protocol.h"
#include "worker/requests.h"
#include "worker/trained_model.h"

#include <QByteArray>
#include <algorithm>
#include <array>
#include <optional>

namespace espalier {
namespace {

/// `image` is a path, or the file's bytes in base64; read as training reads it for that network.
Image read_image(const Json& arguments, const NetworkSpec& network) {
    const auto enough = std::max(network.height, network.width);
    if (const auto text = optional_text(arguments, "base64"); !text.empty()) {
        const auto bytes = QByteArray::fromBase64(QByteArray::fromStdString(text));
        return decode_image(
            {reinterpret_cast<const std::uint8_t*>(bytes.constData()), static_cast<std::size_t>(bytes.size())},
            "the image", network.channels, enough);
    }
    return decode_image_file(required_text(arguments, "image"), network.channels, enough);
}

/// What the run was trained on that a checkpoint's file lies in; empty where it lies elsewhere.
std::string data_of_run(const std::filesystem::path& checkpoint) {
    const auto run = run_around(checkpoint);
    return run ? optional_text(read_object(run->config()), "data") : std::string();
}

struct ExportFormat {
    const char* name;
    void (*write)(const Checkpoint& checkpoint, const std::filesystem::path& out); ///< null: export_onnx()
};

constexpr std::array export_formats{
    ExportFormat{"onnx", nullptr},
    ExportFormat{"safetensors", export_safetensors},
    ExportFormat{"network", export_network_spec},
    ExportFormat{"genotype", export_genotype},
};

const ExportFormat& export_format(const std::string& name) {
    const auto found = std::ranges::find(export_formats, name, &ExportFormat::name);
    if (found == export_formats.end())
        throw ConfigError("A network can be exported as " + export_formats_text() + "; this came: " + name + ".");
    return *found;
}

/// Nothing stands at `out` that has not been checked; answers how.
Json export_onnx(const Checkpoint& checkpoint, const std::filesystem::path& out, const Json& arguments,
                 const std::string& data_of_the_run, const RequestContext& context) {
    constexpr std::int64_t most_images = 200;
    const auto model = onnx_model(checkpoint);
    check_onnx(model);
    context.check();
    const auto data = optional_text(arguments, "data");
    const auto images = sample_images(data.empty() ? data_of_the_run : data, checkpoint.info.network, most_images);
    const auto difference =
        compare_onnx(model, checkpoint, images, optional_text(arguments, "backend", "cpu"), [&](std::int64_t done) {
            context.check();
            context.progress({{"done", done}, {"total", images.count}});
        });
    write_file_atomically(out, model);
    return {{"compared",
             {{"images", images.count},
              {"origin", images.origin},
              {"largest_difference", difference},
              {"tolerance", onnx_tolerance}}}};
}

} // namespace

std::string export_formats_text() {
    std::string text;
    for (std::size_t i = 0; i < export_formats.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 < export_formats.size() ? ", " : " or ") + export_formats[i].name;
    return text;
}

Json answer_export(const Json& arguments, const RequestContext& context) {
    const std::filesystem::path file = required_text(arguments, "checkpoint"), out = required_text(arguments, "out");
    const auto& format = export_format(required_text(arguments, "format"));
    check_export_place(out);
    const auto checkpoint = load_checkpoint(file);
    Json folders = Json::array();
    for (const auto& folder : make_folders_above(out))
        folders.push_back(folder.string());
    Json answer{{"file", out.string()}, {"folders", folders}};
    try {
        if (format.write)
            format.write(checkpoint, out);
        else
            answer.update(export_onnx(checkpoint, out, arguments, data_of_run(file), context));
    } catch (...) { // no empty folder stays
        std::error_code ignored;
        for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
            std::filesystem::remove(folder->get<std::string>(), ignored);
        throw;
    }
    return answer;
}

Json predicted_classes(TrainedModel& model, const Json& image) {
    Json classes = Json::array();
    for (const auto& one : model.predict(read_image(image, model.info().network)))
        classes.push_back({{"name", one.name}, {"probability", one.probability}});
    return classes;
}

Json answer_predict(const Json& arguments, const RequestContext& context) {
    TrainedModel model(required_text(arguments, "checkpoint"), optional_text(arguments, "backend", "auto"));
    context.check();
    return {{"classes", predicted_classes(model, arguments)}};
}

Json answer_evaluate(const Json& arguments, const RequestContext& context) {
    const auto checkpoint = required_text(arguments, "checkpoint");
    TrainedModel model(checkpoint, optional_text(arguments, "backend", "auto"));
    const auto data = optional_text(arguments, "data");
    std::optional<RunConfig> run;
    if (data.empty())
        run = config_around(checkpoint);
    const auto source = run ? EvaluationSource{.data = run->data, .run = &*run} : EvaluationSource{.data = data};
    const auto set = set_to_evaluate(source, optional_text(arguments, "part"), model.info(), [&] {
                         return context.stop.stop_requested();
                     }).set;
    const auto totals = model.evaluate(set, [&] { return context.stop.stop_requested(); });
    context.check();
    return {{"set", name_of(set.part)},
            {"images", set.size()},
            {"left_out", set.dataset->left_out().size()},
            {"loss", protocol::number(totals->mean_loss())},
            {"accuracy", totals->accuracy()},
            {"step", model.info().step}};
}

} // namespace espalier
