// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "csv_export.h"

namespace espalier {

class PlotGroup;

/// Takes plots away as files: a picture of them as they stand (PNG at twice the screen's size, SVG, PDF) or the values
/// behind them (CSV). The window's thread only notes what is to be drawn; files are written by others.
class PlotExports : public QObject {
    Q_OBJECT

public:
    PlotExports(PlotGroup* plots, QWidget* page);

    void set_name(const QString& name) { name_ = name; }    ///< of the run: how the file is called at first
    void set_extent(CsvExtent extent) { extent_ = extent; } ///< of tables of plots that are zoomed
    void ask(const std::vector<LivePlot*>& plots);          ///< where to; then it is written
    void ask_all();
    /// By the file's suffix: png, svg, pdf, csv.
    void write(const std::vector<LivePlot*>& plots, const QString& file);
    /// Before curves go away that may be on their way into a file.
    void stop();

signals:
    void told(const QString& text, bool fault);

private:
    void write_picture(const std::vector<LivePlot*>& plots, const QString& file);

    PlotGroup* plots_;
    QWidget* page_;
    QString name_, folder_;
    CsvExtent extent_ = CsvExtent::all;
    CsvExport csv_;
    QThreadPool painter_; ///< the last member: it ends first, with the pictures that are being written
};

} // namespace espalier
