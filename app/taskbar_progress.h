// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <optional>

namespace espalier {

/// How far something is, on the program's icon in the taskbar or dock: by the D-Bus signal Update of
/// com.canonical.Unity.LauncherEntry, which KDE's taskbar, the docks of Ubuntu and others show. Nothing where there is
/// no such bus, or the desktop does not look.
class TaskbarProgress : public QObject {
    Q_OBJECT

public:
    /// `connection`: the name of a QDBusConnection; empty: the session's bus.
    explicit TaskbarProgress(QString connection, QObject* parent = nullptr);
    ~TaskbarProgress() override; ///< takes it off the icon

    /// 0 to 1; nothing: no progress is shown. The desktop hears of whole per cents.
    void set(std::optional<double> share);

private:
    QString connection_;
    std::optional<int> shown_; ///< per cent
};

} // namespace espalier
