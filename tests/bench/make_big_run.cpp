// SPDX-License-Identifier: Apache-2.0
// Makes the folder of a run that never was: make_big_run DIR STEPS [STEPS_PER_EPOCH]. Its events are written by the
// supervisor's own writer, as a run of 2 ms a step would: 20 lines of steps and a heartbeat a second, resources, and
// what comes at the end of each epoch. The column file grows with them.
#include "io/run_folder.h"
#include "worker/event_files.h"
#include "worker/protocol.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace espalier;

namespace {

constexpr double step_seconds = 0.002;
constexpr std::int64_t steps_a_line = 25; // 50 ms

class BigRun {
public:
    BigRun(const std::filesystem::path& run, std::int64_t steps, std::int64_t steps_per_epoch)
        : log_(run), steps_(steps), per_epoch_(steps_per_epoch) {}

    void write() {
        append("hello", {{"protocol", protocol::version},
                         {"build", "bench"},
                         {"capabilities", Json::array()},
                         {"pid", 1},
                         {"run", 1}});
        append("plan", {{"parameters", 98682},
                        {"flops", 1.2e9},
                        {"memory", memory()},
                        {"layers", Json::array()},
                        {"steps_per_epoch", per_epoch_},
                        {"epochs", (steps_ + per_epoch_ - 1) / per_epoch_},
                        {"batch", 64},
                        {"backend", "cpu"},
                        {"device", "bench"},
                        {"precision", "fp32"}});
        phase("training");
        while (step_ < steps_)
            line();
        phase("finished");
        append("bye", {{"code", 0}, {"reason", ""}, {"seconds", time_}});
    }

private:
    void append(const char* type, const Json& fields) {
        Json event{{"type", type}, {"time", 1.79e9 + time_}};
        event.update(fields);
        log_.append(event);
    }
    void phase(const char* name) {
        append("phase", {{"phase", name}, {"epoch", epoch()}, {"step", step_}, {"reason", ""}});
    }
    [[nodiscard]] double epoch() const { return static_cast<double>(step_) / static_cast<double>(per_epoch_); }
    static Json memory() {
        return {{"weights", 396736}, {"optimizer", 396800}, {"activations", 17154112},
                {"workspace", 0},    {"total", 17947648},   {"process", 54112256}};
    }
    void line() {
        const auto count = std::min({steps_a_line, steps_ - step_, per_epoch_ - step_ % per_epoch_});
        Json loss = Json::array(), accuracy = Json::array(), rate = Json::array(), seconds = Json::array();
        const Json first = step_ + 1, at_epoch = epoch();
        for (std::int64_t i = 0; i < count; ++i) {
            const double done = static_cast<double>(++step_) / static_cast<double>(steps_);
            loss.push_back(
                static_cast<double>(static_cast<float>(0.4 + 2 * std::exp(-6 * done) + 0.1 * noise_(random_))));
            accuracy.push_back(
                std::round(64 * std::clamp(0.9 - 0.8 * std::exp(-6 * done) + 0.04 * noise_(random_), 0.0, 1.0)) / 64);
            rate.push_back(0.1 * (1 - done));
            seconds.push_back(std::round(1e9 * step_seconds * (1 + 0.02 * noise_(random_))) / 1e9);
            time_ += step_seconds;
        }
        append("steps", {{"step", first},
                         {"epoch", at_epoch},
                         {"loss", loss},
                         {"accuracy", accuracy},
                         {"learning_rate", rate},
                         {"seconds", seconds}});
        if (time_ >= next_second_) {
            next_second_ += 1;
            append("heartbeat", {{"step", step_}, {"phase", "training"}});
            append("resources", {{"step", step_},
                                 {"memory", memory()},
                                 {"gflops", 600 + 10 * noise_(random_)},
                                 {"images_per_second", 32000 + 500 * noise_(random_)}});
        }
        if (step_ % per_epoch_ == 0)
            end_epoch();
    }
    void end_epoch() {
        const auto number = step_ / per_epoch_;
        append("epoch", {{"epoch", number},
                         {"step", step_},
                         {"loss", 0.5},
                         {"accuracy", 0.9},
                         {"seconds", step_seconds * static_cast<double>(per_epoch_)},
                         {"images_per_second", 32000.0}});
        phase("evaluating");
        const double accuracy = 0.88 - 0.78 * std::exp(-6 * static_cast<double>(step_) / static_cast<double>(steps_)) +
                                0.002 * noise_(random_);
        const bool best = accuracy > best_;
        if (best) {
            best_ = accuracy;
            best_epoch_ = number;
        }
        append("evaluation", {{"epoch", number},
                              {"step", step_},
                              {"set", "validation"},
                              {"loss", 0.55 + 0.01 * noise_(random_)},
                              {"accuracy", accuracy},
                              {"best", best},
                              {"best_accuracy", best_},
                              {"best_epoch", best_epoch_},
                              {"images", 2000}});
        append("checkpoint", {{"file", "checkpoints/last.safetensors"},
                              {"step", step_},
                              {"epoch", epoch()},
                              {"kinds", best ? Json{"best", "last"} : Json{"last"}},
                              {"bytes", 800000},
                              {"seconds", 0.01}});
        phase("training");
    }

    EventLog log_;
    std::int64_t steps_, per_epoch_, step_ = 0, best_epoch_ = 0;
    double time_ = 0, next_second_ = 1, best_ = 0;
    std::mt19937 random_{1};
    std::normal_distribution<double> noise_{0, 1};
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "make_big_run DIR STEPS [STEPS_PER_EPOCH]\n");
        return 2;
    }
    const auto steps = std::atoll(argv[2]), per_epoch = argc > 3 ? std::atoll(argv[3]) : 1000;
    const auto run = RunFolder::create_at(argv[1]);
    write_json(run.config(), {{"preset", "quick"}, {"epochs", (steps + per_epoch - 1) / per_epoch}});
    BigRun(run.path(), steps, per_epoch).write();
    return 0;
}
