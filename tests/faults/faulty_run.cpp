// SPDX-License-Identifier: Apache-2.0
#include "faults/faulty_run.h"

#include "faults/injected_faults.h"
#include "train/run_config.h"

#include <QEventLoop>
#include <QTimer>
#include <fstream>
#include <iterator>

namespace espalier::test {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 300s; // for a loaded machine; nothing waits that long when all is well

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

FaultyRun::FaultyRun(const std::vector<std::string>& settings, const std::string& faults) {
    Json json{{"data", "synthetic:1x8x8,3,53"},
              {"network", {{"network", "quick"}, {"widths", {4, 8}}}},
              {"batch", 8},
              {"epochs", 3},
              {"threads", 1},
              {"backend", "cpu"},
              {"memory_limit_mib", 512},
              {"optimizer", {{"learning_rate", 0.05}}},
              {"augmentation", {{"crop", 1}, {"flip", true}}},
              {"checkpoint", {{"every_minutes", 0}, {"every_steps", 5}}}};
    for (const auto& setting : settings)
        set_by_path(json, setting);
    write_json(folder().config(), RunConfig::from_json(json).to_json());
    std::filesystem::create_directories(folder().checkpoints());
    std::ofstream(faults_file()) << faults;

    settings_.worker = {FAULTY_TRAIN, {"worker", directory_.path()}};
    settings_.restarts.first_delay = 1ms;
}

int FaultyRun::run() {
    qputenv(faults_variable, QByteArray::fromStdString(faults_file().string()));
    std::optional<int> code;
    QEventLoop loop;
    QTimer::singleShot(patience, &loop, &QEventLoop::quit);
    Supervisor supervisor(folder().path(), settings_,
                          {[this](const Json& event) {
                               events.push_back(event);
                               if (on_event)
                                   on_event(event);
                           },
                           [&](int ended) {
                               code = ended;
                               loop.quit();
                           }});
    supervisor_ = &supervisor;
    supervisor.start();
    if (!code)
        loop.exec();
    supervisor_ = nullptr;
    return code.value_or(-1);
}

void FaultyRun::set(const std::string& setting) {
    auto json = config();
    set_by_path(json, setting);
    write_json(folder().config(), json);
}

std::vector<Json> FaultyRun::of_type(const std::string& type) const {
    std::vector<Json> found;
    for (const auto& event : events)
        if (protocol::is_event(event, type))
            found.push_back(event);
    return found;
}

std::vector<std::string> FaultyRun::rungs() const {
    std::vector<std::string> names;
    for (const auto& event : of_type("fallback"))
        names.push_back(event.at("rung"));
    return names;
}

std::int64_t FaultyRun::first_step(int worker) const {
    int workers = 0;
    for (const auto& event : events) {
        workers += protocol::is_event(event, "hello") ? 1 : 0;
        if (workers == worker && protocol::is_event(event, "steps"))
            return event.at("step").get<std::int64_t>();
    }
    return 0;
}

std::string FaultyRun::story() const {
    std::string text;
    for (const auto& event : events)
        for (const char* type : {"fallback", "warning", "error", "bye"})
            if (protocol::is_event(event, type))
                text += event.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    return text + text_of(folder().log());
}

std::string FaultyRun::faults_left() const { return text_of(faults_file()); }

} // namespace espalier::test
