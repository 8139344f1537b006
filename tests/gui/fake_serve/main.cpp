// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for `espalier-train serve` in tests of the window alone: it speaks docs/PROTOCOL.md and trains nothing.
#include "base/error.h"
#include "behaviour.h"
#include "fake_runs.h"
#include "made_up.h"
#include "made_up_results.h"
#include "output.h"
#include "slow_scans.h"

#include <filesystem>
#include <iostream>
#include <stdexcept>

using namespace espalier;
using namespace espalier::test;
using Kind = protocol::Reply::Kind;

namespace {

SlowScans& slow_scans = *new SlowScans;

void greet() {
    if (behaviour.late_hello) {
        send_raw("Your password has expired. Current password:\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(behaviour.late_hello));
    }
    if (behaviour.mute)
        return;
    Json hello = protocol::make_event("hello");
    hello["protocol"] = behaviour.version;
    if (behaviour.no_restore)
        hello["capabilities"] = {"attach", "runs", "delete", "presets", "probe"};
    if (behaviour.no_smoothing)
        hello["capabilities"] = {"attach", "runs", "delete", "presets", "probe", "fetch", "overview"};
    send_line(hello);
}

Json folder(const std::string& path) {
    Json entries = Json::array();
    for (const auto& entry : std::filesystem::directory_iterator(path))
        entries.push_back({{"name", entry.path().filename().string()}, {"folder", entry.is_directory()}});
    return {{"path", path}, {"entries", entries}};
}

/// The answer; throws what the error should say.
Json answer(const protocol::Request& request, FakeRuns& runs) {
    const Json& arguments = request.arguments;
    if (request.name == "probe")
        return devices();
    if (request.name == "presets")
        return presets();
    if (request.name == "list")
        return folder(protocol::text_at(arguments, "path"));
    if (request.name == "scan") {
        const std::string data = protocol::text_at(arguments, "data");
        if (data == "idx:/nowhere")
            throw DataError("There is no folder /nowhere.");
        Json found = data.starts_with("folder:") ? photos(data) : scan();
        if (behaviour.slow_scan)
            found["warnings"].push_back("Scans under way: " + std::to_string(slow_scans.count()));
        return found;
    }
    if (request.name == "cancel") {
        slow_scans.cancel(protocol::whole_at(arguments, "target"));
        return Json::object();
    }
    if (request.name == "confusion")
        return confusion(arguments);
    if (request.name == "cell_images")
        return cell_images(arguments);
    if (request.name == "predict") {
        if (!arguments.contains("image") && !arguments.contains("base64"))
            throw std::runtime_error("predict needs an image");
        return prediction();
    }
    return runs.answer(request);
}

/// In two parts, as the fit check comes.
void answer_plan(const protocol::Request& request) {
    if (protocol::text_at(request.arguments.at("config"), "data") == "synthetic:crash")
        std::_Exit(1);
    const Json whole = plan(request.arguments.at("config"));
    send_line(protocol::to_message(protocol::Reply{request.id, Kind::progress, {{"fit", quick_part(whole)}}}));
    const auto tell = [whole, id = request.id] {
        std::this_thread::sleep_for(std::chrono::milliseconds(behaviour.slow_plan));
        send_line(protocol::to_message(protocol::Reply{id, Kind::answer, whole}));
    };
    if (behaviour.slow_plan)
        std::thread(tell).detach();
    else
        tell();
}

/// Later, and then also what nobody waits for any more.
void answer_after(std::int64_t ms, const protocol::Request& request, Json body) {
    const auto tell = [ms, line = protocol::to_message(protocol::Reply{request.id, Kind::answer, std::move(body)})] {
        std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        send_line(line);
    };
    if (ms > 0)
        std::thread(tell).detach();
    else
        tell();
}

} // namespace

int main(int argc, char** argv) {
    read_behaviour(argc, argv);
    greet();
    FakeRuns runs;
    std::string line;
    while (std::getline(std::cin, line)) {
        const auto message = protocol::parse_line(line);
        if (!message || behaviour.mute)
            continue;
        const protocol::Request request = protocol::to_request(*message);
        try {
            if (request.name == "attach")
                runs.attach(request);
            else if (request.name == "scan" && behaviour.slow_scan &&
                     protocol::text_at(request.arguments, "data").starts_with("folder:"))
                slow_scans.begin(request.id);
            else if (request.name == "overview")
                answer_after(behaviour.slow_overview, request, stretch(request.arguments));
            else if (request.name == "thumbnails")
                answer_after(behaviour.slow_thumbnails, request,
                             thumbnails(protocol::text_at(request.arguments, "data")));
            else if (request.name == "plan")
                answer_plan(request);
            else
                send_line(protocol::to_message(protocol::Reply{request.id, Kind::answer, answer(request, runs)}));
        } catch (const Error& error) {
            send_line(
                protocol::to_message(protocol::error_reply(request.id, error.what(), static_cast<int>(error.code()))));
        } catch (const std::exception& error) {
            send_line(protocol::to_message(protocol::error_reply(request.id, error.what(), 1)));
        }
    }
    return 0;
}
