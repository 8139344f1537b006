// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_export.h"

#include "format.h"
#include "json_convert.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <array>

namespace espalier {

namespace {

struct Format {
    const char* name;
    const char* suffix;
    QString words;
};

std::array<Format, 3> formats() {
    return {{{"onnx", "onnx", NetworkExport::tr("ONNX, for other programs (*.onnx)")},
             {"safetensors", "safetensors", NetworkExport::tr("Weights (*.safetensors)")},
             {"genotype", "json", NetworkExport::tr("Genotype of a search (*.json)")}}};
}

} // namespace

NetworkExport::NetworkExport(Machine* machine, QWidget* window) : QObject(window), machine_(machine), window_(window) {}

void NetworkExport::choose(const RunModel& run) {
    if (!run.checkpoint()) {
        emit told(tr("There is nothing to export yet: the run has written no checkpoint."));
        return;
    }
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
    connect(dialog, &QFileDialog::fileSelected, this, [this, folder, has_best](const QString& file) {
        // What the name ends in says the format: a name may be typed in full.
        const QString suffix = QFileInfo(file).suffix();
        QString chosen = QStringLiteral("onnx");
        for (const Format& format : formats())
            if (suffix == QLatin1String(format.suffix))
                chosen = QLatin1String(format.name);
        write(folder + (has_best ? QStringLiteral("best.safetensors") : QStringLiteral("last.safetensors")), chosen,
              file);
    });
    dialog->open();
}

void NetworkExport::write(const QString& checkpoint, const QString& format, const QString& file) {
    emit told(tr("Writing %1…").arg(file));
    machine_->request(
        "export",
        Json{{"checkpoint", checkpoint.toStdString()}, {"format", format.toStdString()}, {"out", file.toStdString()}},
        {[this](const Json& answer) {
             const QString written = text_at(answer, "file");
             const auto compared = answer.find("compared");
             emit told(compared == answer.end()
                           ? tr("Written: %1").arg(written)
                           : tr("Written: %1. Read back, it gives the same answers on %2 images.")
                                 .arg(written, format_count(protocol::number_at(*compared, "images"))));
         },
         [this](const QString& text, int) { emit failed(tr("The network was not exported. %1").arg(text)); },
         {},
         {}});
}

} // namespace espalier
