// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "fake_run.h"
#include "worker/protocol.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier::test {

/// All runs that there are, with what is asked about them.
class FakeRuns {
public:
    FakeRuns(); ///< those of before, as Behaviour wants them
    FakeRuns(const FakeRuns&) = delete;
    FakeRuns& operator=(const FakeRuns&) = delete;
    ~FakeRuns() = default;

    /// The answer to a request about runs; throws what the error should say.
    [[nodiscard]] Json answer(const protocol::Request& request);
    /// Its answer comes when the run has ended.
    void attach(const protocol::Request& request);

private:
    void add_ended(const std::string& path, const char* state, std::vector<Json> events);
    FakeRun& add(const std::string& path, const char* state);
    [[nodiscard]] FakeRun& at(const std::string& path);
    [[nodiscard]] Json list();
    [[nodiscard]] Json start(const Json& arguments);
    [[nodiscard]] Json config_file(const std::string& path) const;
    void command(FakeRun& run, const std::string& name);

    std::map<std::string, std::unique_ptr<FakeRun>> runs_;
    std::vector<std::string> order_, queue_;   ///< paths, the oldest first
    std::map<std::string, std::string> trash_; ///< where a deleted run was
};

} // namespace espalier::test
