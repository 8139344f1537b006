// SPDX-License-Identifier: Apache-2.0
#include "worker/run_client.h"

#include "worker/run_link.h"

#include <utility>

namespace espalier {

RunClient::RunClient(Handlers handlers)
    : handlers_(std::move(handlers)), reader_([this](const Json& message) { take(message); }) {
    QObject::connect(&socket_, &QLocalSocket::readyRead, &socket_, [this] {
        const auto bytes = socket_.readAll();
        reader_.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
    });
    QObject::connect(&socket_, &QLocalSocket::disconnected, &socket_, [this] { closed(); });
}

RunClient::~RunClient() {
    socket_.disconnect(); // closing is no news any more, and what it would tell has gone before the socket
}

bool RunClient::open(const std::filesystem::path& run) {
    const auto link = RunLink::read(run);
    if (!link)
        return false;
    socket_.connectToServer(QString::fromStdString(link->socket));
    return socket_.waitForConnected(2000);
}

void RunClient::command(const std::string& command, std::function<void(std::optional<Refusal>)> answered) {
    if (!is_open())
        return answered(Refusal{"The run does not run: nobody takes commands for it.", 2});
    waiting_.push_back(std::move(answered));
    for (const auto& line : protocol::to_lines({{"command", command}}))
        socket_.write(line.data(), static_cast<qint64>(line.size()));
    socket_.flush();
}

void RunClient::take(const Json& message) {
    if (message.contains("grown") && handlers_.grown)
        handlers_.grown();
    if ((!message.contains("taken") && !message.contains("refused")) || waiting_.empty())
        return;
    const auto answered = std::move(waiting_.front());
    waiting_.pop_front();
    if (message.contains("taken"))
        answered(std::nullopt);
    else
        answered(Refusal{protocol::text_at(message, "text"), static_cast<int>(protocol::whole_at(message, "code", 1))});
}

void RunClient::closed() {
    for (const auto& answered : std::exchange(waiting_, {}))
        answered(Refusal{"The run ended before it could take the command.", 2});
    if (handlers_.closed)
        handlers_.closed();
}

} // namespace espalier
