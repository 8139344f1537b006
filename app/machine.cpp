// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine.h"

#include "json_convert.h"
#include "worker/protocol.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTimer>

namespace espalier {

namespace {
constexpr int most_failures = 4;
}

Machine::Machine(const QString& name, const QString& program, const QStringList& arguments, QObject* parent)
    : QObject(parent), name_(name), link_(new ServeLink(program, arguments)) {
    thread_.setObjectName(QStringLiteral("serve"));
    link_->moveToThread(&thread_);
    connect(&thread_, &QThread::finished, link_, &QObject::deleteLater);
    thread_.start();
}

Machine::~Machine() {
    QMetaObject::invokeMethod(link_, &ServeLink::shut, Qt::QueuedConnection);
    thread_.quit();
    thread_.wait();
}

bool Machine::can(const char* request) const {
    return capabilities_.isEmpty() || capabilities_.contains(QLatin1String(request));
}

void Machine::start() { QMetaObject::invokeMethod(link_, &ServeLink::start, Qt::QueuedConnection); }

std::int64_t Machine::request(const char* name, Json arguments, Handlers handlers) {
    const std::int64_t id = next_id_++;
    open_[id] = std::move(handlers);
    QMetaObject::invokeMethod(
        link_, [link = link_, request = protocol::Request{id, name, std::move(arguments)}] { link->send(request); },
        Qt::QueuedConnection);
    return id;
}

void Machine::cancel(std::int64_t id) {
    if (open_.erase(id) > 0)
        request("cancel", Json{{"target", id}});
}

bool Machine::take(int budget_ms) {
    link_->take(waiting_);
    QElapsedTimer clock;
    clock.start();
    while (!waiting_.empty()) {
        Message message = std::move(waiting_.front());
        waiting_.pop_front();
        dispatch(message);
        if (clock.elapsed() >= budget_ms)
            break;
    }
    return !waiting_.empty();
}

void Machine::dispatch(Message& message) {
    if (message.kind == Message::Kind::hello) {
        try {
            protocol::check_version(protocol::text_at(message.body, "protocol"));
        } catch (const Error& error) {
            lose(to_qstring(error.what()), false);
            return;
        }
        capabilities_.clear();
        if (const auto list = message.body.find("capabilities"); list != message.body.end() && list->is_array())
            for (const Json& name : *list)
                if (name.is_string())
                    capabilities_.append(to_qstring(name.get<std::string>()));
        connected_ = true;
        failures_ = 0;
        emit connected();
        return;
    }
    if (message.kind == Message::Kind::lost) {
        lose(text_at(message.body, "text"), true);
        return;
    }
    const auto found = open_.find(message.id);
    if (found == open_.end())
        return; // cancelled
    switch (message.kind) {
    case Message::Kind::event:
        if (found->second.event)
            found->second.event(message.event);
        return;
    case Message::Kind::progress:
        if (found->second.progress)
            found->second.progress(message.body);
        return;
    default:
        break;
    }
    const Handlers handlers = std::move(found->second);
    open_.erase(found); // first: a handler may ask again
    if (message.kind == Message::Kind::answer && handlers.answer)
        handlers.answer(message.body);
    else if (message.kind == Message::Kind::error && handlers.error)
        handlers.error(text_at(message.body, "text"), static_cast<int>(protocol::number_at(message.body, "code")));
}

void Machine::lose(const QString& reason, bool may_return) {
    connected_ = false;
    auto open = std::move(open_);
    open_.clear();
    ++failures_;
    const bool again = may_return && failures_ <= most_failures;
    for (const auto& [id, handlers] : open)
        if (handlers.error)
            handlers.error(reason, static_cast<int>(ExitCode::failed));
    emit lost(reason, again);
    if (again)
        QTimer::singleShot(250 << failures_, this, &Machine::start);
}

QString find_engine() {
    const QString name = QStringLiteral("espalier-train");
    const QDir here(QCoreApplication::applicationDirPath());
    const QStringList places{here.path(), here.filePath(QStringLiteral("../libexec/espalier")),
                             here.filePath(QStringLiteral("../engine/worker")),
                             here.filePath(QStringLiteral("../bin"))};
    const QString beside = QStandardPaths::findExecutable(name, places);
    return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

} // namespace espalier
