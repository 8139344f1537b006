// SPDX-License-Identifier: GPL-3.0-or-later
#include "drop_opener.h"

#include "folder_kind.h"
#include "image_file.h"

#include <QDir>
#include <QFileInfo>
#include <QMimeData>
#include <QUrl>

namespace espalier {

DropOpener::DropOpener(Machine* machine, QObject* parent) : QObject(parent), machine_(machine) {}

bool DropOpener::can_take(const QMimeData* data) {
    const QList<QUrl> urls = data->urls();
    return urls.size() == 1 && urls.front().isLocalFile();
}

void DropOpener::take(const QMimeData* data) {
    if (can_take(data))
        take(data->urls().front().toLocalFile());
}

void DropOpener::take(const QString& name) {
    const QFileInfo file(name);
    const QString path = file.absoluteFilePath();
    const QString ending = file.suffix().toLower();
    if (file.isFile() && is_image_name(path)) { // which goes to whatever machine predicts it
        emit image_dropped(path);
        return;
    }
    if (is_elsewhere(path))
        return;
    if (!file.exists()) {
        emit refused(tr("There is no file or folder %1.").arg(path));
        return;
    }
    if (file.isDir())
        look_into(path, true);
    else if (ending == u"safetensors" && file.dir().dirName() == u"checkpoints")
        emit run_dropped(QFileInfo(file.absolutePath()).absolutePath());
    else if (ending == u"csv")
        emit data_dropped(QStringLiteral("csv:") + path);
    else
        emit refused(tr("%1 is no folder of images, table (.csv), image, run folder or checkpoint in one.")
                         .arg(file.fileName()));
}

void DropOpener::take_data_folder(const QString& path) {
    if (!is_elsewhere(path))
        look_into(path, false);
}

bool DropOpener::is_elsewhere(const QString& path) {
    if (machine_->is_here())
        return false;
    emit refused(tr("%1 is on this PC. Copy it to %2, and type where it is there as the data of a new run.")
                     .arg(path, machine_->name()));
    return true;
}

void DropOpener::look_into(const QString& path, bool may_be_run) {
    machine_->request("list", Json{{"path", path.toStdString()}},
                      {[this, path, may_be_run](const Json& list) {
                           if (may_be_run && is_run_folder(list))
                               emit run_dropped(path);
                           else
                               emit data_dropped(data_in_folder(path, list));
                       },
                       [this](const QString& text, int) { emit refused(text); },
                       {},
                       {}});
}

} // namespace espalier
