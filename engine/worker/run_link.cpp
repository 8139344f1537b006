// SPDX-License-Identifier: Apache-2.0
#include "worker/run_link.h"

#include "base/atomic_file.h"
#include "worker/protocol.h"

#include <QLocalSocket>
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

bool is_supervised(const std::filesystem::path& run) {
    const auto link = RunLink::read(run);
    if (!link)
        return false;
    QLocalSocket socket;
    socket.connectToServer(QString::fromStdString(link->socket));
    return socket.waitForConnected(2000);
}

} // namespace espalier
