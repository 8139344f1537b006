// SPDX-License-Identifier: GPL-3.0-or-later
#include "folder_kind.h"

#include "json_convert.h"

#include <QSet>

namespace espalier {

namespace {

struct Entries {
    QSet<QString> files, folders;
};

Entries entries_of(const Json& list) {
    Entries entries;
    if (const auto items = list.find("entries"); items != list.end() && items->is_array())
        for (const Json& item : *items)
            if (item.is_object())
                (protocol::flag_at(item, "folder") ? entries.folders : entries.files).insert(text_at(item, "name"));
    return entries;
}

} // namespace

bool is_run_folder(const Json& list) {
    const Entries entries = entries_of(list);
    return entries.files.contains(QStringLiteral("config.json")) &&
           (entries.files.contains(QStringLiteral("events.jsonl")) ||
            entries.folders.contains(QStringLiteral("checkpoints")));
}

QString data_in_folder(const QString& path, const Json& list) {
    const auto [files, folders] = entries_of(list);
    const QString inside = path.endsWith(QLatin1Char('/')) ? path : path + QLatin1Char('/');
    if (files.contains(QStringLiteral("data_batch_1.bin")))
        return QStringLiteral("cifar10:") + path;
    if (files.contains(QStringLiteral("train.bin")) && files.contains(QStringLiteral("test.bin")))
        return QStringLiteral("cifar100:") + path;
    for (const auto& [name, kind] : {std::pair{"cifar-10-batches-bin", "cifar10:"}, {"cifar-100-binary", "cifar100:"}})
        if (folders.contains(QLatin1String(name)))
            return QLatin1String(kind) + inside + QLatin1String(name);
    QStringList tables;
    for (const QString& file : files) {
        if (file.startsWith(QStringLiteral("train-images-idx3-ubyte")) ||
            file.startsWith(QStringLiteral("train-images.idx3-ubyte")))
            return QStringLiteral("idx:") + path;
        if (file.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive))
            tables.append(file);
    }
    if (tables.size() == 1)
        return QStringLiteral("csv:") + inside + tables.front();
    return QStringLiteral("folder:") + path;
}

} // namespace espalier
