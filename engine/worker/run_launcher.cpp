// SPDX-License-Identifier: Apache-2.0
#include "worker/run_launcher.h"

#include "base/error.h"
#include "data/dataset.h"
#include "train/resume.h"
#include "worker/event_files.h"
#include "worker/protocol.h"
#include "worker/run_link.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QThread>

namespace espalier {
namespace {

constexpr int start_patience_ms = 20000;

/// Events of earlier starts, so that the end of a run that ended at once is told from an old one.
std::uintmax_t size_of(const std::filesystem::path& file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    return error ? 0 : size;
}

bool has_ended(const RunFolder& run) {
    bool bye = false;
    visit_backwards(run.events(), [&](const Json& event) {
        bye = protocol::is_event(event, "bye");
        return false;
    });
    return bye;
}

} // namespace

RunFolder prepare_run(const Json& config, Begins begins, const MachineCheck& check, const std::filesystem::path& root,
                      const std::filesystem::path& out, const WorkWatch& watch) {
    const auto whole = RunConfig::from_json(config);
    check_run_name(whole.name);
    if (begins == Begins::now) {
        check_dataset_is_there(whole.data);
        auto fitted = whole;
        fit_to_listed_data(fitted, watch);
        check(whole);
    }
    auto run = out.empty() ? RunFolder::create(root, whole.name.empty() ? whole.preset : whole.name)
                           : RunFolder::create_at(out);
    try {
        write_json(run.config(), whole.to_json());
    } catch (...) { // a full disk: no half-made run stays
        std::error_code ignored;
        std::filesystem::remove(run.checkpoints(), ignored);
        std::filesystem::remove(run.path(), ignored);
        throw;
    }
    return run;
}

bool remove_if_never_begun(const RunFolder& run) {
    bool begun = false;
    visit_backwards(run.events(), [&](const Json& event) { return !(begun = protocol::is_event(event, "plan")); });
    std::error_code ignored;
    return !begun && std::filesystem::remove_all(run.path(), ignored) > 0 && !ignored;
}

void prepare_resume(const RunFolder& run, const Json& changes, Begins begins, const MachineCheck& check,
                    const std::string& checkpoint, const WorkWatch& watch) {
    run.check_is_run();
    if (is_supervised(run.path()))
        throw ConfigError("The run in " + run.path().string() + " is running already. Attach to it, or stop it first.");
    if (!changes.is_object())
        throw ConfigError("What changes of a run's configuration must be an object; this came: " + changes.dump() +
                          ".");
    const auto config = RunConfig::from_json(merged(read_json(run.config()), changes));
    CheckpointFolder folder(run.checkpoints());
    const auto file = checkpoint.empty() ? std::filesystem::path() : folder.find(checkpoint);
    check_resume(folder, config, file, watch);
    if (begins == Begins::now)
        check(config);
    if (!file.empty())
        folder.go_back_to(file);
    write_json(run.config(), config.to_json());
}

void start_supervisor(const RunFolder& run, bool queue, std::stop_token stop) {
    const auto size_before = size_of(run.events());
    QProcess process;
    process.setProgram(QCoreApplication::applicationFilePath());
    QStringList arguments{"supervise", QString::fromStdString(run.path().string())};
    if (queue)
        arguments.append("--queue");
    process.setArguments(arguments);
    // No pipe of ours is inherited; a new session comes with startDetached.
    process.setStandardInputFile(QProcess::nullDevice());
    process.setStandardOutputFile(QProcess::nullDevice());
    process.setStandardErrorFile(QString::fromStdString(run.log().string()), QIODevice::Append);
    if (!process.startDetached())
        throw Error("The run's supervisor cannot be started: " + process.errorString().toStdString());

    QElapsedTimer waited;
    waited.start();
    for (;;) {
        const bool told = size_of(run.events()) > size_before;
        if ((is_supervised(run.path()) && (told || !queue)) || (told && has_ended(run)))
            return;
        if (stop.stop_requested())
            throw Error("Cancelled.", ExitCode::stopped);
        if (waited.elapsed() > start_patience_ms)
            throw Error("The run's supervisor does not answer. Its messages are in " + run.log().string() + ".");
        QThread::msleep(10);
    }
}

} // namespace espalier
