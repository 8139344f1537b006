// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "worker/protocol.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace espalier::test {

/// A folder of runs of their own for a test over the real engine. What still runs at its end is stopped.
class RealRuns {
public:
    RealRuns() { qputenv("ESPALIER_RUNS", folder_.path().toLocal8Bit()); }
    RealRuns(const RealRuns&) = delete;
    RealRuns& operator=(const RealRuns&) = delete;
    ~RealRuns() {
        for (const Json& run : list())
            if (is_live(run))
                kill_supervisor(run);
    }

    /// What `espalier-train runs --json` says.
    [[nodiscard]] static Json list() {
        QProcess process;
        process.start(QStringLiteral(ESPALIER_TRAIN), {QStringLiteral("runs"), QStringLiteral("--json")});
        if (!process.waitForFinished(20000))
            return Json::array();
        const Json answer = Json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
        return answer.is_object() && answer.contains("runs") ? answer["runs"] : Json::array();
    }
    /// The state of the only run; empty if there are more or none.
    [[nodiscard]] static std::string state() {
        const Json runs = list();
        return runs.size() == 1 ? protocol::text_at(runs[0], "state") : std::string();
    }
    [[nodiscard]] static std::int64_t step() {
        const Json runs = list();
        return runs.size() == 1 ? static_cast<std::int64_t>(protocol::number_at(runs[0], "step")) : -1;
    }

private:
    static bool is_live(const Json& run) {
        const std::string state = protocol::text_at(run, "state");
        return state == "running" || state == "paused" || state == "preparing" || state == "queued";
    }
    static void kill_supervisor(const Json& run) {
        QFile file(QString::fromStdString(protocol::text_at(run, "path")) + QStringLiteral("/supervisor.json"));
        if (!file.open(QIODevice::ReadOnly))
            return;
        const Json json = Json::parse(file.readAll().toStdString(), nullptr, false);
        QProcess::execute(QStringLiteral("kill"),
                          {QString::number(static_cast<qint64>(protocol::number_at(json, "pid")))});
    }

    QTemporaryDir folder_;
};

} // namespace espalier::test
