// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "language.h"
#include "machine_spec.h"
#include "theme.h"

#include <QByteArray>
#include <QString>
#include <map>
#include <vector>

namespace espalier {

/// What the window remembers. One JSON file with a version, written whole or not at all.
struct Settings {
    Theme::Mode theme = Theme::Mode::system;
    Language language = Language::system;
    QByteArray geometry;
    QString last_run; ///< its path
    bool safe_mode = false;
    std::vector<MachineSpec> machines; ///< beside this PC
    QString machine;                   ///< the id of the one that is looked at; empty: this PC

    std::map<QString, QString> devices; ///< by a machine's id: what new runs take there, as a run's `backend`

    static constexpr int version = 1;
    /// A file that cannot be read is set aside as "settings.json.damaged", and `problem` says so; the defaults are
    /// returned. Of one that can be read in part (`forget_place`) the rest counts. No file is no problem. Settings of a
    /// newer version are read as far as they are known.
    static Settings load(const QString& file, QString* problem);
    /// The one in a file that is not otherwise looked at, and left as it is: it is needed before any text is.
    [[nodiscard]] static Language language_in(const QString& file);
    /// Whether these bytes are a place that QWidget::saveGeometry() has written. Qt also refuses one of a screen of
    /// quite another size, which is no damage.
    [[nodiscard]] static bool is_place(const QByteArray& geometry);
    /// The window's place cannot be used: it is forgotten, and the file kept as "settings.json.damaged". Returns that
    /// in a sentence.
    [[nodiscard]] QString forget_place(const QString& file);
    /// Returns what went wrong, empty if nothing.
    [[nodiscard]] QString save(const QString& file) const;
    /// settings.json in the configuration folder of this user.
    [[nodiscard]] static QString default_file();
};

} // namespace espalier
