// SPDX-License-Identifier: GPL-3.0-or-later
#include "plot_exports.h"

#include "plot_group.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QPdfWriter>
#include <QPicture>
#include <QRegularExpression>
#include <QSaveFile>
#include <QStandardPaths>
#include <QSvgGenerator>

namespace espalier {

namespace {

constexpr double picture_scale = 2; ///< of a PNG
constexpr int gap = 8;              ///< between plots, as in the window

/// Draws the noted picture into a file of that form. Empty if it went well, else what did not. Runs in any thread.
QString paint_file(const QPicture& picture, const QSize& size, int dpi, const QString& file) {
    const auto replay = [&](QPaintDevice& device, double scale) {
        QPainter painter(&device);
        painter.scale(scale, scale);
        const bool played = painter.isActive();
        painter.drawPicture(0, 0, picture);
        return played && painter.end();
    };
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly))
        return out.errorString();
    const QString suffix = QFileInfo(file).suffix().toLower();
    bool sound = false;
    if (suffix == u"svg") {
        QSvgGenerator svg;
        svg.setOutputDevice(&out);
        svg.setResolution(dpi);
        svg.setSize(size);
        svg.setViewBox(QRect(QPoint(), size));
        svg.setTitle(QFileInfo(file).completeBaseName());
        sound = replay(svg, 1);
    } else if (suffix == u"pdf") {
        QPdfWriter pdf(&out);
        pdf.setResolution(dpi);
        pdf.setPageSize(QPageSize(QSizeF(size) * 72.0 / dpi, QPageSize::Point));
        pdf.setPageMargins({});
        pdf.setTitle(QFileInfo(file).completeBaseName());
        sound = replay(pdf, 1);
    } else {
        QImage image(size * picture_scale, QImage::Format_ARGB32_Premultiplied);
        image.fill(Qt::transparent);
        sound = replay(image, picture_scale) && image.save(&out, "PNG");
    }
    if (sound && out.commit())
        return {};
    return out.errorString();
}

QString with_suffix(const QString& file, const QString& filter) {
    static const QRegularExpression known(QStringLiteral("\\.(png|svg|pdf|csv)$"),
                                          QRegularExpression::CaseInsensitiveOption);
    if (known.match(file).hasMatch())
        return file;
    static const QRegularExpression inside(QStringLiteral("\\*\\.([a-z]+)"));
    const auto match = inside.match(filter);
    return file + QLatin1Char('.') + (match.hasMatch() ? match.captured(1) : QStringLiteral("png"));
}

} // namespace

PlotExports::PlotExports(PlotGroup* plots, QWidget* page)
    : QObject(page), plots_(plots), page_(page),
      folder_(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)) {
    painter_.setMaxThreadCount(1);
    connect(plots, &PlotGroup::export_requested, this, &PlotExports::ask);
    connect(&csv_, &CsvExport::done, this,
            [this](const QString& file) { emit told(tr("%1 is written.").arg(file), false); });
    connect(&csv_, &CsvExport::failed, this, [this](const QString& text) { emit told(text, true); });
}

void PlotExports::ask_all() { ask({plots_->plots().begin(), plots_->plots().end()}); }

void PlotExports::ask(const std::vector<LivePlot*>& plots) {
    if (plots.empty())
        return;
    const QString what = plots.size() == 1 ? plots.front()->title() : tr("plots");
    static const QRegularExpression unfit(QStringLiteral("[^\\w.-]+"), QRegularExpression::UseUnicodePropertiesOption);
    QString name = QStringLiteral("%1-%2").arg(name_, what.toLower()).replace(unfit, QStringLiteral("-"));
    auto* dialog = new QFileDialog(
        page_, plots.size() == 1 ? tr("Export the plot %1").arg(what) : tr("Export all plots"), folder_);
    dialog->setObjectName(QStringLiteral("exportPlots"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    const QStringList filters{tr("Picture, twice the screen's size (*.png)"), tr("Scalable picture (*.svg)"),
                              tr("Document (*.pdf)"), tr("All values, for a spreadsheet (*.csv)")};
    dialog->setNameFilters(filters);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, filters](const QString& filter) {
        static const QStringList suffixes{QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf"),
                                          QStringLiteral("csv")};
        dialog->setDefaultSuffix(suffixes.value(filters.indexOf(filter)));
    });
    connect(dialog, &QFileDialog::fileSelected, this, [this, plots, dialog](const QString& file) {
        folder_ = QFileInfo(file).path();
        write(plots, with_suffix(file, dialog->selectedNameFilter()));
    });
    dialog->open();
}

void PlotExports::write(const std::vector<LivePlot*>& plots, const QString& file) {
    if (!file.endsWith(u".csv", Qt::CaseInsensitive))
        return write_picture(plots, file);
    if (csv_.is_busy())
        emit told(tr("Another table is still being written. Try again when it is done."), true);
    else
        csv_.start(file, csv_columns(plots, plots_->is_following() ? CsvExtent::all : extent_));
}

void PlotExports::stop() { csv_.stop(tr("The table was not finished: its run is no longer shown.")); }

void PlotExports::write_picture(const std::vector<LivePlot*>& plots, const QString& file) {
    // as they stand in the window: those of all keep their places
    const QRect area = plots.size() == 1 ? plots.front()->geometry() : plots_->rect();
    const int margin = plots.size() == 1 ? 0 : gap;
    const QSize size = area.size() + QSize(2 * margin, 2 * margin);
    auto picture = std::make_shared<QPicture>();
    QCPPainter painter(picture.get());
    painter.setMode(QCPPainter::pmVectorized);
    painter.fillRect(QRect(QPoint(), size), Theme::instance().color(plots.size() == 1 ? Role::panel : Role::window));
    for (LivePlot* plot : plots) {
        painter.save();
        painter.translate(plot->pos() - area.topLeft() * (plots.size() == 1 ? 1 : 0) + QPoint(margin, margin));
        plot->render_to(painter);
        painter.restore();
    }
    painter.end();
    painter_.start([this, picture, size, file, dpi = page_->logicalDpiX()] {
        const QString problem = paint_file(*picture, size, dpi, file);
        QMetaObject::invokeMethod(
            this,
            [this, file, problem] {
                emit told(problem.isEmpty() ? tr("%1 is written.").arg(file)
                                            : tr("%1 could not be written: %2").arg(file, problem),
                          !problem.isEmpty());
            },
            Qt::QueuedConnection);
    });
}

} // namespace espalier
