// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_runs.h"

#include "behaviour.h"
#include "made_up.h"
#include "output.h"

#include <QByteArray>
#include <algorithm>
#include <stdexcept>

namespace espalier::test {

namespace {
constexpr auto overview_path = "/fake/runs/weeks-3";
} // namespace

FakeRuns::FakeRuns() {
    SampleRun finished, failed;
    auto past = finished.past(finished.last_step());
    past.push_back(finished.phase("finished"));
    past.push_back(finished.event("bye", {{"code", 0}, {"reason", ""}, {"seconds", 41}}));
    auto broken = failed.past(430);
    broken.push_back(failed.phase("failed", "The processor reported an illegal instruction in block 2."));
    add_ended("/fake/runs/grow-2", "failed", std::move(broken));
    add_ended("/fake/runs/quick-1", "finished", std::move(past));
    for (std::int64_t i = 0; i < behaviour.more_runs; ++i) {
        SampleRun other(63, 8 + i % 5); // each of another length
        auto events = other.past(other.last_step());
        events.push_back(other.phase("finished"));
        add_ended("/fake/runs/more-" + std::to_string(i + 3), "finished", std::move(events));
    }
    if (behaviour.long_past)
        add_ended("/fake/runs/long-3", "finished", long_past());
    if (behaviour.overview)
        add(overview_path, "finished");
    if (behaviour.slow_past) {
        add_ended("/fake/runs/slow-3", "running", SampleRun().past(430));
        at("/fake/runs/slow-3").hold_past_back();
    }
}

FakeRun& FakeRuns::add(const std::string& path, const char* state) {
    order_.push_back(path);
    return *(runs_[path] = std::make_unique<FakeRun>(path, state));
}

void FakeRuns::add_ended(const std::string& path, const char* state, std::vector<Json> events) {
    add(path, state).give_past(std::move(events));
}

FakeRun& FakeRuns::at(const std::string& path) {
    const auto run = runs_.find(path);
    if (run == runs_.end())
        throw std::runtime_error("There is no run " + path);
    return *run->second;
}

void FakeRuns::attach(const protocol::Request& request) {
    const std::string path = protocol::text_at(request.arguments, "path");
    if (path == overview_path)
        send_line(protocol::to_message(
            protocol::Reply{request.id, protocol::Reply::Kind::progress, {{"overview", overview()}}}));
    else if (const auto run = runs_.find(path); run != runs_.end())
        run->second->attach(request.id);
}

Json FakeRuns::list() {
    Json list = Json::array();
    std::erase_if(queue_, [this](const std::string& run) { return !at(run).waits(); });
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
        const auto place = std::ranges::find(queue_, *it) - queue_.begin() + 1;
        list.push_back(at(*it).entry(at(*it).waits() ? static_cast<std::size_t>(place) : 0));
    }
    return {{"runs", list}};
}

Json FakeRuns::start(const Json& arguments) {
    if (behaviour.refuse_start)
        throw std::runtime_error("A batch of 64 is larger than the 10 images of the training set.");
    const std::string made = "/fake/runs/" + protocol::text_at(arguments.at("config"), "preset", "run") + "-" +
                             std::to_string(order_.size() + 1);
    FakeRun& run = add(made, "running");
    if (protocol::flag_at(arguments, "queue")) {
        run.wait_in_queue();
        queue_.push_back(made);
    } else {
        run.begin();
    }
    return {{"path", made}};
}

/// Each run has another learning rate.
Json FakeRuns::config_file(const std::string& path) const {
    const auto folder = path.substr(0, path.rfind('/'));
    const auto place = std::ranges::find(order_, folder) - order_.begin();
    const Json config{{"name", folder},
                      {"preset", "quick"},
                      {"epochs", 12},
                      {"network", {{"network", "quick"}}},
                      {"optimizer", {{"learning_rate", 0.1 * static_cast<double>(place + 1)}}}};
    return {{"base64", QByteArray::fromStdString(config.dump()).toBase64().toStdString()}};
}

void FakeRuns::command(FakeRun& run, const std::string& name) {
    if ((name != "resume" && name != "stop") || !run.leave_queue(name == "resume"))
        run.command(name);
}

Json FakeRuns::answer(const protocol::Request& request) {
    const Json& arguments = request.arguments;
    const std::string path = protocol::text_at(arguments, "path");
    if (request.name == "runs")
        return list();
    if (request.name == "start")
        return start(arguments);
    if (request.name == "fetch")
        return config_file(path);
    if (request.name == "queue") {
        queue_ = arguments.at("order").get<std::vector<std::string>>();
        return {{"queue", queue_}};
    }
    if (request.name == "restore") {
        const std::string deleted = protocol::text_at(arguments, "trash");
        order_.push_back(trash_.at(deleted));
        return {{"path", trash_.at(deleted)}};
    }
    FakeRun& run = at(path);
    if (request.name == "resume") {
        run.begin();
        return {{"path", path}};
    }
    if (request.name == "rename" || request.name == "notes") {
        run.annotate(arguments);
        return Json::object();
    }
    if (request.name == "command_line")
        return {{"text", "espalier-train run --preset quick --name " + path + " --set epochs=12"}};
    if (request.name == "report")
        return {{"name", "quick-1-report.zip"}, {"base64", "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}};
    if (request.name == "delete") {
        std::erase(order_, path);
        const std::string place = "/fake/runs/.espalier-trash/" + path.substr(path.rfind('/') + 1);
        trash_[place] = path;
        return {{"trash", place}};
    }
    if (request.name == "command") {
        command(run, protocol::text_at(arguments, "command"));
        return Json::object();
    }
    throw std::runtime_error("unknown request " + request.name);
}

} // namespace espalier::test
