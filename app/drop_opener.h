// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"

class QMimeData;

namespace espalier {

/// What becomes of a file or folder that is dropped on the window, named on its command line, or chosen as data: a folder
/// is looked into by the machine, which may be another one than this.
class DropOpener : public QObject {
    Q_OBJECT

public:
    explicit DropOpener(Machine* machine, QObject* parent = nullptr);

    [[nodiscard]] static bool can_take(const QMimeData* data);
    void take(const QMimeData* data);
    void take(const QString& path);
    /// A folder that somebody has chosen as data, whatever it holds.
    void take_data_folder(const QString& path);

signals:
    void run_dropped(const QString& path);
    void data_dropped(const QString& spec); ///< as a run's `data`
    void image_dropped(const QString& file);
    void refused(const QString& text);

private:
    /// Whether the machine that is looked at does not have it; says so.
    bool is_elsewhere(const QString& path);
    void look_into(const QString& path, bool may_be_run);

    Machine* machine_;
};

} // namespace espalier
