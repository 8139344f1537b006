// SPDX-License-Identifier: GPL-3.0-or-later
#include "csv_export.h"

#include <QElapsedTimer>
#include <QSaveFile>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace espalier {

namespace {

constexpr std::int64_t rows_a_time = 20'000; ///< some milliseconds to copy
constexpr int copy_budget_ms = 15;
constexpr std::int64_t no_step = std::numeric_limits<std::int64_t>::max();

template <typename Number>
void add_number(std::string& text, Number value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text.append(digits.data(), end);
}

/// RFC 4180: quoted where it has to be.
std::string quoted(const QString& name) {
    QString text = name;
    if (text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) || text.contains(QLatin1Char('\n')))
        text = QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
    return text.toStdString();
}

float value_of(const CsvExport::Column& column, std::size_t index) {
    const float value = column.series->value_at(index);
    if (!column.below)
        return value;
    const std::size_t at = column.below->index_at(static_cast<double>(column.series->step_at(index)));
    return at < column.below->size() ? value - column.below->value_at(at) : value;
}

} // namespace

/// Some rows, copied; NaN with `has` false is an empty cell.
struct CsvExport::Rows {
    std::vector<std::int64_t> steps;
    std::vector<double> epochs, seconds;      ///< empty without a clock
    std::vector<std::optional<float>> values; ///< row by row
    std::size_t columns = 0;
    std::string header; ///< of the first rows
    bool last = false;

    [[nodiscard]] std::string text() const {
        std::string result = header;
        for (std::size_t row = 0; row < steps.size(); ++row) {
            add_number(result, steps[row]);
            if (!epochs.empty()) {
                result += ',';
                add_number(result, static_cast<float>(epochs[row]));
                result += ',';
                add_number(result, static_cast<float>(seconds[row]));
            }
            for (std::size_t column = 0; column < columns; ++column) {
                result += ',';
                if (const auto& value = values[row * columns + column])
                    add_number(result, *value);
            }
            result += '\n';
        }
        return result;
    }
};

CsvExport::CsvExport(QObject* parent) : QObject(parent) { writer_.setMaxThreadCount(1); }

CsvExport::~CsvExport() = default;

void CsvExport::start(const QString& file, std::vector<Column> columns) {
    if (is_busy())
        return;
    columns_ = std::move(columns);
    next_.clear();
    for (const Column& column : columns_) {
        const std::size_t before = column.series->index_at(static_cast<double>(column.first) - 1);
        next_.push_back(before < column.series->size() ? before + 1 : 0);
    }
    clock_ = columns_.empty() ? nullptr : columns_.front().clock;
    if (std::ranges::any_of(columns_, [this](const Column& column) { return column.clock != clock_; }))
        clock_ = nullptr;
    file_ = std::make_shared<QSaveFile>(file);
    if (!file_->open(QIODevice::WriteOnly))
        return fail(tr("%1 could not be written: %2").arg(file, file_->errorString()));
    header_copied_ = all_copied_ = false;
    copy_rows();
}

void CsvExport::stop(const QString& why) {
    if (is_busy() && !all_copied_)
        fail(why);
}

void CsvExport::fail(const QString& why) {
    ++job_;
    file_.reset(); // unfinished it leaves nothing; where rows are being written, once they are
    emit failed(why);
}

void CsvExport::copy_rows() {
    auto rows = std::make_shared<Rows>();
    rows->columns = columns_.size();
    if (!std::exchange(header_copied_, true)) {
        rows->header = clock_ ? "step,epoch,seconds" : "step";
        for (const Column& column : columns_)
            rows->header += ',' + quoted(column.name);
        rows->header += '\n';
    }
    QElapsedTimer time;
    time.start();
    const auto step_of = [this](std::size_t column) {
        const MetricSeries& series = *columns_[column].series;
        const auto step = next_[column] < series.size() ? series.step_at(next_[column]) : no_step;
        return step <= columns_[column].last ? step : no_step;
    };
    std::vector<std::int64_t> steps(columns_.size());
    while (static_cast<std::int64_t>(rows->steps.size()) < rows_a_time &&
           (rows->steps.size() % 256 != 255 || time.elapsed() < copy_budget_ms)) {
        std::int64_t step = no_step;
        for (std::size_t i = 0; i < columns_.size(); ++i)
            step = std::min(step, steps[i] = step_of(i));
        if (step == no_step) {
            rows->last = true;
            break;
        }
        rows->steps.push_back(step);
        if (clock_) {
            rows->epochs.push_back(clock_->to_axis(AxisKind::epoch, static_cast<double>(step)));
            rows->seconds.push_back(clock_->to_axis(AxisKind::time, static_cast<double>(step)));
        }
        for (std::size_t i = 0; i < columns_.size(); ++i)
            rows->values.push_back(steps[i] == step ? std::optional(value_of(columns_[i], next_[i]++)) : std::nullopt);
    }
    all_copied_ = rows->last;
    write(std::move(rows));
}

void CsvExport::write(std::shared_ptr<Rows> rows) {
    writer_.start([this, rows, file = file_, job = job_] {
        const std::string text = rows->text();
        bool sound = file->write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size());
        if (sound && rows->last)
            sound = file->commit();
        const QString problem = sound ? QString() : file->errorString();
        QMetaObject::invokeMethod(
            this,
            [this, problem, job, last = rows->last] {
                if (job != job_)
                    return;
                const QString name = file_->fileName();
                if (!problem.isEmpty())
                    return fail(tr("%1 could not be written: %2").arg(name, problem));
                if (!last)
                    return copy_rows();
                file_.reset();
                emit done(name);
            },
            Qt::QueuedConnection);
    });
}

std::vector<CsvExport::Column> csv_columns(const std::vector<LivePlot*>& plots, CsvExtent extent) {
    std::vector<CsvExport::Column> columns;
    for (const LivePlot* plot : plots) {
        const auto& curves = plot->curves();
        QString smoothed; // the name of the curve that follows its raw values
        for (std::size_t i = 0; i < curves.size(); ++i) {
            const Curve& curve = curves[i];
            QStringList words{plot->head()};
            if (!curve.run.isEmpty())
                words.append(curve.run);
            if (curve.shape == Curve::Shape::faint) {
                smoothed = QStringLiteral("smoothed");
            } else {
                words.append(curve.head);
                if (const QString all = std::exchange(smoothed, QString()); !all.isEmpty() && curve.values.isEmpty())
                    words.append(all);
            }
            if (!curve.values.isEmpty())
                words.append(QStringLiteral("(%1)").arg(curve.values));
            const bool stacked = curve.shape == Curve::Shape::area && i + 1 < curves.size() &&
                                 curves[i + 1].shape == Curve::Shape::area; // the largest first
            const MetricSeries* below = stacked ? curves[i + 1].series : nullptr;
            columns.push_back({words.join(QLatin1Char(' ')), curve.series, curve.clock ? curve.clock : plot->clock(),
                               below, curve.keep});
            if (extent == CsvExtent::visible) {
                const auto [low, high] = plot->visible_steps(curve);
                columns.back().first = std::llround(std::ceil(low));
                columns.back().last = std::llround(std::floor(high));
            }
        }
    }
    return columns;
}

} // namespace espalier
