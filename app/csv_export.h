// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "live_plot.h"

#include <QObject>
#include <QThreadPool>
#include <cstdint>
#include <limits>
#include <memory>

class QSaveFile;

namespace espalier {

/// Writes the values behind curves, every step of them, as CSV: a row a step, a column a curve, empty where a curve has
/// no value; dots and no grouping whatever the locale. The window's thread only copies some rows at a time, a thread of
/// its own writes them. One file at a time.
class CsvExport : public QObject {
    Q_OBJECT

public:
    struct Column {
        QString name;
        const MetricSeries* series = nullptr;
        const StepClock* clock = nullptr;
        const MetricSeries* below = nullptr; ///< of stacked areas: what the series stands on, which is taken off
        std::shared_ptr<const void> keep = {};
        std::int64_t first = 0, last = std::numeric_limits<std::int64_t>::max(); ///< steps that are written
    };

    explicit CsvExport(QObject* parent = nullptr);
    ~CsvExport() override;

    /// Where all curves share a clock, epoch and seconds stand beside the step. The series have to live until the end,
    /// or stop(). Nothing happens while another file is being written.
    void start(const QString& file, std::vector<Column> columns);
    [[nodiscard]] bool is_busy() const { return file_ != nullptr; }
    /// No file comes of it, unless all values have been copied: then the curves are needed no more, and `done` follows.
    void stop(const QString& why);

signals:
    void done(const QString& file);
    void failed(const QString& text);

private:
    struct Rows;
    void fail(const QString& why);
    void copy_rows();
    void write(std::shared_ptr<Rows> rows);

    std::vector<Column> columns_;
    std::vector<std::size_t> next_; ///< of each column: the first sample that is not written
    const StepClock* clock_ = nullptr;
    std::shared_ptr<QSaveFile> file_; ///< the writer has it too while it writes
    bool header_copied_ = false, all_copied_ = false;
    int job_ = 0;        ///< what comes back of an older one is dropped
    QThreadPool writer_; ///< of one thread; the last member: what it still writes ends before the others do
};

enum class CsvExtent { all, visible };

/// The columns of these plots, their heads the same in every language, so that a script finds them; with all their
/// steps or those in view: of what is smoothed also the raw values. The name says what a column's values are where they
/// are not those of single steps.
[[nodiscard]] std::vector<CsvExport::Column> csv_columns(const std::vector<LivePlot*>& plots, CsvExtent extent);

} // namespace espalier
