// SPDX-License-Identifier: Apache-2.0
#include "worker/run_socket.h"

#include "base/error.h"
#include "worker/run_link.h"

#include <QCoreApplication>
#include <QLocalSocket>
#include <QUuid>

namespace espalier {
namespace {

void send(QLocalSocket& socket, const Json& message) {
    for (const auto& line : protocol::to_lines(message))
        socket.write(line.data(), static_cast<qint64>(line.size()));
}

} // namespace

RunSocket::RunSocket(const std::filesystem::path& run, CommandHandler on_command, std::function<bool()> is_paused)
    : on_command_(std::move(on_command)), is_paused_(std::move(is_paused)) {
    if (const auto old = RunLink::read(run)) // left by a supervisor that was killed; the run's lock is ours
        QLocalServer::removeServer(QString::fromStdString(old->socket));
    server_.setSocketOptions(QLocalServer::UserAccessOption);
    const auto name = "espalier-" + QUuid::createUuid().toString(QUuid::Id128);
    if (!server_.listen(name))
        throw Error("The supervisor cannot listen on a local socket: " + server_.errorString().toStdString());
    QObject::connect(&server_, &QLocalServer::newConnection, &server_, [this] { accept(); });
    RunLink{QCoreApplication::applicationPid(), server_.fullServerName().toStdString()}.write(run);
}

RunSocket::~RunSocket() {
    server_.close();
    for (auto& attacher : attachers_) {
        attacher.socket->disconnect();
        attacher.socket->flush();
        delete attacher.socket;
    }
}

void RunSocket::tell_grown() {
    for (auto& attacher : attachers_) {
        attacher.told_nothing = attacher.socket->bytesToWrite() > 0;
        if (!attacher.told_nothing)
            send(*attacher.socket, {{"grown", true}});
    }
}

void RunSocket::accept() {
    while (auto* socket = server_.nextPendingConnection()) {
        auto& attacher =
            attachers_.emplace_back(Attacher{socket, protocol::LineReader([this, socket](const Json& message) {
                                                 for (auto& one : attachers_)
                                                     if (one.socket == socket)
                                                         return serve(one, message);
                                             })});
        QObject::connect(socket, &QLocalSocket::readyRead, &server_, [&attacher] {
            const auto bytes = attacher.socket->readAll();
            attacher.reader.feed({bytes.constData(), static_cast<std::size_t>(bytes.size())});
        });
        QObject::connect(socket, &QLocalSocket::bytesWritten, &server_, [&attacher] {
            if (attacher.told_nothing && attacher.socket->bytesToWrite() == 0) {
                attacher.told_nothing = false;
                send(*attacher.socket, {{"grown", true}});
            }
        });
        QObject::connect(socket, &QLocalSocket::disconnected, &server_, [this, socket] {
            attachers_.remove_if([&](const Attacher& one) { return one.socket == socket; });
            socket->disconnect();
            socket->deleteLater();
        });
        send(*socket, {{"supervisor", QCoreApplication::applicationPid()},
                       {"protocol", protocol::version},
                       {"paused", is_paused_()}});
    }
}

void RunSocket::serve(Attacher& attacher, const Json& message) {
    const auto command = protocol::text_at(message, "command");
    if (command.empty())
        return;
    try {
        on_command_(command);
        send(*attacher.socket, {{"taken", command}});
    } catch (const Error& error) {
        send(*attacher.socket,
             {{"refused", command}, {"text", error.what()}, {"code", static_cast<int>(error.code())}});
    }
}

} // namespace espalier
