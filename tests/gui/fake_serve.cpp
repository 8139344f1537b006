// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for `espalier-train serve` in tests of the window alone: it speaks docs/PROTOCOL.md and trains nothing.
// Faults that a real engine should never show can be asked of it:
//   --version 2.0        another protocol
//   --refuse-start       every start is an error
//   --fail-at STEP       the run fails there
//   --crash-at STEP      the whole process ends there, without a word
//   --flood              20 lines a second of 5,000 steps each
//   --pace N             N steps a line (default 3), 20 lines a second
//   --noise              lines that are no JSON in between
//   --not-utf8           a warning of a run names a file in another encoding
//   --long-line          a line of 10 MB in between
//   --half-line          with --crash-at: the last line is cut off
//   --complain           its standard error is flooded
//   --hang-at STEP       the whole process stands still there
//   --slow-scan          a scan goes through 200,000 files until it is cancelled; others say how many do so
//   --late-hello MS      it says hello so late, and other things before
//   --mute               answers nothing
//   --gpu                it has an H100
//   --two-gpus           it has two cards of one name, an old one, and a processor on which all takes ten times as long
//   --fall-back-at STEP  there the engine turns recomputation on by itself
//   --slow-plan MS       the rest of the fit check comes so long after its quick part
//   --long-past          the newest run of before has 8,000 epochs and 3,000 layers
//   --more-runs N        N more finished runs of before
//   --overview           the newest run of before is so long that its overview alone ever comes
//   --no-restore         it says what it can do, and that a deleted run comes back is not among it
//   --slow-past          the newest run is at work, and its past does not come before it has been stopped
#include "sample_run.h"
#include "worker/protocol.h"

#include <QByteArray>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <utility>

using namespace espalier;
using namespace espalier::test;

namespace {

struct Options {
    std::string version{protocol::version};
    bool refuse_start = false, flood = false, noise = false, mute = false, long_past = false, slow_past = false;
    bool slow_scan = false, not_utf8 = false, long_line = false, half_line = false, complain = false;
    bool gpu = false, two_gpus = false, overview = false, no_restore = false;
    int more_runs = 0;
    std::int64_t fail_at = 0, crash_at = 0, pace = 3, fall_back_at = 0, slow_plan = 0, hang_at = 0, late_hello = 0;
};

Options options;

protocol::LineWriter output([](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
});

/// Past the writer of the protocol's lines, but whole beside them.
void write_raw(const std::string& bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
}

/// One run: a thread that makes events, which are kept and sent to who is attached.
class FakeRun {
public:
    FakeRun(std::string path, std::string state) : path_(std::move(path)), state_(std::move(state)) {}
    ~FakeRun() { end(); }

    void wait_in_queue() {
        const std::lock_guard guard(mutex_);
        state_ = "queued";
        over_ = false;
        emit(sample_.phase("queued", "Waits in the queue until grow-2 has ended or is paused."));
    }
    /// Of a run that waits in the queue; whether it does.
    bool leave_queue(bool begins) {
        {
            const std::lock_guard guard(mutex_);
            if (state_ != "queued")
                return false;
            if (!begins)
                finish("stopped", "Stopped by the user.", 6);
        }
        if (begins)
            begin();
        return true;
    }
    void begin() {
        end();
        quit_ = over_ = false; // before the thread runs: who attaches at once must not be told that it is over
        state_ = "running";
        thread_ = std::thread([this] { train(); });
    }
    void end() {
        command("stop");
        if (thread_.joinable())
            thread_.join();
    }
    void give_past(std::vector<Json> events) {
        events_ = std::move(events);
        begun_ = true;
    }
    void annotate(const Json& arguments) {
        const std::lock_guard guard(mutex_);
        for (const char* key : {"name", "tags", "notes"})
            if (arguments.contains(key))
                notes_[key] = arguments[key];
    }
    [[nodiscard]] bool waits() {
        const std::lock_guard guard(mutex_);
        return state_ == "queued";
    }
    void hold_past_back() { held_ = true; }

    void attach(std::int64_t id) {
        const std::lock_guard guard(mutex_);
        if (held_) {
            waiting_ = id;
            return;
        }
        send_past(id);
    }
    void command(const std::string& name) {
        const std::lock_guard guard(mutex_);
        if (name == "pause")
            paused_ = true;
        else if (name == "resume")
            paused_ = false;
        else if (name == "stop")
            quit_ = true;
        else if (name == "checkpoint")
            save_ = true;
        if (quit_ && std::exchange(held_, false)) {
            state_ = "stopped";
            events_.push_back(sample_.phase("stopped"));
            if (waiting_)
                send_past(waiting_);
        }
        wake_.notify_all();
    }
    [[nodiscard]] Json entry(std::size_t place) {
        const std::lock_guard guard(mutex_);
        return {{"path", path_},
                {"name", protocol::text_at(notes_, "name", path_.substr(path_.rfind('/') + 1))},
                {"tags", notes_.value("tags", Json::array())},
                {"notes", protocol::text_at(notes_, "notes")},
                {"queue", place},
                {"preset", "quick"},
                {"state", state_},
                {"epoch", sample_.step() / 63},
                {"epochs", 12},
                {"step", sample_.step()},
                {"best_accuracy", 0.867},
                {"started", 1.79e9},
                {"seconds", 41},
                {"reason", ""}};
    }

private:
    void send(std::int64_t id, const Json& event) {
        output.write(protocol::to_message(protocol::Reply{id, protocol::Reply::Kind::progress, {{"event", event}}}));
    }
    void send_past(std::int64_t id) { // with the lock held
        for (const Json& event : events_)
            send(id, event);
        output.write(protocol::to_message(protocol::Reply{id, protocol::Reply::Kind::progress, {{"caught_up", true}}}));
        attached_ = id;
        if (over_)
            release();
    }
    void emit(Json event) { // with the lock held
        events_.push_back(std::move(event));
        if (attached_)
            send(attached_, events_.back());
    }
    void release() {
        if (attached_)
            output.write(
                protocol::to_message(protocol::Reply{attached_, protocol::Reply::Kind::answer, Json::object()}));
        attached_ = 0;
    }
    void train() {
        std::unique_lock lock(mutex_);
        if (options.gpu)
            sample_.use_gpu();
        if (!std::exchange(begun_, true)) {
            for (Json& event : sample_.past(0))
                emit(std::move(event));
        } else {
            emit(sample_.hello(2));
            emit(sample_.phase("training"));
        }
        constexpr auto period = std::chrono::milliseconds(50);
        auto next = std::chrono::steady_clock::now();
        while (sample_.step() < sample_.last_step() && !quit_) {
            if (paused_) {
                state_ = "paused";
                emit(sample_.checkpoint());
                emit(sample_.phase("paused"));
                wake_.wait(lock, [this] { return !paused_ || quit_; });
                if (quit_)
                    break;
                state_ = "running";
                emit(sample_.phase("training"));
            }
            if (save_) {
                save_ = false;
                emit(sample_.checkpoint({"step"}));
            }
            emit(options.flood ? flood() : sample_.steps(options.pace));
            emit(sample_.resources());
            if (sample_.step() % 30 == 0)
                emit(sample_.layers());
            if (options.fall_back_at && !fell_back_ && sample_.step() >= options.fall_back_at) {
                fell_back_ = true;
                emit(sample_.fallback("recompute", "off", "on", "This step needs 9.1 GB, but the limit is 7.2 GB.",
                                      {{"toggles", {{"recompute", false}}}}));
            }
            misbehave();
            if (!options.flood && sample_.left_in_epoch() == 63) {
                emit(sample_.epoch_end());
                emit(sample_.evaluation());
                emit(sample_.checkpoint({"best", "last"}));
            }
            if (options.crash_at && sample_.step() >= options.crash_at) {
                if (options.half_line)
                    write_raw(event_line(R"({"type":"steps","step":)").substr(0, 40));
                std::_Exit(9);
            }
            if (options.hang_at && sample_.step() >= options.hang_at)
                std::raise(SIGSTOP);
            if (options.fail_at && sample_.step() >= options.fail_at) {
                emit(sample_.event("error",
                                   {{"text", "The loss was not a number for 20 steps in a row."}, {"code", 1}}));
                finish("failed", "The loss was not a number for 20 steps in a row. Lower the learning rate.", 1);
                return;
            }
            // On a schedule, so that the time to write a line does not slow the pace; late lines are not made up for.
            next = std::max(next + period, std::chrono::steady_clock::now());
            lock.unlock();
            std::this_thread::sleep_until(next);
            lock.lock();
        }
        emit(sample_.checkpoint());
        finish(quit_ ? "stopped" : "finished", "", quit_ ? 6 : 0);
    }
    [[nodiscard]] std::string event_line(const std::string& event) const {
        return "{\"id\":" + std::to_string(attached_) + ",\"progress\":{\"event\":" + event + "}}\n";
    }
    void misbehave() const {
        if (options.noise)
            write_raw("this is not a line of the protocol\n");
        if (options.not_utf8)
            write_raw(event_line("{\"type\":\"warning\",\"text\":\"caf\xe9.png cannot be read\"}"));
        if (options.long_line)
            write_raw(event_line("{\"type\":\"warning\",\"text\":\"" + std::string(10 << 20, 'x') + "\"}"));
        if (options.complain)
            for (int i = 0; i < 20000; ++i)
                std::fputs("a library that warns of every image, again and again, as long as it lives\n", stderr);
    }
    Json flood() {
        Json values = Json::array(), seconds = Json::array();
        for (int i = 0; i < 5000; ++i) {
            values.push_back(0.5 + 0.001 * (i % 97));
            seconds.push_back(1e-5);
        }
        const std::int64_t first = flooded_ + 1;
        flooded_ += 5000;
        return sample_.event("steps", {{"step", first},
                                       {"loss", values},
                                       {"accuracy", values},
                                       {"learning_rate", values},
                                       {"seconds", seconds},
                                       {"epoch", static_cast<double>(first) / 1e6}});
    }
    void finish(const char* phase, const char* reason, int code) {
        state_ = phase;
        over_ = true;
        emit(sample_.phase(phase, reason));
        emit(sample_.event("bye", {{"code", code}, {"reason", reason}, {"seconds", 3}}));
        release();
    }

    std::string path_, state_;
    SampleRun sample_{63, 12,
                      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
    std::vector<Json> events_;
    Json notes_ = Json::object();
    bool begun_ = false;
    std::int64_t attached_ = 0, waiting_ = 0, flooded_ = 0;
    bool paused_ = false, quit_ = false, save_ = false, over_ = true, held_ = false, fell_back_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
};

std::map<std::string, std::unique_ptr<FakeRun>> runs;
std::vector<std::string> order, queue;
std::map<std::string, std::string> trash; ///< where a deleted run was
const std::string overview_path = "/fake/runs/weeks-3";

Json presets() {
    Json list = Json::array();
    const auto add = [&](const char* name, const char* title, const char* row, const char* size, const char* summary,
                         bool available, Json config) {
        list.push_back({{"name", name},
                        {"title", title},
                        {"row", row},
                        {"size", size},
                        {"summary", summary},
                        {"available", available},
                        {"reason", available ? "" : "It comes with a later version."},
                        {"config", config}});
    };
    const Json resnet{{"network", {{"network", "resnet"}, {"base_width", 16}, {"stages", {1, 1, 1}}}},
                      {"batch", 64},
                      {"epochs", 15},
                      {"image_size", 96}};
    add("quick", "One-minute demo", "train", "demo", "A small convolution network learns the built-in clothing images.",
        true,
        {{"data", "builtin"},
         {"network", {{"network", "quick"}}},
         {"batch", 64},
         {"epochs", 12},
         {"label_smoothing", 0.1},
         {"optimizer", {{"learning_rate", 0.1}}}});
    add("train-small", "Train, small", "train", "small", "A residual network of 8 layers. A first look at your data.",
        true, resnet);
    add("train-medium", "Train, medium", "train", "medium", "ResNet-18, width 32. A good default.", true, resnet);
    add("train-large", "Train, large", "train", "large",
        "ResNet-18 for photos of 224 pixels: the best accuracy of the three, for a GPU and a night.", true, resnet);
    add("search-small", "Search, small", "search", "small",
        "A quick check of the architecture search: 8 channels, 4 cells; too short for a meaningful genotype.", false,
        Json::object());
    add("search-medium", "Search, medium", "search", "medium", "Architecture search with 20 channels and 12 cells.",
        false, Json::object());
    add("search-large", "Search, large", "search", "large", "Architecture search with 28 channels and 16 cells.", false,
        Json::object());
    add("search-recommended", "Search, recommended", "search", "recommended",
        "Architecture search that is worth its time.", false, Json::object());
    add("search-conservative", "Search, stability first", "search", "conservative",
        "Architecture search with recomputation and safe mode on.", false, Json::object());
    add("grow-small", "Grow, small", "grow", "small",
        "A network that starts with 66,410 parameters and grows to at most 500,000.", false, Json::object());
    add("grow-medium", "Grow, medium", "grow", "medium",
        "A network that starts with 103,402 parameters and grows to at most 2 million.", false, Json::object());
    add("grow-large", "Grow, large", "grow", "large",
        "A network that starts with 979,546 parameters and grows to at most 8 million.", false, Json::object());
    return {{"presets", list}};
}

Json scan() {
    Json classes = Json::array();
    for (const char* name :
         {"T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"})
        classes.push_back({{"name", name}, {"count", 400}});
    return {{"kind", "idx"},        {"classes", classes},
            {"images", 6000},       {"width", 28},
            {"height", 28},         {"channels", 1},
            {"bad", Json::array()}, {"warnings", Json::array({"2,000 of them are the validation part."})}};
}

/// A folder as people have them: of many sizes, and with a file that is none.
Json photos() {
    return {{"kind", "folder"},
            {"classes", Json::array({{{"name", "cat"}, {"count", 812}}, {{"name", "dog"}, {"count", 790}}})},
            {"images", 1602},
            {"width", 4000},
            {"height", 3000},
            {"channels", 3},
            {"sizes", 12},
            {"smallest", {640, 480}},
            {"largest", {4000, 3000}},
            {"bad", Json::array({{{"file", "cat/0412.jpg"}, {"reason", "half a file"}}})},
            {"bad_count", 1200},
            {"warnings", Json::array()}};
}

/// A scan of very many files, until it is cancelled.
class SlowScans {
public:
    void begin(std::int64_t id) {
        const std::lock_guard guard(mutex_);
        going_.insert(id);
        std::thread([this, id] {
            for (int done = 0; done < 200'000 && goes(id); done += 20) {
                output.write(protocol::to_message(
                    protocol::Reply{id, protocol::Reply::Kind::progress, {{"done", done}, {"total", 200'000}}}));
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }).detach();
    }
    void cancel(std::int64_t id) {
        const std::lock_guard guard(mutex_);
        if (going_.erase(id) > 0)
            output.write(protocol::to_message(protocol::error_reply(id, "Cancelled.", 6)));
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard guard(mutex_);
        return going_.size();
    }

private:
    bool goes(std::int64_t id) {
        const std::lock_guard guard(mutex_);
        return going_.contains(id);
    }

    std::mutex mutex_;
    std::set<std::int64_t> going_;
};

SlowScans& slow_scans = *new SlowScans; // its threads outlive main()

Json plan(const Json& config) {
    const double batch = protocol::number_at(config, "batch", 64);
    const double mega = 1024.0 * 1024;
    const bool fits = batch <= 1500;
    Json answer{{"parameters", 75530},
                {"layers", Json::array()},
                {"flops", 2.5e9},
                {"memory",
                 {{"weights", 3 * mega},
                  {"optimizer", 3 * mega},
                  {"activations", 0.65 * batch * mega},
                  {"workspace", 9 * mega},
                  {"total", (15 + 0.65 * batch) * mega}}},
                {"limit", 1024 * mega},
                {"fits", fits},
                {"batch", batch},
                {"largest_batch", 1500},
                {"notes", Json::array()},
                {"estimated_seconds", protocol::text_at(config, "backend") == "cpu" ? 480 : 48},
                {"recompute",
                 {{"memory_without", (15 + 0.65 * batch) * mega},
                  {"memory_with", (15 + 0.4 * batch) * mega},
                  {"more_flops", 0.24}}},
                {"measured", Json::array({{{"toggles", {{"fused", true}}}, {"images_per_second", 1840}},
                                          {{"toggles", {{"fused", false}}}, {"images_per_second", 1310}}})}};
    if (!fits)
        answer["asked"] = {{"memory", answer["memory"]}, {"layer", "block2"}, {"kind", "conv2d"}};
    if (options.gpu)
        answer["device_memory"] = 1200 * mega;
    return answer;
}

/// What the fit check knows at once.
Json quick_part(Json plan) {
    for (const char* key : {"layers", "largest_batch", "estimated_seconds", "recompute", "measured"})
        plan.erase(key);
    return plan;
}

/// All events of a run that went on for weeks.
std::vector<Json> long_past() {
    SampleRun run(5, 8000);
    auto events = run.past(run.last_step());
    for (Json& event : events)
        if (event["type"] == "plan")
            for (int i = 0; i < 3000; ++i)
                event["layers"].push_back({{"layer", "cells." + std::to_string(i / 100) + ".edge" + std::to_string(i)},
                                           {"kind", "convolution"},
                                           {"shape", {64, 64, 14, 14}},
                                           {"parameters", 18432},
                                           {"flops", 1.39e9}});
    events.push_back(run.phase("finished"));
    return events;
}

/// A million steps in a hundred buckets.
Json overview() {
    constexpr std::size_t buckets = 100;
    const auto column = [](double first, double last) {
        std::vector<float> values;
        for (std::size_t i = 0; i < buckets; ++i)
            values.push_back(static_cast<float>(first + (last - first) * static_cast<double>(i) / buckets));
        const QByteArray bytes(reinterpret_cast<const char*>(values.data()),
                               static_cast<qsizetype>(values.size() * sizeof(float)));
        return bytes.toBase64().toStdString();
    };
    const auto series = [&](double first, double last) {
        return Json{{"low", column(first - 0.1, last - 0.1)},
                    {"high", column(first + 0.1, last + 0.1)},
                    {"mean", column(first, last)}};
    };
    return {{"steps", 1000000},
            {"width", 10000},
            {"buckets", buckets},
            {"steps_per_epoch", 1000},
            {"epochs", 1000},
            {"best_accuracy", 0.91},
            {"best_epoch", 777},
            {"series",
             {{"loss", series(2, 0.3)},
              {"accuracy", series(0.2, 0.9)},
              {"seconds", series(0.01, 0.01)},
              {"validation.accuracy", series(0.2, 0.88)}}}};
}

/// The answer; throws what the error should say.
Json answer(const protocol::Request& request) {
    const Json& arguments = request.arguments;
    const std::string path = protocol::text_at(arguments, "path");
    if (request.name == "probe" && options.two_gpus) {
        Json card{{"backend", "cuda"},
                  {"name", "NVIDIA GeForce RTX 3090"},
                  {"uuid", "GPU-1"},
                  {"usable", true},
                  {"memory_bytes", 24.0 * 1024 * 1024 * 1024},
                  {"free_bytes", 22.5 * 1024 * 1024 * 1024},
                  {"precisions", {"fp16", "bf16", "tf32", "fp32"}}};
        Json second = card;
        second["uuid"] = "GPU-2";
        const Json old{{"backend", "cuda"},
                       {"name", "NVIDIA GeForce GTX 980"},
                       {"uuid", "GPU-3"},
                       {"usable", false},
                       {"reason", "Its compute capability is 5.2, and 7.5 or newer is needed."}};
        const Json processor{{"backend", "cpu"},
                             {"name", "AMD EPYC 7B13 64-Core Processor"},
                             {"uuid", ""},
                             {"usable", true},
                             {"precisions", {"fp32"}}};
        return {{"devices", {card, second, old, processor}}, {"host", "test"}, {"version", "0.1.0"}};
    }
    if (request.name == "list") {
        Json entries = Json::array();
        for (const auto& entry : std::filesystem::directory_iterator(path))
            entries.push_back({{"name", entry.path().filename().string()}, {"folder", entry.is_directory()}});
        return {{"path", path}, {"entries", entries}};
    }
    if (request.name == "probe" && options.gpu)
        return {{"devices", Json::array({{{"backend", "cuda"},
                                          {"name", "NVIDIA H100 80GB HBM3"},
                                          {"uuid", "GPU-fake"},
                                          {"usable", true},
                                          {"reason", ""},
                                          {"threads", 2},
                                          {"memory_bytes", 80.0 * 1024 * 1024 * 1024},
                                          {"free_bytes", 77.5 * 1024 * 1024 * 1024},
                                          {"compute_capability", "9.0"},
                                          {"precisions", {"fp16", "bf16", "tf32", "fp32"}}}})},
                {"host", "test"},
                {"version", "0.1.0"}};
    if (request.name == "probe")
        return {{"devices", Json::array({{{"backend", "cpu"},
                                          {"name", "AMD EPYC 7B13 64-Core Processor"},
                                          {"uuid", ""},
                                          {"usable", true},
                                          {"reason", ""},
                                          {"threads", 2},
                                          {"memory_bytes", 24.0 * 1024 * 1024 * 1024},
                                          {"precisions", {"fp32"}}}})},
                {"host", "test"},
                {"version", "0.1.0"}};
    if (request.name == "predict") {
        if (!arguments.contains("image") && !arguments.contains("base64"))
            throw std::runtime_error("predict needs an image");
        return {{"classes", Json::array({{{"name", "Ankle boot"}, {"probability", 0.93}},
                                         {{"name", "Sneaker"}, {"probability", 0.06}},
                                         {{"name", "Sandal"}, {"probability", 0.01}}})}};
    }
    if (request.name == "presets")
        return presets();
    if (request.name == "scan") {
        if (protocol::text_at(arguments, "data") == "idx:/nowhere")
            throw std::runtime_error("There is no folder /nowhere.");
        Json found = protocol::text_at(arguments, "data").starts_with("folder:") ? photos() : scan();
        if (options.slow_scan)
            found["warnings"].push_back("Scans under way: " + std::to_string(slow_scans.count()));
        return found;
    }
    if (request.name == "cancel")
        return Json::object();
    if (request.name == "runs") {
        Json list = Json::array();
        std::erase_if(queue, [](const std::string& run) { return !runs[run]->waits(); });
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const auto place = std::ranges::find(queue, *it) - queue.begin() + 1;
            list.push_back(runs[*it]->entry(runs[*it]->waits() ? static_cast<std::size_t>(place) : 0));
        }
        return {{"runs", list}};
    }
    if (request.name == "start") {
        if (options.refuse_start)
            throw std::runtime_error("A batch of 64 is larger than the 10 images of the training set.");
        const std::string made = "/fake/runs/" + protocol::text_at(arguments["config"], "preset", "run") + "-" +
                                 std::to_string(order.size() + 1);
        runs[made] = std::make_unique<FakeRun>(made, "running");
        order.push_back(made);
        if (protocol::flag_at(arguments, "queue")) {
            runs[made]->wait_in_queue();
            queue.push_back(made);
        } else {
            runs[made]->begin();
        }
        return {{"path", made}};
    }
    if (request.name == "fetch") { // each run has another learning rate
        const auto folder = path.substr(0, path.rfind('/'));
        const auto place = std::ranges::find(order, folder) - order.begin();
        const Json config{{"name", folder},
                          {"epochs", 12},
                          {"network", {{"network", "quick"}}},
                          {"optimizer", {{"learning_rate", 0.1 * static_cast<double>(place + 1)}}}};
        return {{"base64", QByteArray::fromStdString(config.dump()).toBase64().toStdString()}};
    }
    if (request.name == "queue") {
        queue.clear();
        for (const Json& one : arguments["order"])
            queue.push_back(one.get<std::string>());
        return {{"queue", queue}};
    }
    if (request.name == "restore") {
        const std::string deleted = protocol::text_at(arguments, "trash");
        order.push_back(trash.at(deleted));
        return {{"path", trash.at(deleted)}};
    }
    const auto run = runs.find(path);
    if (run == runs.end())
        throw std::runtime_error("There is no run " + path);
    if (request.name == "resume") {
        run->second->begin();
        return {{"path", path}};
    }
    if (request.name == "rename" || request.name == "notes") {
        run->second->annotate(arguments);
        return Json::object();
    }
    if (request.name == "command_line")
        return {{"text", "espalier-train run --preset quick --name " + path + " --set epochs=12"}};
    if (request.name == "report")
        return {{"name", "quick-1-report.zip"}, {"base64", "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA=="}};
    if (request.name == "delete") {
        std::erase(order, path);
        const std::string place = "/fake/runs/.espalier-trash/" + path.substr(path.rfind('/') + 1);
        trash[place] = path;
        return {{"trash", place}};
    }
    if (request.name == "command") {
        const std::string command = protocol::text_at(arguments, "command");
        if ((command == "resume" || command == "stop") && run->second->leave_queue(command == "resume"))
            return Json::object();
        run->second->command(protocol::text_at(arguments, "command"));
        return Json::object();
    }
    throw std::runtime_error("unknown request " + request.name);
}

} // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
        if (word == "--version")
            options.version = next();
        options.refuse_start |= word == "--refuse-start";
        options.flood |= word == "--flood";
        options.noise |= word == "--noise";
        options.mute |= word == "--mute";
        options.slow_scan |= word == "--slow-scan";
        options.not_utf8 |= word == "--not-utf8";
        options.long_line |= word == "--long-line";
        options.half_line |= word == "--half-line";
        options.complain |= word == "--complain";
        if (word == "--hang-at")
            options.hang_at = std::stoll(next());
        if (word == "--late-hello")
            options.late_hello = std::stoll(next());
        options.long_past |= word == "--long-past";
        options.gpu |= word == "--gpu";
        options.no_restore |= word == "--no-restore";
        options.overview |= word == "--overview";
        options.two_gpus |= word == "--two-gpus";
        if (word == "--fall-back-at")
            options.fall_back_at = std::stoll(next());
        if (word == "--slow-plan")
            options.slow_plan = std::stoll(next());
        options.slow_past |= word == "--slow-past";
        if (word == "--more-runs")
            options.more_runs = std::stoi(next());
        if (word == "--fail-at")
            options.fail_at = std::stoll(next());
        if (word == "--crash-at")
            options.crash_at = std::stoll(next());
        if (word == "--pace")
            options.pace = std::stoll(next());
    }
    if (options.late_hello) {
        write_raw("Your password has expired. Current password:\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(options.late_hello));
    }
    if (!options.mute) {
        Json hello = protocol::make_event("hello");
        hello["protocol"] = options.version;
        if (options.no_restore)
            hello["capabilities"] = {"attach", "runs", "delete", "presets", "probe"};
        output.write(hello);
    }
    { // a finished and a failed run of before
        SampleRun finished, failed;
        auto past = finished.past(finished.last_step());
        past.push_back(finished.phase("finished"));
        past.push_back(finished.event("bye", {{"code", 0}, {"reason", ""}, {"seconds", 41}}));
        auto broken = failed.past(430);
        broken.push_back(failed.phase("failed", "The processor reported an illegal instruction in block 2."));
        for (const auto& [path, state, events] :
             {std::tuple{"/fake/runs/grow-2", "failed", broken}, {"/fake/runs/quick-1", "finished", past}}) {
            runs[path] = std::make_unique<FakeRun>(path, state);
            runs[path]->give_past(events);
            order.push_back(path);
        }
        for (int i = 0; i < options.more_runs; ++i) {
            const std::string path = "/fake/runs/more-" + std::to_string(i + 3);
            runs[path] = std::make_unique<FakeRun>(path, "finished");
            SampleRun other(63, 8 + i % 5); // each of another length
            auto events = other.past(other.last_step());
            events.push_back(other.phase("finished"));
            runs[path]->give_past(std::move(events));
            order.push_back(path);
        }
    }
    if (options.long_past) {
        runs["/fake/runs/long-3"] = std::make_unique<FakeRun>("/fake/runs/long-3", "finished");
        runs["/fake/runs/long-3"]->give_past(long_past());
        order.emplace_back("/fake/runs/long-3");
    }
    if (options.overview) {
        runs[overview_path] = std::make_unique<FakeRun>(overview_path, "finished");
        order.push_back(overview_path);
    }
    if (options.slow_past) {
        const std::string path = "/fake/runs/slow-3";
        runs[path] = std::make_unique<FakeRun>(path, "running");
        runs[path]->give_past(SampleRun().past(430));
        runs[path]->hold_past_back();
        order.push_back(path);
    }
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto message = protocol::parse_line(line);
        if (!message || options.mute)
            continue;
        const protocol::Request request = protocol::to_request(*message);
        using Kind = protocol::Reply::Kind;
        if (request.name == "attach" && protocol::text_at(request.arguments, "path") == overview_path) {
            output.write(protocol::to_message(protocol::Reply{request.id, Kind::progress, {{"overview", overview()}}}));
            continue;
        }
        if (request.name == "attach") {
            const auto run = runs.find(protocol::text_at(request.arguments, "path"));
            if (run != runs.end())
                run->second->attach(request.id);
            continue;
        }
        if (request.name == "scan" && options.slow_scan &&
            protocol::text_at(request.arguments, "data").starts_with("folder:")) {
            slow_scans.begin(request.id);
            continue;
        }
        if (request.name == "cancel")
            slow_scans.cancel(protocol::whole_at(request.arguments, "target"));
        if (request.name == "plan") {
            const Json whole = plan(request.arguments["config"]);
            output.write(
                protocol::to_message(protocol::Reply{request.id, Kind::progress, {{"fit", quick_part(whole)}}}));
            const auto tell = [whole, id = request.id] {
                std::this_thread::sleep_for(std::chrono::milliseconds(options.slow_plan));
                output.write(protocol::to_message(protocol::Reply{id, Kind::answer, whole}));
            };
            if (options.slow_plan)
                std::thread(tell).detach();
            else
                tell();
            continue;
        }
        try {
            output.write(protocol::to_message(protocol::Reply{request.id, Kind::answer, answer(request)}));
        } catch (const std::exception& error) {
            output.write(protocol::to_message(protocol::error_reply(request.id, error.what(), 1)));
        }
    }
    runs.clear();
    return 0;
}
