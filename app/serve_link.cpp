// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve_link.h"

#include "worker/protocol.h"

#include <QProcess>

namespace espalier {

namespace {
constexpr qsizetype kept_words = 2000; ///< bytes of standard error that are shown when the process dies
constexpr int patience_ms = 1500;
} // namespace

ServeLink::ServeLink(CommandLine command) : command_(std::move(command)) {}

ServeLink::~ServeLink() { shut(); }

void ServeLink::start() {
    shut_ = false;
    parts_.clear();
    last_words_.clear();
    noise_.clear();
    noise_told_ = false;
    reader_.emplace([this](Json message) { read(std::move(message)); }, [this](std::string_view text) { noise(text); });
    abandon();
    process_ = new QProcess(this);
    connect(process_, &QProcess::readyReadStandardOutput, this, &ServeLink::drain);
    connect(process_, &QProcess::readyReadStandardError, this, [this] {
        last_words_ += process_->readAllStandardError();
        last_words_ = last_words_.right(kept_words);
    });
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended({.started = false,
                   .problem = tr("%1 could not be started: %2").arg(command_.program, process_->errorString())});
    });
    connect(process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        drain();
        reader_->finish();
        last_words_ += process_->readAllStandardError();
        ended({.crashed = status == QProcess::CrashExit, .code = code, .words = decode_console(last_words_).trimmed()});
    });
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("WSL_UTF8"), QStringLiteral("1")); // what wsl.exe says itself
    process_->setProcessEnvironment(environment);
    process_->start(command_.program, command_.arguments);
}

/// Of a connection that is made anew: what held it so far answers nobody any more.
void ServeLink::abandon() {
    if (process_ && process_->state() != QProcess::NotRunning) {
        process_->disconnect(this);
        process_->kill();
        process_->waitForFinished(patience_ms);
    }
    delete process_;
    process_ = nullptr;
    const std::lock_guard guard(mutex_);
    box_.clear();
}

void ServeLink::send(const protocol::Request& request) {
    if (!process_ || process_->state() == QProcess::NotRunning)
        return; // `lost` is on its way and answers for it
    for (const std::string& line : protocol::to_lines(protocol::to_message(request)))
        process_->write(line.data(), static_cast<qint64>(line.size()));
}

void ServeLink::shut() {
    if (!process_)
        return;
    shut_ = true;
    if (process_->state() != QProcess::NotRunning) {
        process_->closeWriteChannel();
        if (!process_->waitForFinished(patience_ms)) {
            process_->terminate();
            if (!process_->waitForFinished(patience_ms))
                process_->kill();
            process_->waitForFinished(patience_ms);
        }
    }
    delete process_;
    process_ = nullptr;
}

void ServeLink::take(std::deque<Message>& into) {
    const std::lock_guard guard(mutex_);
    if (into.empty()) {
        into.swap(box_);
        return;
    }
    for (Message& message : box_)
        into.push_back(std::move(message));
    box_.clear();
}

void ServeLink::put(Message message) {
    const std::lock_guard guard(mutex_);
    box_.push_back(std::move(message));
}

void ServeLink::drain() {
    if (!process_)
        return;
    const QByteArray bytes = process_->readAllStandardOutput();
    reader_->feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

void ServeLink::read(Json message) {
    auto reply = protocol::to_reply(message);
    if (!reply) {
        if (!protocol::is_event(message, "hello"))
            return; // other events belong to no request of ours
        noise_told_ = false;
        put({Message::Kind::hello, 0, std::move(message), {}, {.noise = noise_}});
        return;
    }
    switch (reply->kind) {
    case protocol::Reply::Kind::progress:
        if (const auto event = reply->body.find("event"); event != reply->body.end())
            put({Message::Kind::event, reply->id, Json::object(), read_event(std::move(*event)), {}});
        else
            put({Message::Kind::progress, reply->id, std::move(reply->body), {}, {}});
        return;
    case protocol::Reply::Kind::part:
        protocol::join_part(parts_.try_emplace(reply->id, Json::object()).first->second, reply->body);
        return;
    case protocol::Reply::Kind::error:
        parts_.erase(reply->id);
        put({Message::Kind::error, reply->id, std::move(reply->body), {}, {}});
        return;
    case protocol::Reply::Kind::answer: {
        Json whole = std::move(reply->body);
        if (const auto before = parts_.find(reply->id); before != parts_.end()) {
            protocol::join_part(before->second, whole);
            whole = std::move(before->second);
            parts_.erase(before);
        }
        put({Message::Kind::answer, reply->id, std::move(whole), {}, {}});
    }
    }
}

void ServeLink::noise(std::string_view text) {
    constexpr qsizetype most = 120;
    const QByteArray bytes(text.data(), static_cast<qsizetype>(text.size()));
    const QString shown = decode_console(bytes.left(2 * most)).trimmed().left(most);
    if (noise_.isEmpty())
        noise_ = shown;
    if (!std::exchange(noise_told_, true))
        put({Message::Kind::noise, 0, Json{{"text", shown.toStdString()}}, {}, {}});
    if (bytes.startsWith('{')) // half a line of the protocol says nothing of how it ended
        return;
    last_words_ += bytes + '\n';
    last_words_ = last_words_.right(kept_words);
}

void ServeLink::ended(ConnectionEnd end) {
    if (shut_)
        return;
    end.noise = noise_;
    put({Message::Kind::lost, 0, Json::object(), {}, std::move(end)});
}

} // namespace espalier
