// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine.h"

#include "json_convert.h"
#include "worker/protocol.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QThread>
#include <algorithm>

namespace espalier {

namespace {
constexpr int most_failures = 4; ///< of this PC's engine: more would be the same
constexpr int first_pause_ms = 500, longest_pause_ms = 30000;

/// The thread of one link. Where nothing answers, a link takes seconds to shut: its thread ends by itself when it has,
/// and nobody waits for that but the program at its end.
class LinkThread : public QThread {
public:
    LinkThread() : QThread(QCoreApplication::instance()) {
        setObjectName(QStringLiteral("serve"));
        connect(this, &QThread::finished, this, &QObject::deleteLater);
        start();
    }
    ~LinkThread() override {
        quit();
        QThread::wait();
    }
};

} // namespace

Machine::Machine(CommandLine here, QObject* parent) : QObject(parent), here_(std::move(here)) {
    retry_.setSingleShot(true);
    connect(&retry_, &QTimer::timeout, this, &Machine::start);
    connect(&pulse_, &QTimer::timeout, this, &Machine::feel_pulse);
    make_link();
}

Machine::~Machine() { drop_link(); }

void Machine::make_link() {
    link_ = new ServeLink(machine_command(spec_, here_));
    auto* thread = new LinkThread;
    link_->moveToThread(thread);
    connect(link_, &QObject::destroyed, thread, &QThread::quit, Qt::DirectConnection);
}

void Machine::drop_link() {
    link_->deleteLater(); // in its thread: it shuts down first
    link_ = nullptr;
}

void Machine::use(const MachineSpec& spec) {
    retry_.stop();
    drop_link();
    waiting_.clear();
    connected_ = false;
    failures_ = 0;
    capabilities_.clear();
    const QString left = tr("%1 was left for %2.").arg(name(), spec.title());
    down_ = left;
    spec_ = spec;
    make_link();
    fail_all(left);
    start();
}

bool Machine::can(const char* request) const {
    return capabilities_.isEmpty() || capabilities_.contains(QLatin1String(request));
}

void Machine::start() {
    retry_.stop();
    down_.reset();
    if (std::exchange(connected_, false)) // it was silent
        waiting_.clear();
    fail_all(tr("The connection to %1 is made anew.").arg(name()));
    noise_.clear();
    word_came_ = false;
    quiet_beats_ = 0;
    pulse_.start(patience_ms_ / 2);
    QMetaObject::invokeMethod(link_, &ServeLink::start, Qt::QueuedConnection);
}

std::int64_t Machine::request(const char* name, Json arguments, Handlers handlers) {
    const std::int64_t id = next_id_++;
    open_[id] = std::move(handlers);
    if (down_) { // the link would drop it
        waiting_.push_back({Message::Kind::error, id, Json{{"text", down_->toStdString()}}, {}, {}});
        return id;
    }
    QMetaObject::invokeMethod(
        link_, [link = link_, request = protocol::Request{id, name, std::move(arguments)}] { link->send(request); },
        Qt::QueuedConnection);
    return id;
}

void Machine::cancel(std::int64_t id) {
    if (open_.erase(id) > 0)
        request("cancel", Json{{"target", id}});
}

void Machine::set_patience(int ms) {
    patience_ms_ = ms;
    if (pulse_.isActive())
        pulse_.start(patience_ms_ / 2);
}

/// A whole beat without a word: ask for one, with a request that whatever lives answers at once. Two: it is silent.
void Machine::feel_pulse() {
    if (std::exchange(word_came_, false)) {
        quiet_beats_ = 0;
        return;
    }
    if (++quiet_beats_ == 1 && connected_)
        request("cancel", Json{{"target", 0}});
    else if (quiet_beats_ == 2)
        emit silent(explain_silence(spec_, connected_, patience_ms_ / 1000, noise_));
}

bool Machine::take(int budget_ms) {
    const bool was_silent = quiet_beats_ >= 2;
    link_->take(waiting_);
    QElapsedTimer clock;
    clock.start();
    while (!waiting_.empty()) {
        Message message = std::move(waiting_.front());
        waiting_.pop_front();
        if (message.kind != Message::Kind::noise) {
            word_came_ = true;
            quiet_beats_ = 0;
        }
        dispatch(message);
        if (clock.elapsed() >= budget_ms)
            break;
    }
    if (was_silent && quiet_beats_ == 0)
        emit heard();
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
        noise_ = message.end.noise;
        build_ = text_at(message.body, "build");
        connected_ = true;
        failures_ = 0;
        emit connected();
        return;
    }
    if (message.kind == Message::Kind::noise) {
        noise_ = text_at(message.body, "text");
        if (connected_)
            emit passed_over(noise_);
        return;
    }
    if (message.kind == Message::Kind::lost) {
        const EndExplained end = explain_end(spec_, message.end, connected_);
        lose(end.text, end.again);
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

void Machine::fail_all(const QString& reason) {
    auto open = std::move(open_);
    open_.clear();
    for (const auto& [id, handlers] : open)
        if (handlers.error)
            handlers.error(reason, static_cast<int>(ExitCode::failed));
}

void Machine::lose(const QString& reason, bool may_return) {
    connected_ = false;
    pulse_.stop();
    quiet_beats_ = 0;
    ++failures_;
    const bool again = may_return && (failures_ <= most_failures || !is_here());
    down_ = reason;
    fail_all(reason);
    if (again) // before anybody hears of it, who may use another machine
        retry_.start(std::min(first_pause_ms << std::min(failures_ - 1, 10), longest_pause_ms));
    emit lost(reason, again);
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
