// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve_link.h"

#include "worker/protocol.h"

#include <QProcess>

namespace espalier {

namespace {
constexpr qsizetype kept_words = 2000; ///< bytes of standard error that are shown when the process dies
constexpr int patience_ms = 1500;
} // namespace

ServeLink::ServeLink(QString program, QStringList arguments)
    : program_(std::move(program)), arguments_(std::move(arguments)) {}

ServeLink::~ServeLink() { shut(); }

void ServeLink::start() {
    shut_ = false;
    parts_.clear();
    last_words_.clear();
    reader_.emplace([this](Json message) { read(std::move(message)); }, [this](std::string_view text) { noise(text); });
    delete process_;
    process_ = new QProcess(this);
    connect(process_, &QProcess::readyReadStandardOutput, this, &ServeLink::drain);
    connect(process_, &QProcess::readyReadStandardError, this, [this] {
        last_words_ += process_->readAllStandardError();
        last_words_ = last_words_.right(kept_words);
    });
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            ended(tr("%1 could not be started: %2").arg(program_, process_->errorString()));
    });
    connect(process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        drain();
        reader_->finish();
        const QString words = QString::fromUtf8(last_words_).trimmed().section(QLatin1Char('\n'), -1);
        ended((status == QProcess::CrashExit ? tr("The engine on this machine crashed (signal %1).")
                                             : tr("The engine on this machine ended with code %1."))
                  .arg(code) +
              (words.isEmpty() ? QString() : QLatin1Char(' ') + words));
    });
    process_->start(program_, arguments_);
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
        if (protocol::is_event(message, "hello"))
            put({Message::Kind::hello, 0, std::move(message), {}});
        return; // other events belong to no request of ours
    }
    switch (reply->kind) {
    case protocol::Reply::Kind::progress:
        if (const auto event = reply->body.find("event"); event != reply->body.end())
            put({Message::Kind::event, reply->id, Json::object(), read_event(std::move(*event))});
        else
            put({Message::Kind::progress, reply->id, std::move(reply->body), {}});
        return;
    case protocol::Reply::Kind::part:
        protocol::join_part(parts_.try_emplace(reply->id, Json::object()).first->second, reply->body);
        return;
    case protocol::Reply::Kind::error:
        parts_.erase(reply->id);
        put({Message::Kind::error, reply->id, std::move(reply->body), {}});
        return;
    case protocol::Reply::Kind::answer: {
        Json whole = std::move(reply->body);
        if (const auto before = parts_.find(reply->id); before != parts_.end()) {
            protocol::join_part(before->second, whole);
            whole = std::move(before->second);
            parts_.erase(before);
        }
        put({Message::Kind::answer, reply->id, std::move(whole), {}});
    }
    }
}

void ServeLink::noise(std::string_view text) {
    last_words_ += QByteArray(text.data(), static_cast<qsizetype>(text.size())) + '\n';
    last_words_ = last_words_.right(kept_words);
}

void ServeLink::ended(const QString& how) {
    if (shut_)
        return;
    put({Message::Kind::lost, 0, Json{{"text", how.toStdString()}}, {}});
}

} // namespace espalier
