// SPDX-License-Identifier: GPL-3.0-or-later
#include "desktop_notice.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QGuiApplication>
#include <QVariantMap>
#include <utility>

namespace espalier {

namespace {

constexpr auto interface = "org.freedesktop.Notifications"; // the service's name, too
constexpr auto place = "/org/freedesktop/Notifications";
constexpr uchar normal = 1, critical = 2;
constexpr int as_long_as_others = -1;

} // namespace

DesktopNotice::DesktopNotice(QString connection, QObject* parent)
    : QObject(parent), connection_(std::move(connection)) {}

void DesktopNotice::show(const QString& title, const QString& text, bool urgent, std::function<void()> otherwise) {
    QDBusConnection bus = connection_.isEmpty() ? QDBusConnection::sessionBus() : QDBusConnection(connection_);
    if (!bus.isConnected())
        return otherwise();
    const QString service = connection_.isEmpty() ? QLatin1String(interface) : QString(); // a peer has no name
    if (!std::exchange(listening_, true))
        bus.connect(service, QLatin1String(place), QLatin1String(interface), QStringLiteral("ActionInvoked"), this,
                    SLOT(invoked(uint, QString)));
    QDBusMessage call = QDBusMessage::createMethodCall(service, QLatin1String(place), QLatin1String(interface),
                                                       QStringLiteral("Notify"));
    call << QGuiApplication::applicationDisplayName() << 0U << QGuiApplication::desktopFileName() << title
         << text.toHtmlEscaped() // desktops read marks in it
         << QStringList{QStringLiteral("default"), title}
         << QVariantMap{{QStringLiteral("desktop-entry"), QGuiApplication::desktopFileName()},
                        {QStringLiteral("urgency"), QVariant::fromValue(urgent ? critical : normal)}}
         << as_long_as_others;
    auto* answer = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer, otherwise = std::move(otherwise)] {
        const QDBusPendingReply<uint> id = *answer;
        answer->deleteLater();
        if (id.isError())
            otherwise();
        else
            shown_.insert(id.value());
    });
}

void DesktopNotice::invoked(uint id, const QString& action) {
    if (action == u"default" && shown_.contains(id)) // others hear of everybody's
        emit clicked();
}

} // namespace espalier
