// SPDX-License-Identifier: Apache-2.0
#include "worker/server.h"

#include "base/error.h"
#include "base/error_words.h"
#include "worker/run_overview.h"

#include <QCoreApplication>
#include <limits>

namespace espalier {
namespace {

using protocol::Reply;
using protocol::Request;

constexpr int most_at_once = 4;                       // requests of one name
constexpr std::size_t most_waiting = 4 * 1024 * 1024; // bytes on their way to a slow reader before attached runs wait

Json capabilities() {
    Json names = {"attach", "attach.packed", "overview.smoothing", "detach", "command", "cancel"};
    for (const auto& [name, function] : request_functions())
        names.push_back(name);
    return names;
}

std::vector<std::string> texts_at(const Json& object, const char* key) {
    std::vector<std::string> texts;
    if (const auto list = object.find(key); list != object.end() && list->is_array())
        for (const auto& item : *list)
            if (item.is_string())
                texts.push_back(item.get<std::string>());
    return texts;
}

} // namespace

Server::Server(OutputQueue& output, std::filesystem::path runs_root, ChildPatience patience)
    : output_(output), runs_root_(std::move(runs_root)), patience_(patience), functions_(request_functions()) {
    for (auto& [name, function] : functions_) {
        threads_[name].setMaxThreadCount(most_at_once);
        if (is_for_child(name))
            function = [this, name = name, limit = name == "plan" ? patience.plan : std::chrono::milliseconds::zero()](
                           const Json& arguments, const RequestContext& context) {
                return children_.answer(name, arguments, context, limit);
            };
    }
    functions_["probe"] = [this](const Json&, const RequestContext& context) { return probe(context); };
}

Json Server::probe(const RequestContext& context) {
    {
        const std::lock_guard lock(probed_mutex_);
        if (!probed_.is_null())
            return probed_;
    }
    bool complete = true;
    auto found = children_.probe(context, patience_.probe, complete);
    const std::lock_guard lock(probed_mutex_);
    if (complete) // else it is tried again the next time
        probed_ = found;
    return found;
}

Server::~Server() {
    attached_.clear();
    for (auto& [id, work] : working_)
        work.request_stop();
}

void Server::greet() {
    auto hello = protocol::make_event("hello");
    hello["protocol"] = protocol::version;
    hello["build"] = ESPALIER_VERSION;
    hello["capabilities"] = capabilities();
    hello["pid"] = QCoreApplication::applicationPid();
    for (const auto& line : protocol::to_lines(hello))
        output_.push(line);
}

void Server::take(const Json& message) {
    try {
        begin(protocol::to_request(message));
    } catch (const std::exception& error) {
        refuse(message, error);
    }
}

void Server::begin(const Request& request) {
    if (working_.contains(request.id) || attached_.contains(request.id))
        throw ConfigError("The number " + std::to_string(request.id) + " belongs to a request that is still answered.");
    if (request.name == "attach")
        return attach(request);
    if (request.name == "detach")
        return detach(request);
    if (request.name == "command")
        return command(request);
    if (request.name == "cancel")
        return cancel(request);
    const auto function = functions_.find(request.name);
    if (function == functions_.end())
        throw ConfigError("This program knows no request \"" + request.name + "\".");
    work(request, function->second);
}

void Server::work(const Request& request, const RequestFunction& function) {
    const auto stop = (working_[request.id] = std::stop_source()).get_token();
    // Whatever the thread says arrives in the event loop; after a cancel nobody listens any more.
    const auto say = [this, stop](Reply said) {
        QMetaObject::invokeMethod(
            &context_,
            [this, stop, said = std::move(said)] {
                if (stop.stop_requested())
                    return;
                if (said.kind == Reply::Kind::answer || said.kind == Reply::Kind::error)
                    working_.erase(said.id);
                reply(said);
            },
            Qt::QueuedConnection);
    };
    threads_[request.name].start([this, request, function, stop, say] {
        RequestContext context{runs_root_, stop,
                               [&](Json body) {
                                   say({request.id, Reply::Kind::progress, std::move(body)});
                               },
                               [&](Json body) {
                                   say({request.id, Reply::Kind::part, std::move(body)});
                               }};
        context.check_machine = [&](const RunConfig& config) { children_.check_machine(config, context, patience_); };
        context.free_devices = [this] { children_.let_go(); };
        try {
            context.check(); // cancelled while it waited for a thread
            say({request.id, Reply::Kind::answer, function(request.arguments, context)});
        } catch (const Error& error) {
            say(protocol::error_reply(request.id, error.what(), static_cast<int>(error.code())));
        } catch (const std::exception& error) {
            say(protocol::error_reply(request.id, words_of(error), static_cast<int>(ExitCode::failed)));
        }
    });
}

void Server::attach(const Request& request) {
    const auto path = required_text(request.arguments, "path");
    const auto id = request.id;
    // The lines of the file are whole messages already: wrapping them as text spares reading and writing each again.
    const auto begin = "{\"id\":" + std::to_string(id) + ",\"progress\":{\"event\":";
    RunFollower::Handlers handlers;
    handlers.line = [this, begin](std::string_view line) { output_.push(begin + std::string(line) + "}}\n"); };
    handlers.caught_up = [this, id] { reply({id, Reply::Kind::progress, {{"caught_up", true}}}); };
    handlers.ended = [this, id] { end_attachment(id, {id, Reply::Kind::answer, Json::object()}); };
    handlers.room = [this] { return output_.waiting() < most_waiting; };
    if (const auto wanted = texts_at(request.arguments, "packed"); !wanted.empty()) {
        handlers.table = [this, begin, wanted](const ColumnTable& table) {
            output_.push(begin + packed_event(table, wanted) + "}}\n");
        };
        handlers.making = [this, id](double share) { reply({id, Reply::Kind::progress, {{"making_columns", share}}}); };
        // Events follow it only later, from the event loop; and the queue takes lines from any thread.
        handlers.opened = [this, id, wanted](RunPast& past, const std::stop_token& stop) {
            if (auto overview = overview_of(past, wanted, stop); !overview.is_null())
                reply({id, Reply::Kind::progress, {{"overview", std::move(overview)}}});
        };
    }
    attached_[id] = {path, std::make_unique<RunFollower>(path, std::move(handlers))};
}

void Server::end_attachment(std::int64_t id, const Reply& last) {
    const auto found = attached_.find(id);
    if (found == attached_.end())
        return;
    // The follower may be calling: it goes when it has returned.
    std::shared_ptr<RunFollower> follower = std::move(found->second.follower);
    attached_.erase(found);
    QMetaObject::invokeMethod(
        &context_, [follower] {}, Qt::QueuedConnection);
    reply(last);
}

void Server::detach(const Request& request) {
    const auto path = required_text(request.arguments, "path");
    std::vector<std::int64_t> ids;
    for (const auto& [id, attachment] : attached_)
        if (attachment.path == path)
            ids.push_back(id);
    for (const auto id : ids)
        end_attachment(id, protocol::error_reply(id, "Detached.", static_cast<int>(ExitCode::stopped)));
    reply({request.id, Reply::Kind::answer, Json::object()});
}

void Server::command(const Request& request) {
    const auto path = required_text(request.arguments, "path");
    const auto name = required_text(request.arguments, "command");
    auto client = std::make_shared<RunClient>(RunClient::Handlers{});
    client->open(path);
    client->command(name, [this, id = request.id, client](std::optional<Refusal> refusal) {
        if (refusal)
            reply(protocol::error_reply(id, refusal->text, refusal->code));
        else
            reply({id, Reply::Kind::answer, Json::object()});
        // Keeps the client until its own call has returned.
        QMetaObject::invokeMethod(
            &context_, [client] {}, Qt::QueuedConnection);
    });
}

void Server::cancel(const Request& request) {
    constexpr auto any = std::numeric_limits<std::int64_t>::max();
    if (!request.arguments.contains("target"))
        throw ConfigError("The request needs a number `target`: that of the request to cancel.");
    const auto target = whole_argument(request.arguments, "target", 0, -any - 1, any);
    const auto cancelled = protocol::error_reply(target, "Cancelled.", static_cast<int>(ExitCode::stopped));
    if (const auto found = working_.find(target); found != working_.end()) {
        found->second.request_stop();
        working_.erase(found);
        reply(cancelled);
    } else {
        end_attachment(target, cancelled);
    }
    reply({request.id, Reply::Kind::answer, Json::object()});
}

void Server::reply(const Reply& reply) {
    try {
        for (const auto& line : protocol::to_lines(to_message(reply)))
            output_.push(line);
    } catch (const Error& error) {
        for (const auto& line : protocol::to_lines(to_message(protocol::error_reply(reply.id, error.what(), 1))))
            output_.push(line);
    }
}

void Server::refuse(const Json& message, const std::exception& error) {
    if (const auto id = protocol::id_of(message))
        return fail(*id, error);
    auto line = to_message(protocol::error_reply(0, words_of(error), static_cast<int>(ExitCode::bad_configuration)));
    line["id"] = nullptr;
    for (const auto& text : protocol::to_lines(line))
        output_.push(text);
}

void Server::fail(std::int64_t id, const std::exception& error) {
    const auto* ours = dynamic_cast<const Error*>(&error);
    reply(protocol::error_reply(id, words_of(error), static_cast<int>(ours ? ours->code() : ExitCode::failed)));
}

} // namespace espalier
