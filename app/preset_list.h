// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine.h"
#include "preset_gallery.h"

namespace espalier {

/// The presets of a machine, and what its fit check says of each.
class PresetList : public QObject {
    Q_OBJECT

public:
    struct Preset {
        QString title;
        Json config;
    };
    explicit PresetList(Machine* machine, QObject* parent = nullptr);

    void load(); ///< `listed` when they are there, then `checked` for one after the other
    /// What new runs take: another one is another fit, and another time.
    void set_backend(const QString& backend);
    void forget_facts(); ///< they are another machine's
    [[nodiscard]] const Preset* find(const QString& name) const;

signals:
    void listed(const std::vector<PresetEntry>& presets);
    /// "78 k parameters · about 3 min", and whether it fits: as PresetGallery::set_facts() takes them.
    void checked(const QString& name, const QString& facts, const QString& fit, Role fit_role);
    void failed(const QString& text);

private:
    void take(const Json& answer);
    void check_all();
    void check(const QString& name);

    Machine* machine_;
    QString backend_ = QStringLiteral("auto");
    std::vector<QString> checked_;     ///< those whose card has room for the facts
    std::vector<std::int64_t> checks_; ///< requests on their way
    std::map<QString, Preset> presets_;
};

} // namespace espalier
