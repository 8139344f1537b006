// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "way_on.h"

#include <QWidget>

class QLabel;
class QPushButton;

namespace espalier {

/// What stands in a view of a run that has nothing to show yet: why, and the button that changes it, if one does.
class RunEmpty : public QWidget {
    Q_OBJECT

public:
    explicit RunEmpty(QWidget* parent = nullptr);
    /// Of a run whose network has not been built. `meanwhile`: said while it will be.
    void show_unbuilt(const RunModel* run, const QString& meanwhile);
    /// Of a run that has to be resumed for it, as `words` say.
    void show_resumable(const RunModel& run, const QString& words);

signals:
    void action_requested(const QString& command); ///< as RunActions::perform() takes them, or "log": to be shown

private:
    void set(const QString& words, const WayOn& way);

    QLabel* words_;
    QPushButton* button_;
};

} // namespace espalier
