// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QSet>
#include <QString>
#include <functional>

namespace espalier {

/// News that the desktop shows, whether it has a tray or not: by Notify of org.freedesktop.Notifications on D-Bus, which
/// GNOME, KDE and others answer.
class DesktopNotice : public QObject {
    Q_OBJECT

public:
    /// `connection`: the name of a QDBusConnection; empty: the session's bus.
    explicit DesktopNotice(QString connection, QObject* parent = nullptr);

    /// `urgent`: it stays until a person has seen it. `otherwise` is called where nobody shows it.
    void show(const QString& title, const QString& text, bool urgent, std::function<void()> otherwise);

signals:
    void clicked();

private slots:
    void invoked(uint id, const QString& action);

private:
    QString connection_;
    QSet<uint> shown_; ///< as the desktop numbers them
    bool listening_ = false;
};

} // namespace espalier
