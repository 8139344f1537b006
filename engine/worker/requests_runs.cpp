// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "io/checkpoint_folder.h"
#include "worker/protocol.h"
#include "worker/requests.h"
#include "worker/run_command.h"
#include "worker/run_launcher.h"
#include "worker/run_link.h"
#include "worker/run_overview.h"
#include "worker/run_queue.h"
#include "worker/run_report.h"
#include "worker/run_summary.h"
#include "worker/run_trash.h"
#include "worker/smoothed_steps.h"

#include <QByteArray>
#include <fstream>
#include <limits>

namespace espalier {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t fetch_block = 300 * 1024; // a multiple of 3: its base64 ends without padding

RunFolder run_of(const Json& arguments) {
    RunFolder run(required_text(arguments, "path"));
    run.check_is_run();
    return run;
}

WorkWatch watch_of(const RequestContext& context) {
    return {.progress = {}, .leave = [stop = context.stop] { return stop.stop_requested(); }};
}

/// What a run trains on shall be free when it begins; also where its preparation is refused.
template <class Prepare>
auto devices_freed_after(const RequestContext& context, const Prepare& prepare) {
    const struct Freed {
        const RequestContext& context;
        ~Freed() { context.free_devices(); }
    } freed{context};
    return prepare();
}

} // namespace

Json answer_runs(const Json&, const RequestContext& context) {
    Json runs = Json::array();
    for (const auto& summary : summarize_all(context.runs_root))
        runs.push_back(summary.to_json());
    return {{"runs", std::move(runs)}};
}

/// Of a stretch of a long run no more is read than it takes; if what was read is damaged, all of the past is mended
/// first.
Json answer_overview(const Json& arguments, const RequestContext& context) {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    const auto run = run_of(arguments);
    const auto columns = required_texts(arguments, "packed");
    std::optional<StepRange> range;
    if (arguments.contains("first") || arguments.contains("last")) {
        const auto first = whole_argument(arguments, "first", 1, 1, any);
        range = {first, whole_argument(arguments, "last", any, first, any)};
    }
    const double smoothing = number_argument(arguments, "smoothing", 0, 0, SmoothedSteps::largest_weight);
    const auto answer = [&](RunPast::Comparing comparing) {
        RunPast past(
            run.path(),
            [&](double share) {
                context.progress({{"making_columns", share}});
            },
            context.stop, comparing);
        return overview_of(past, columns, context.stop, range, smoothing);
    };
    Json overview;
    try {
        overview = answer(range ? RunPast::Comparing::as_read : RunPast::Comparing::at_once);
    } catch (const DamagedColumns&) {
        overview = answer(RunPast::Comparing::at_once);
    }
    if (overview.is_null())
        throw DataError("The run in " + run.path().string() + " has taken no step yet.");
    return overview;
}

Json answer_start(const Json& arguments, const RequestContext& context) {
    auto config = whole_config(arguments.value("config", Json()));
    if (const auto name = optional_text(arguments, "name"); !name.empty())
        config["name"] = name;
    const bool queue = flag_argument(arguments, "queue");
    empty_trash(context.runs_root);
    const auto run = devices_freed_after(context, [&] {
        return prepare_run(config, begin_of(queue), context.check_machine, context.runs_root, {}, watch_of(context));
    });
    start_supervisor(run, queue, context.stop);
    return {{"path", run.path().string()}};
}

Json answer_checkpoints(const Json& arguments, const RequestContext&) {
    const CheckpointFolder folder(run_of(arguments).checkpoints());
    Json checkpoints = Json::array();
    for (const auto& name : folder.names()) {
        try {
            const auto info = read_checkpoint_info(folder.find(name));
            checkpoints.push_back(
                {{"name", name}, {"step", info.step}, {"epoch", protocol::number_at(info.run_state, "epoch")}});
        } catch (const Error&) {
            // gone meanwhile, or damaged: nothing to go on from
        }
    }
    return {{"checkpoints", std::move(checkpoints)}};
}

Json answer_resume(const Json& arguments, const RequestContext& context) {
    const auto run = run_of(arguments);
    const bool queue = flag_argument(arguments, "queue");
    devices_freed_after(context, [&] {
        prepare_resume(run, arguments.value("set", Json::object()), begin_of(queue), context.check_machine,
                       optional_text(arguments, "checkpoint"), watch_of(context));
    });
    start_supervisor(run, queue, context.stop);
    return {{"path", run.path().string()}};
}

Json answer_queue(const Json& arguments, const RequestContext& context) {
    RunQueue queue(context.runs_root);
    if (arguments.contains("order")) {
        const auto& order = arguments.at("order");
        std::vector<std::string> names;
        for (const auto& path : order.is_array() ? order : Json::array({order})) {
            if (!path.is_string())
                throw ConfigError("The request's `order` must be a list of paths of runs.");
            names.push_back(RunFolder(path.get<std::string>()).absolute_path().filename().string());
        }
        queue.reorder(names);
    }
    Json paths = Json::array();
    for (const auto& name : queue.waiting())
        if (is_supervised(context.runs_root / name))
            paths.push_back((context.runs_root / name).string());
    return {{"queue", std::move(paths)}};
}

Json answer_rename(const Json& arguments, const RequestContext&) {
    const auto run = run_of(arguments);
    auto notes = run.read_notes();
    for (const char* key : {"name", "tags", "notes"})
        if (arguments.contains(key))
            notes[key] = arguments.at(key);
    check_run_name(protocol::text_at(notes, "name"));
    run.write_notes(notes);
    return Json::object();
}

Json answer_delete(const Json& arguments, const RequestContext&) {
    const auto run = run_of(arguments);
    if (flag_argument(arguments, "keep")) {
        const auto trashed = move_to_trash(run);
        empty_trash(trashed.parent_path().parent_path());
        return {{"trash", trashed.string()}};
    }
    if (is_supervised(run.path()))
        throw ConfigError("The run is still running or waiting. Stop it before deleting it.");
    std::error_code error;
    fs::remove_all(run.path(), error);
    if (error)
        throw Error("The run's folder cannot be deleted: " + error.message() + ".");
    return Json::object();
}

Json answer_restore(const Json& arguments, const RequestContext&) {
    return {{"path", restore_from_trash(required_text(arguments, "trash")).path().string()}};
}

Json answer_command_line(const Json& arguments, const RequestContext&) {
    return {{"text", shell_text(run_command(read_json(run_of(arguments).config())))}};
}

Json answer_report(const Json& arguments, const RequestContext& context) {
    const auto run = run_of(arguments);
    const auto archive = run_report(run);
    const auto block = [&](std::size_t from) {
        const auto bytes = std::string_view(archive).substr(from, fetch_block);
        return QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())).toBase64().toStdString();
    };
    std::size_t from = 0;
    for (; from + fetch_block < archive.size(); from += fetch_block)
        context.part({{"base64", block(from)}});
    return {{"name", report_name(run)}, {"base64", block(from)}};
}

Json answer_fetch(const Json& arguments, const RequestContext& context) {
    const fs::path path = required_text(arguments, "path");
    std::ifstream stream(path, std::ios::binary);
    if (!stream || !fs::is_regular_file(path))
        throw DataError("The file " + path.string() + " cannot be read.");
    if (!run_around(fs::canonical(path))) // whatever links say
        throw ConfigError("Only files in a run's folder can be fetched; " + path.string() + " is in none.");
    QByteArray block(static_cast<qsizetype>(fetch_block), Qt::Uninitialized);
    for (;;) {
        context.check();
        stream.read(block.data(), block.size());
        const auto encoded =
            QByteArray(block.constData(), static_cast<qsizetype>(stream.gcount())).toBase64().toStdString();
        if (!stream)
            return {{"base64", encoded}};
        context.part({{"base64", encoded}});
    }
}

} // namespace espalier
