// SPDX-License-Identifier: Apache-2.0
#include "worker/run_link.h"

#include "base/atomic_file.h"
#include "worker/protocol.h"

#include <QElapsedTimer>
#include <QLocalSocket>
#include <algorithm>
#include <fstream>
#include <iterator>

namespace espalier {

std::optional<RunLink> RunLink::read(const std::filesystem::path& run) {
    std::ifstream stream(run / file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    RunLink link{protocol::whole_at(json, "pid"), protocol::text_at(json, "socket")};
    return link.socket.empty() ? std::nullopt : std::optional(std::move(link));
}

void RunLink::write(const std::filesystem::path& run) const {
    write_file_atomically(run / file, Json{{"pid", pid}, {"socket", socket}}.dump() + '\n');
}

namespace {

bool connect(QLocalSocket& socket, const std::filesystem::path& run) {
    const auto link = RunLink::read(run);
    if (!link)
        return false;
    socket.connectToServer(QString::fromStdString(link->socket));
    return socket.waitForConnected(2000);
}

} // namespace

bool is_supervised(const std::filesystem::path& run) {
    QLocalSocket socket;
    return connect(socket, run);
}

bool is_at_work(const std::filesystem::path& run) {
    constexpr int patience_ms = 500;
    QLocalSocket socket;
    if (!connect(socket, run))
        return false;
    QElapsedTimer waited;
    waited.start();
    while (!socket.canReadLine() &&
           socket.waitForReadyRead(std::max(1, patience_ms - static_cast<int>(waited.elapsed())))) {
    }
    const auto greeting = protocol::parse_line(socket.readLine().trimmed().toStdString());
    return !greeting || !protocol::flag_at(*greeting, "paused");
}

} // namespace espalier
