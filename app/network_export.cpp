// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_export.h"

#include "format.h"
#include "json_convert.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QPointer>
#include <QSaveFile>
#include <QThreadPool>
#include <array>

namespace espalier {

namespace {

struct Format {
    const char* name;
    const char* suffix;
    QString words;
};

std::array<Format, 4> formats() {
    return {{{"onnx", "onnx", NetworkExport::tr("ONNX, for other programs (*.onnx)")},
             {"safetensors", "safetensors", NetworkExport::tr("Weights (*.safetensors)")},
             {"network", "json", NetworkExport::tr("Network without its weights, as JSON (*.json)")},
             {"genotype", "json", NetworkExport::tr("Genotype of a search (*.json)")}}};
}

/// What the name ends in says the format, for it may be typed in full; of two with one ending the chosen filter does.
QString format_of(const QString& file, const QString& filter) {
    const QString suffix = QFileInfo(file).suffix();
    QString chosen;
    for (const Format& format : formats())
        if (suffix == QLatin1String(format.suffix) && (chosen.isEmpty() || format.words == filter))
            chosen = QLatin1String(format.name);
    return chosen.isEmpty() ? QStringLiteral("onnx") : chosen;
}

} // namespace

NetworkExport::NetworkExport(Machine* machine, QWidget* window) : QObject(window), machine_(machine), window_(window) {}

void NetworkExport::choose(const RunModel& run) {
    auto* dialog = new QFileDialog(window_, tr("Export the best network"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("exportNetwork"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    QStringList filters;
    for (const Format& format : formats())
        filters.append(format.words);
    dialog->setNameFilters(filters);
    dialog->setDirectory(QDir::homePath());
    dialog->setDefaultSuffix(QStringLiteral("onnx"));
    dialog->selectFile(QFileInfo(run.path()).fileName() + QStringLiteral(".onnx"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        for (const Format& format : formats())
            if (format.words == filter)
                dialog->setDefaultSuffix(QLatin1String(format.suffix));
    });
    const QString folder = run.path() + QStringLiteral("/checkpoints/");
    const bool has_best = run.best_accuracy().has_value();
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, folder, has_best](const QString& file) {
        write(folder + (has_best ? QStringLiteral("best.safetensors") : QStringLiteral("last.safetensors")),
              format_of(file, dialog->selectedNameFilter()), file);
    });
    dialog->open();
}

/// Another machine writes into the exports of the run's folder, and the file is brought here.
void NetworkExport::write(const QString& checkpoint, const QString& format, const QString& file) {
    const QString run = QFileInfo(QFileInfo(checkpoint).path()).path();
    const QString out =
        machine_->is_here() ? file : run + QStringLiteral("/exports/network.") + QFileInfo(file).suffix();
    emit told(tr("Writing %1…").arg(file));
    write(Json{{"checkpoint", checkpoint.toStdString()}, {"format", format.toStdString()}, {"out", out.toStdString()}},
          file);
}

void NetworkExport::write(const Json& arguments, const QString& file) {
    machine_->request(
        "export", arguments,
        {[this, file](const Json& answer) {
             const QString written = text_at(answer, "file");
             const auto compared = answer.find("compared");
             const double images = compared == answer.end() ? 0 : protocol::number_at(*compared, "images");
             const QString sentence =
                 images == 0   ? tr("Written: %1").arg(file)
                 : images == 1 ? tr("Written: %1. Read back, it gives the same answers on 1 image.").arg(file)
                               : tr("Written: %1. Read back, it gives the same answers on %2 images.")
                                     .arg(file, format_count(images));
             machine_->is_here() ? emit told(sentence) : bring(written, file, sentence);
         },
         [this](const QString& text, int) { emit failed(tr("The network was not exported. %1").arg(text)); },
         {},
         {}});
}

void NetworkExport::bring(const QString& from, const QString& file, const QString& sentence) {
    const auto write_here = [self = QPointer(this), file, sentence](const Json& answer) {
        // Weights are many bytes: off the window's thread.
        QThreadPool::globalInstance()->start([self, file, sentence, text = protocol::text_at(answer, "base64")] {
            QSaveFile local(file);
            const bool ok = local.open(QIODevice::WriteOnly) &&
                            local.write(QByteArray::fromBase64(QByteArray::fromStdString(text))) >= 0 && local.commit();
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [self, file, sentence, ok, problem = local.errorString()] {
                    if (self && ok)
                        emit self->told(sentence);
                    else if (self)
                        emit self->failed(tr("%1 could not be written: %2").arg(file, problem));
                },
                Qt::QueuedConnection);
        });
    };
    machine_->request("fetch", Json{{"path", from.toStdString()}},
                      {write_here,
                       [this](const QString& text, int) {
                           emit failed(tr("The network was exported, but could not be brought here. %1").arg(text));
                       },
                       {},
                       {}});
}

} // namespace espalier
