// SPDX-License-Identifier: GPL-3.0-or-later
#include "taskbar_progress.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QGuiApplication>
#include <QVariantMap>
#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier {

TaskbarProgress::TaskbarProgress(QString connection, QObject* parent)
    : QObject(parent), connection_(std::move(connection)) {}

TaskbarProgress::~TaskbarProgress() { set(std::nullopt); }

void TaskbarProgress::set(std::optional<double> share) {
    const auto percent =
        share ? std::optional(static_cast<int>(std::floor(100 * std::clamp(*share, 0.0, 1.0)))) : std::nullopt;
    if (std::exchange(shown_, percent) == percent)
        return;
    const QDBusConnection bus = connection_.isEmpty() ? QDBusConnection::sessionBus() : QDBusConnection(connection_);
    if (!bus.isConnected())
        return;
    QDBusMessage update =
        QDBusMessage::createSignal(QStringLiteral("/io/github/espalier/Studio"),
                                   QStringLiteral("com.canonical.Unity.LauncherEntry"), QStringLiteral("Update"));
    update << QStringLiteral("application://%1.desktop").arg(QGuiApplication::desktopFileName())
           << QVariantMap{{QStringLiteral("progress"), percent.value_or(0) / 100.0},
                          {QStringLiteral("progress-visible"), percent.has_value()}};
    bus.send(update);
}

} // namespace espalier
