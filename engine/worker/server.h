// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/answer_children.h"
#include "worker/child_request.h"
#include "worker/output_queue.h"
#include "worker/protocol.h"
#include "worker/requests.h"
#include "worker/run_follower.h"

#include <QObject>
#include <QThreadPool>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace espalier {

/// Answers the requests of docs/PROTOCOL.md. Each request that may take time works in a thread of its own and can be
/// cancelled; of one name only a few work at once, so that a pile of slow ones holds up no other. Attached runs are
/// followed in the event loop, as fast as the other side reads. What may ask a device is answered by a child: this
/// process never opens one.
class Server {
public:
    Server(OutputQueue& output, std::filesystem::path runs_root, ChildPatience patience = {});
    /// Cancels what still works, and waits until it has noticed.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// The first line: who we are.
    void greet();
    void take(const Json& message);

private:
    void begin(const protocol::Request& request);
    void work(const protocol::Request& request, const RequestFunction& function);
    void attach(const protocol::Request& request);
    void detach(const protocol::Request& request);
    void command(const protocol::Request& request);
    void cancel(const protocol::Request& request);
    void end_attachment(std::int64_t id, const protocol::Reply& reply);
    void reply(const protocol::Reply& reply);
    void fail(std::int64_t id, const std::exception& error);
    /// The answer to what is no request. An id that could not come back as it was sent comes back as null.
    void refuse(const Json& message, const std::exception& error);

    [[nodiscard]] Json probe(const RequestContext& context);

    struct Attachment {
        std::string path;
        std::unique_ptr<RunFollower> follower;
    };

    OutputQueue& output_;
    std::filesystem::path runs_root_;
    ChildPatience patience_;
    AnswerChildren children_;
    RequestFunctions functions_; ///< as serve answers them
    std::mutex probed_mutex_;
    Json probed_;     ///< what the first probe that came to its end has found: devices do not come and go
    QObject context_; ///< receives what other threads have done
    std::map<std::string, QThreadPool> threads_; ///< of each request: a slow one holds up none of another name
    std::map<std::int64_t, std::stop_source> working_;
    std::map<std::int64_t, Attachment> attached_;
};

} // namespace espalier
