// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run_folder.h"
#include "worker/supervisor.h"

#include <QTemporaryDir>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace espalier::test {

/// A small run under the real supervisor, with real workers of a program that has faults in it.
class FaultyRun {
public:
    /// `settings` over a small network on made-up images; `faults`, one a line, as docs/CONTRIBUTING.md lists them.
    explicit FaultyRun(const std::vector<std::string>& settings = {}, const std::string& faults = {});

    /// Runs to its end; returns the exit code, -1 if it did not end.
    int run();
    [[nodiscard]] Supervisor::Settings& settings() { return settings_; }
    [[nodiscard]] RunFolder folder() const { return RunFolder(directory_.path().toStdString()); }
    [[nodiscard]] Json config() const { return read_json(folder().config()); }
    void set(const std::string& setting);
    /// Of the user, while it runs.
    void command(const std::string& name) { supervisor_->command(name); }

    [[nodiscard]] std::vector<Json> of_type(const std::string& type) const;
    /// Every `rung` of the fallbacks, in order.
    [[nodiscard]] std::vector<std::string> rungs() const;
    /// The first step that the run's n-th worker took; 0 if it took none.
    [[nodiscard]] std::int64_t first_step(int worker) const;
    /// Why the run did not do what it should: its warnings, errors and log.
    [[nodiscard]] std::string story() const;
    /// The faults that did not happen.
    [[nodiscard]] std::string faults_left() const;

    std::vector<Json> events;
    std::function<void(const Json&)> on_event;

private:
    [[nodiscard]] std::filesystem::path faults_file() const { return folder().path() / "faults-to-come"; }

    QTemporaryDir directory_;
    Supervisor::Settings settings_;
    Supervisor* supervisor_ = nullptr; ///< while it runs
};

} // namespace espalier::test
