// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/checkpoint_folder.h"
#include "io/run_folder.h"
#include "train/run_config.h"
#include "train/trainer.h"

#include <QTemporaryDir>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace espalier::test {

/// Keeps the events of a run.
class EventLog : public EventSink {
public:
    void send(Json event) override {
        if (on_event)
            on_event(event);
        events.push_back(std::move(event));
    }
    [[nodiscard]] std::vector<Json> of_type(const std::string& type) const {
        std::vector<Json> found;
        for (const auto& event : events)
            if (event.at("type") == type)
                found.push_back(event);
        return found;
    }
    /// One column of all `steps` events, joined.
    [[nodiscard]] std::vector<Json> column(const std::string& name) const {
        std::vector<Json> values;
        for (const auto& event : of_type("steps"))
            for (const auto& value : event.at(name))
                values.push_back(value);
        return values;
    }
    [[nodiscard]] std::vector<std::int64_t> steps() const {
        std::vector<std::int64_t> numbers;
        for (const auto& event : of_type("steps"))
            for (std::size_t i = 0; i < event.at("loss").size(); ++i)
                numbers.push_back(event.at("step").get<std::int64_t>() + static_cast<std::int64_t>(i));
        return numbers;
    }
    [[nodiscard]] std::vector<std::string> phases() const {
        std::vector<std::string> names;
        for (const auto& event : of_type("phase"))
            if (names.empty() || event.at("phase") != names.back())
                names.push_back(event.at("phase"));
        return names;
    }
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const auto& event : events)
            all += event.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
        return all;
    }

    std::vector<Json> events;
    std::function<void(const Json&)> on_event;
};

/// Gives a command when the trainer asks for the n-th time: the same place in every repetition. Only questions at a
/// safe point count (a trainer that prepares asks as often as time lets it), so counting begins with the phase
/// "training".
class CommandAt : public CommandSource {
public:
    CommandAt() = default;
    CommandAt(std::int64_t at, Command command) : at_(at), command_(command) {}

    /// Hears the events, to know when training begins.
    void watch(EventLog& log) {
        log.on_event = [this](const Json& event) {
            if (event.at("type") == "phase" && event.at("phase") == "training")
                counting_ = true;
        };
    }
    std::optional<Command> poll() override {
        if (!counting_ || at_ < 0 || asked_++ != at_)
            return std::nullopt;
        return command_;
    }
    std::optional<Command> wait(std::chrono::milliseconds) override { return Command::resume; }
    /// Never asked within a step, or between all of its kernels: not by how fast the machine is.
    [[nodiscard]] std::chrono::milliseconds patience() const override {
        return within_steps ? std::chrono::milliseconds(0) : std::chrono::hours(24);
    }

    bool within_steps = false;

    [[nodiscard]] std::int64_t asked() const { return asked_; }

private:
    std::int64_t at_ = -1;
    Command command_ = Command::stop;
    std::int64_t asked_ = 0;
    bool counting_ = false;
};

/// A run in a folder of its own: a small network on made-up images, so that a run takes milliseconds.
class SmallRun {
public:
    explicit SmallRun(const std::vector<std::string>& settings = {}) {
        Json json{{"data", "synthetic:1x8x8,3,53"},
                  {"network", {{"network", "quick"}, {"widths", {4, 8}}}},
                  {"batch", 8},
                  {"epochs", 3},
                  {"threads", 1},
                  {"optimizer", {{"learning_rate", 0.05}}},
                  {"schedule", {{"kind", "cosine"}, {"warmup_epochs", 0.5}}},
                  {"augmentation", {{"crop", 1}, {"flip", true}}},
                  {"checkpoint", {{"every_minutes", 0}}}};
        for (const auto& setting : settings)
            set_by_path(json, setting);
        write(json);
    }

    [[nodiscard]] RunFolder folder() const { return RunFolder(directory_.path().toStdString()); }
    void set(const std::string& setting) {
        Json json = read_json(folder().config());
        set_by_path(json, setting);
        write(json);
    }

    RunOutcome train(EventLog& log, CommandSource& commands) const { return train_run(folder().path(), log, commands); }
    /// Trains until the command (none: to the end).
    RunOutcome train(EventLog& log) const { return train(log, CommandAt()); }
    RunOutcome train(EventLog& log, CommandAt commands) const {
        commands.watch(log);
        auto outcome = train_run(folder().path(), log, commands);
        log.on_event = {};
        return outcome;
    }

    /// Trains to the end. Empty if it came there, else where and why it stopped.
    [[nodiscard]] std::string fault_of_training(EventLog& log) const {
        const auto outcome = train(log);
        return outcome.phase == "finished" ? std::string() : outcome.phase + ": " + outcome.reason;
    }

    [[nodiscard]] CheckpointFolder checkpoints() const { return CheckpointFolder(folder().checkpoints()); }
    [[nodiscard]] Checkpoint last() const { return load_checkpoint(checkpoints().last()); }

private:
    void write(const Json& json) const { write_json(folder().config(), RunConfig::from_json(json).to_json()); }

    QTemporaryDir directory_;
};

/// What differs between two checkpoints; empty if every value, slot and counter has the same bits. Times do not count.
std::string difference(const Checkpoint& a, const Checkpoint& b);

} // namespace espalier::test
