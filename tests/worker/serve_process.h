// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worker/protocol.h"

#include <QProcess>
#include <QTest>
#include <algorithm>
#include <map>
#include <vector>

/// A window's side of `espalier-train serve`, for tests.
class ServeProcess {
public:
    static constexpr int patient = 60000; // for a loaded machine

    explicit ServeProcess(const QString& runs, const QString& program = ESPALIER_TRAIN, const QStringList& more = {},
                          const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
        QObject::connect(&process_, &QProcess::readyReadStandardOutput, &process_,
                         [this] { reader_.feed(process_.readAllStandardOutput().toStdString()); });
        process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        process_.setProcessEnvironment(environment);
        process_.start(program, QStringList{"serve", "--runs", runs} + more);
    }
    ~ServeProcess() {
        process_.closeWriteChannel();
        if (!process_.waitForFinished(patient))
            process_.kill();
        process_.waitForFinished();
    }

    std::int64_t ask(const std::string& request, espalier::Json arguments = espalier::Json::object()) {
        const auto id = ++last_id_;
        write(espalier::protocol::to_message(espalier::protocol::Request{id, request, std::move(arguments)}));
        return id;
    }
    void write(const espalier::Json& message) {
        for (const auto& line : espalier::protocol::to_lines(message))
            process_.write(line.data(), static_cast<qint64>(line.size()));
    }
    bool wait_for(std::int64_t id) {
        return QTest::qWaitFor([&] { return ended_.contains(id); }, patient);
    }
    /// The joined answer; an object {"error": ...} if it is one, null if none came.
    espalier::Json answer(std::int64_t id) { return wait_for(id) ? ended_.at(id) : espalier::Json(); }
    espalier::Json get(const std::string& request, espalier::Json arguments = espalier::Json::object()) {
        return answer(ask(request, std::move(arguments)));
    }

    QProcess& process() { return process_; }
    std::vector<espalier::Json>& events_of(std::int64_t id) { return events_[id]; }
    /// What came beside the events.
    std::vector<espalier::Json>& progress_of(std::int64_t id) { return progress_[id]; }
    bool caught_up(std::int64_t id) const { return caught_up_.contains(id); }
    bool has_event(std::int64_t id, const char* type) {
        return QTest::qWaitFor(
            [&] {
                const auto& events = events_[id];
                return std::any_of(events.begin(), events.end(),
                                   [&](const auto& e) { return espalier::protocol::is_event(e, type); });
            },
            patient);
    }
    /// Whether such an event has come already.
    bool seen(std::int64_t id, const char* type) {
        const auto& events = events_[id];
        return std::any_of(events.begin(), events.end(),
                           [&](const auto& e) { return espalier::protocol::is_event(e, type); });
    }
    /// Waits for the run to enter a phase.
    bool has_phase(std::int64_t id, const std::string& phase) {
        return QTest::qWaitFor(
            [&] {
                const auto& events = events_[id];
                return std::any_of(events.begin(), events.end(), [&](const auto& e) {
                    return espalier::protocol::is_event(e, "phase") && espalier::protocol::text_at(e, "phase") == phase;
                });
            },
            patient);
    }
    bool answered(std::int64_t id) const { return ended_.contains(id); }
    const espalier::Json& hello() {
        (void)QTest::qWaitFor([this] { return !hello_.is_null(); }, patient);
        return hello_;
    }

private:
    void take(const espalier::Json& message) {
        using Kind = espalier::protocol::Reply::Kind;
        const auto reply = espalier::protocol::to_reply(message);
        if (!reply) {
            hello_ = message;
            return;
        }
        switch (reply->kind) {
        case Kind::progress:
            if (reply->body.contains("event"))
                events_[reply->id].push_back(reply->body.at("event"));
            else
                progress_[reply->id].push_back(reply->body);
            if (reply->body.contains("caught_up"))
                caught_up_[reply->id] = true;
            break;
        case Kind::part:
            espalier::protocol::join_part(parts_[reply->id], reply->body);
            break;
        case Kind::answer: {
            auto whole = parts_.contains(reply->id) ? parts_[reply->id] : espalier::Json::object();
            espalier::protocol::join_part(whole, reply->body);
            ended_[reply->id] = whole;
            break;
        }
        case Kind::error:
            ended_[reply->id] = {{"error", reply->body}};
            break;
        }
    }

    QProcess process_;
    espalier::protocol::LineReader reader_{[this](const espalier::Json& message) { take(message); }};
    std::int64_t last_id_ = 0;
    espalier::Json hello_;
    std::map<std::int64_t, espalier::Json> parts_, ended_;
    std::map<std::int64_t, std::vector<espalier::Json>> events_, progress_;
    std::map<std::int64_t, bool> caught_up_;
};
