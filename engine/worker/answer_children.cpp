// SPDX-License-Identifier: Apache-2.0
#include "worker/answer_children.h"

#include "base/error.h"
#include "train/run_config.h"
#include "worker/protocol.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QProcess>
#include <QTimer>
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace espalier {
namespace {

using protocol::Reply;

constexpr std::chrono::milliseconds look_around{50}; ///< between two looks at a cancel
constexpr std::chrono::milliseconds farewell{1000};  ///< for a child to come to an end
constexpr std::chrono::seconds kept{20};             ///< a child without work

std::string last_line(QByteArray text) {
    text = text.trimmed();
    return text.mid(text.lastIndexOf('\n') + 1).left(300).toStdString();
}

/// What a child says to one request, on its way to the thread that waits for it.
class Talk {
public:
    void say(Reply reply) {
        const std::lock_guard lock(mutex_);
        replies_.push_back(std::move(reply));
        news_.notify_one();
    }
    void end(std::string why) {
        const std::lock_guard lock(mutex_);
        death_ = std::move(why);
        news_.notify_one();
    }
    /// The next reply, if one comes soon. Throws DeviceError if none comes any more.
    std::optional<Reply> next() {
        std::unique_lock lock(mutex_);
        news_.wait_for(lock, look_around, [this] { return !replies_.empty() || death_; });
        if (!replies_.empty()) {
            auto reply = std::move(replies_.front());
            replies_.pop_front();
            return reply;
        }
        if (death_)
            throw DeviceError(*death_);
        return std::nullopt;
    }

private:
    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Reply> replies_;
    std::optional<std::string> death_;
};

/// A child process, at work for somebody, or kept.
class Child : public QObject {
public:
    Child(QObject* parent, std::function<void(Child*)> done)
        : QObject(parent), process_(new QProcess), done_(std::move(done)) {
        connect(process_, &QProcess::readyReadStandardOutput, this, [this] { read(); });
        connect(process_, &QProcess::finished, this, [this] { ended(death()); });
        connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                failed_to_start();
        });
        timer_.setSingleShot(true);
        connect(&timer_, &QTimer::timeout, this, [this] { end(); });
        process_->start(QCoreApplication::applicationFilePath(), {"answer"});
        if (process_->state() == QProcess::NotRunning && !ending_) // not every failure is signalled
            failed_to_start();
    }
    /// A child deep in a driver's call does not even heed SIGKILL before that call returns, and nobody waits for it.
    ~Child() override {
        process_->disconnect(this);
        process_->kill();
        if (process_->state() == QProcess::NotRunning)
            delete process_;
        else
            connect(process_, &QProcess::finished, process_, &QObject::deleteLater);
    }

    [[nodiscard]] bool idle() const { return !busy_ && !ending_; }
    [[nodiscard]] bool works_for(const Talk* talk) const { return talk_.get() == talk; }

    void begin(const protocol::Request& request, std::shared_ptr<Talk> talk) {
        if (ending_) // it could not even start
            return talk->end(why_);
        timer_.stop();
        talk_ = std::move(talk);
        busy_ = true;
        request_ = request.name;
        for (const auto& line : protocol::to_lines(to_message(request)))
            process_->write(line.data(), static_cast<qint64>(line.size()));
    }
    /// Nobody listens any more.
    void leave() {
        talk_.reset();
        timer_.start(farewell);
    }
    void end() {
        ending_ = true;
        process_->kill();
        deleteLater();
    }
    void wait_for_end(const QDeadlineTimer& deadline) {
        process_->waitForFinished(static_cast<int>(deadline.remainingTime()));
    }

private:
    void read() {
        const auto bytes = process_->readAllStandardOutput();
        reader_.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    }
    void take(const Json& message) {
        auto reply = protocol::to_reply(message);
        if (!reply || !busy_)
            return;
        const bool last = reply->kind == Reply::Kind::answer || reply->kind == Reply::Kind::error;
        const bool fault = reply->kind == Reply::Kind::error &&
                           protocol::whole_at(reply->body, "code", 1) == static_cast<int>(ExitCode::device_fault);
        if (talk_)
            talk_->say(std::move(*reply));
        if (!last)
            return;
        talk_.reset();
        busy_ = false;
        timer_.start(kept);
        if (fault) // nothing that it has opened can be trusted
            end();
        else
            done_(this);
    }
    void failed_to_start() {
        ended("The program cannot start itself for this request: " + process_->errorString().toStdString() +
              ". Close other programs and try again.");
    }
    void ended(std::string why) {
        read();
        why_ = std::move(why);
        if (talk_)
            talk_->end(why_);
        ending_ = true;
        deleteLater();
    }
    std::string death() {
        const auto said = last_line(process_->readAllStandardError());
        const auto how = " ended unexpectedly (" +
                         (process_->exitStatus() == QProcess::CrashExit ? "signal " : std::string("exit code ")) +
                         std::to_string(process_->exitCode()) + (said.empty() ? "" : ": " + said) + "). ";
        if (request_.empty() || request_ == "probe" || request_ == "plan") // they do little but ask the devices
            return "The process that asks the devices" + how +
                   "Choose the cpu backend, or install the GPU's driver and this program again.";
        return "The process that answered \"" + request_ + "\"" + how +
               "If memory ran out, close other programs or choose a smaller set; if the GPU's driver failed, choose "
               "the cpu backend.";
    }

    QProcess* process_;
    std::function<void(Child*)> done_; ///< called when it has become idle
    QTimer timer_;
    std::shared_ptr<Talk> talk_;
    bool busy_ = false, ending_ = false;
    std::string request_; ///< the latest one
    std::string why_;     ///< it has ended
    protocol::LineReader reader_{[this](const Json& message) { take(message); }};
};

} // namespace

/// The children, all of them in one thread with an event loop.
class AnswerChildren::Home : public QObject {
public:
    void begin(const protocol::Request& request, std::shared_ptr<Talk> talk) {
        auto* child = find(&Child::idle);
        if (!child)
            child = new Child(this, [this](Child* latest) { keep_alone(latest); });
        child->begin(request, std::move(talk));
    }
    void leave(const Talk* talk, bool at_once) {
        auto* child = find([talk](const Child* one) { return one->works_for(talk); });
        if (!child)
            return;
        child->leave();
        if (at_once)
            child->end();
    }
    /// Those without work, or all, and waits for them.
    void end(bool all) {
        std::vector<Child*> ending;
        for (auto* child : every())
            if (all || child->idle())
                ending.push_back(child);
        for (auto* child : ending)
            child->end();
        const QDeadlineTimer deadline(farewell);
        for (auto* child : ending)
            child->wait_for_end(deadline);
    }

private:
    [[nodiscard]] std::vector<Child*> every() const {
        std::vector<Child*> result;
        for (auto* child : children())
            result.push_back(static_cast<Child*>(child));
        return result;
    }
    template <class Predicate>
    [[nodiscard]] Child* find(Predicate is_it) const {
        const auto all = every();
        const auto found = std::ranges::find_if(all, [&](const Child* child) { return std::invoke(is_it, child); });
        return found == all.end() ? nullptr : *found;
    }
    /// One child is enough to be warm.
    void keep_alone(const Child* latest) {
        for (auto* child : every())
            if (child != latest && child->idle())
                child->end();
    }
};

AnswerChildren::AnswerChildren() : home_(new Home) {
    home_->moveToThread(&thread_);
    QObject::connect(&thread_, &QThread::finished, home_, &QObject::deleteLater);
    thread_.start();
}

AnswerChildren::~AnswerChildren() {
    // Waited for: a loop that is told to quit leaves undone what was only queued.
    QMetaObject::invokeMethod(
        home_, [this] { home_->end(true); }, Qt::BlockingQueuedConnection);
    thread_.quit();
    thread_.wait();
}

void AnswerChildren::let_go() {
    QMetaObject::invokeMethod(
        home_, [this] { home_->end(false); }, Qt::BlockingQueuedConnection);
}

Json AnswerChildren::answer(const std::string& request, const Json& arguments, const RequestContext& context,
                            std::chrono::milliseconds patience) {
    auto whole = arguments; // the child keeps its runs where this program does
    whole["runs_root"] = context.runs_root.string();
    const auto talk = std::make_shared<Talk>();
    QMetaObject::invokeMethod(
        home_, [this, talk, asked = protocol::Request{0, request, std::move(whole)}] { home_->begin(asked, talk); });
    bool hangs = false;
    struct Leave {
        AnswerChildren& children;
        const std::shared_ptr<Talk>& talk;
        const bool& hangs;
        ~Leave() {
            QMetaObject::invokeMethod(children.home_, [home = children.home_, talk = talk, at_once = hangs] {
                home->leave(talk.get(), at_once);
            });
        }
    } const leave{*this, talk, hangs};
    const auto until = patience.count() > 0 ? QDeadlineTimer(patience) : QDeadlineTimer(QDeadlineTimer::Forever);
    Json parts = Json::object();
    while (true) {
        auto reply = talk->next();
        context.check();
        if (!reply) {
            if (!until.hasExpired())
                continue;
            hangs = true;
            throw DeviceError("The process that asks the devices did not answer within " +
                              std::to_string(patience.count() / 1000) +
                              " s and was ended. The GPU's driver may hang: restart the machine, or choose the cpu "
                              "backend.");
        }
        switch (reply->kind) {
        case Reply::Kind::progress:
            context.progress(std::move(reply->body));
            break;
        case Reply::Kind::error:
            throw Error(protocol::text_at(reply->body, "text"),
                        static_cast<ExitCode>(protocol::whole_at(reply->body, "code", 1)));
        case Reply::Kind::part:
            protocol::join_part(parts, reply->body);
            break;
        default:
            protocol::join_part(parts, reply->body);
            return parts;
        }
    }
}

Json AnswerChildren::probe(const RequestContext& context, std::chrono::milliseconds patience, bool& complete) {
    try {
        return answer("probe", Json::object(), context, patience);
    } catch (const Error& error) {
        if (error.code() != ExitCode::device_fault)
            throw;
        complete = false;
        return answer("probe", {{"unusable", {{"cuda", error.what()}}}}, context, patience);
    }
}

void AnswerChildren::check_machine(const RunConfig& config, const RequestContext& context,
                                   const ChildPatience& patience) {
    const RequestContext quiet{context.runs_root, context.stop};
    if (config.backend != "auto" && config.backend != "cpu" && config.backend != "reference")
        (void)answer("probe", {{"backend", config.backend}}, quiet, patience.probe);
    if (config.memory_limit_mib == 0)
        return;
    auto whole = config.to_json();
    whole.erase("preset"); // of another release it may be none
    (void)answer("plan", {{"config", std::move(whole)}, {"memory_only", true}}, quiet, patience.plan);
}

} // namespace espalier
