// SPDX-License-Identifier: GPL-3.0-or-later
#include "compare_page.h"

#include "config_differences.h"
#include "format.h"
#include "plot_exports.h"
#include "plot_group.h"
#include "run_title.h"
#include "series_tag.h"

#include <QActionGroup>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace espalier {

namespace {

constexpr int compare_smoothing_ms = 15; ///< of a tick
constexpr int row_height = 23;
constexpr int widest_title = 200;
constexpr int most_rows = 8; ///< in sight beside the plots; the others are scrolled to

enum ResultRow { state_row, best_row, epoch_row, steps_row, duration_row, result_rows };

} // namespace

static_assert(ComparePage::most_runs == most_tags);

ComparePage::ComparePage(Machine* machine, RunStore* store, QWidget* parent)
    : QWidget(parent), runs_(new ComparedRuns(machine, store, this)), title_(new QLabel), state_(new QLabel),
      legend_(new QWidget), plots_(new PlotGroup), exports_(new PlotExports(plots_, this)), table_(new QTableWidget) {
    setObjectName(QStringLiteral("comparePage"));
    build_header();
    new QHBoxLayout(legend_);
    legend_->layout()->setContentsMargins(0, 0, 0, 0);
    legend_->layout()->setSpacing(4);

    table_->setObjectName(QStringLiteral("compareTable"));
    table_->setAccessibleName(tr("Results of the runs, and the settings in which they differ"));
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSelectionMode(QAbstractItemView::NoSelection);
    table_->setShowGrid(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(row_height);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setTextElideMode(Qt::ElideMiddle); // names often begin alike
    table_->horizontalHeader()->setMinimumSectionSize(96);
    table_->setWordWrap(false);
    auto* card = new QFrame;
    card->setProperty("card", true);
    auto* inside = new QVBoxLayout(card);
    inside->setContentsMargins(8, 4, 4, 4);
    inside->addWidget(table_);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 10, 16, 8);
    column->setSpacing(8);
    column->addLayout(header_);
    column->addWidget(legend_);
    column->addWidget(plots_, 1);
    column->addWidget(card);

    for (LivePlot* plot : plots_->plots())
        plot->set_empty(tr("The curves are on their way."));
    connect(plots_, &PlotGroup::smoothing_changed, this, [this](double weight) {
        runs_->set_smoothing(weight);
        show_curves(); // which say how they are smoothed
    });
    connect(plots_, &PlotGroup::range_changed, this, [this] {
        runs_->look_at(plots_->axis(), plots_->is_following() ? std::nullopt : std::optional(plots_->range()));
    });
    exports_->set_extent(CsvExtent::visible);
    connect(runs_, &ComparedRuns::about_to_change, this, &ComparePage::hide_curves);
    connect(runs_, &ComparedRuns::changed, this, &ComparePage::show_curves);
    connect(runs_, &ComparedRuns::configs_changed, this, &ComparePage::show_differences);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        if (runs_->size() > 0) {
            show_legend(); // with numbers drawn in other colours
            show_differences();
            show_curves();
        }
    });
}

void ComparePage::build_header() {
    title_->setProperty("textSize", "title");
    state_->setProperty("tone", "secondary");
    state_->setObjectName(QStringLiteral("compareState"));
    part_button_ = new QPushButton(tr("Training and validation"));
    part_button_->setProperty("kind", "quiet");
    part_button_->setObjectName(QStringLiteral("comparePart"));
    part_button_->setToolTip(tr("Which curves of each run are shown"));
    auto* parts = new QMenu(part_button_);
    auto* choice = new QActionGroup(parts);
    for (const auto& [part, text] : {std::pair{Part::both, tr("Training and validation")},
                                     {Part::training, tr("Training")},
                                     {Part::validation, tr("Validation")}}) {
        auto* action = parts->addAction(text);
        action->setCheckable(true);
        action->setChecked(part == part_);
        choice->addAction(action);
        connect(action, &QAction::triggered, this, [this, part = part, text = text] {
            part_ = part;
            part_button_->setText(text);
            show_curves();
        });
    }
    part_button_->setMenu(parts);
    auto* save = new QPushButton(tr("Export"));
    save->setProperty("kind", "quiet");
    save->setObjectName(QStringLiteral("compareExport"));
    connect(save, &QPushButton::clicked, exports_, &PlotExports::ask_all);
    auto* close = new QPushButton(tr("Close"));
    close->setProperty("kind", "quiet");
    close->setObjectName(QStringLiteral("compareClose"));
    connect(close, &QPushButton::clicked, this, &ComparePage::closed);
    header_ = new QHBoxLayout;
    header_->setSpacing(8);
    header_->addWidget(title_);
    header_->addWidget(state_, 1);
    header_->addWidget(part_button_);
    header_->addWidget(save);
    header_->addWidget(close);
}

void ComparePage::compare(const QStringList& paths) {
    const QStringList shown = paths.mid(0, most_runs);
    if (shown == runs_->paths())
        return;
    runs_->set_smoothing(plots_->smoothing());
    runs_->compare(shown);
    title_->setText(tr("Comparing %1 runs").arg(shown.size()));
    exports_->set_name(tr("compared"));
    qDeleteAll(chips_);
    chips_.clear();
    show_legend();
    show_curves();
    show_differences();
    plots_->follow();
}

void ComparePage::leave() {
    if (runs_->size() == 0)
        return;
    runs_->clear();
}

/// A button for each run, which shows and hides it.
void ComparePage::show_legend() {
    auto* row = static_cast<QHBoxLayout*>(legend_->layout());
    while (chips_.size() < runs_->size()) {
        auto* chip = new QPushButton;
        const auto number = static_cast<int>(chips_.size()) + 1;
        chip->setProperty("kind", "chip");
        chip->setObjectName(QStringLiteral("compareRun-%1").arg(number));
        chip->setCheckable(true);
        chip->setChecked(true);
        connect(chip, &QPushButton::toggled, this, &ComparePage::show_curves);
        row->insertWidget(number - 1, chip);
        chips_.push_back(chip);
    }
    if (row->count() == static_cast<int>(chips_.size()))
        row->addStretch(1);
    const int room =
        std::max(90, (std::max(width(), 640) - 32) / static_cast<int>(std::max<std::size_t>(1, chips_.size())) - 48);
    for (std::size_t i = 0; i < chips_.size(); ++i) {
        const QString name = runs_->facts(i).name;
        chips_[i]->setIcon(tag_pixmap(static_cast<int>(i) + 1, devicePixelRatioF()));
        chips_[i]->setText(chips_[i]->fontMetrics().elidedText(run_title(name).in_one_line(), Qt::ElideMiddle, room));
        chips_[i]->setAccessibleName(tr("Run %1: %2").arg(i + 1).arg(name));
        chips_[i]->setToolTip(tr("%1: a click hides its curves or shows them again").arg(name));
    }
}

bool ComparePage::is_shown(std::size_t index) const { return index < chips_.size() && chips_[index]->isChecked(); }

void ComparePage::hide_curves() {
    exports_->stop();
    for (LivePlot* plot : plots_->plots())
        plot->set_curves({});
}

void ComparePage::show_curves() {
    using Shape = Curve::Shape;
    std::array<std::vector<Curve>, 4> curves;
    for (std::size_t i = 0; i < runs_->size(); ++i) {
        const auto run = runs_->curves(i);
        if (!run || !is_shown(i))
            continue;
        const int tag = static_cast<int>(i) + 1;
        const QString name = runs_->facts(i).name;
        const BucketWords words = bucket_words(run->width);
        QStringList trained{words.mean};
        if (run->smoothing > 0)
            trained.append(QStringLiteral("smoothed %1").arg(run->smoothing));
        trained.removeAll(QString());
        const auto add = [&](std::size_t plot, const char* what, const MetricSeries* series, Shape shape,
                             const QString& values, const MetricSeries* marks = nullptr) {
            curves[plot].push_back({tr(what), tag_role(tag), series, shape, false, run->clock, name, tag,
                                    QLatin1String(what), values, marks, run->keep});
        };
        if (part_ != Part::validation) {
            const QString values = trained.join(QLatin1Char(' ')); // no comma in a table's head
            add(0, QT_TR_NOOP("training"), run->loss, Shape::line, values, run->loss_marks);
            add(1, QT_TR_NOOP("training"), run->accuracy, Shape::line, values, run->accuracy_marks);
        }
        if (part_ != Part::training) {
            add(0, QT_TR_NOOP("validation"), run->validation_loss, Shape::dash, words.mean);
            add(1, QT_TR_NOOP("validation"), run->validation_accuracy, Shape::dash, words.mean);
        }
        add(2, QT_TR_NOOP("of the run"), run->memory, Shape::line, words.greatest);
        add(3, QT_TR_NOOP("step"), run->gflops, Shape::line, words.range);
    }
    for (std::size_t plot = 0; plot < curves.size(); ++plot)
        plots_->plots()[plot]->set_curves(std::move(curves[plot]));
    show_ends();
    show_results();
    plots_->refresh(true);
}

void ComparePage::show_ends() {
    std::array<double, 3> ends{1, 0.01, 1};
    for (std::size_t i = 0; i < runs_->size(); ++i) {
        const auto run = runs_->curves(i);
        if (!run || !is_shown(i))
            continue;
        const auto last = static_cast<double>(runs_->facts(i).steps);
        for (const AxisKind kind : {AxisKind::step, AxisKind::epoch, AxisKind::time}) {
            double& end = ends[static_cast<std::size_t>(kind)];
            end = std::max(end, run->clock->to_axis(kind, last));
        }
    }
    plots_->set_ends(ends);
}

void ComparePage::set_cell(int row, int column, const QString& text, bool strong) {
    QTableWidgetItem* item = table_->item(row, column);
    if (!item) {
        item = new QTableWidgetItem;
        table_->setItem(row, column, item);
    }
    if (item->text() != text) {
        item->setText(text);
        item->setToolTip(text);
    }
    if (const QFont font = Theme::instance().font(TextSize::normal, strong ? QFont::DemiBold : QFont::Normal);
        item->font() != font)
        item->setFont(font);
}

void ComparePage::show_results() {
    double best = -1;
    int coming = 0, coarse = 0;
    bool raw = false; // single steps of a long run, of an older engine, beside curves that are smoothed
    QString refusal;
    for (std::size_t i = 0; i < runs_->size(); ++i) {
        best = std::max(best, runs_->facts(i).best_accuracy.value_or(-1));
        const auto run = runs_->curves(i);
        coming += run ? 0 : 1;
        coarse += run && run->width > 1 ? 1 : 0;
        raw = raw || (run && run->width == 1 && run->smoothing <= 0 && plots_->smoothing() > 0);
        if (refusal.isEmpty() && !runs_->refusal(i).isEmpty())
            refusal = tr("The steps of %1 did not come: %2").arg(runs_->facts(i).name, runs_->refusal(i));
    }
    state_->setText(coming > 0            ? tr("The curves of %1 are on their way…").arg(coming)
                    : !refusal.isEmpty()  ? refusal
                    : coarse == 0 && raw  ? tr("The steps of long runs are drawn as they are, not smoothed.")
                    : coarse == 0         ? QString()
                    : runs_->can_refine() ? tr("Long runs are drawn as means of stretches; zoom in to see every step.")
                                          : tr("Long runs are drawn as means of stretches; open one to see every step "
                                               "of it."));
    if (table_->columnCount() != static_cast<int>(runs_->size()) + 1)
        return; // show_differences() makes the table
    for (std::size_t i = 0; i < runs_->size(); ++i) {
        const auto facts = runs_->facts(i);
        const int column = static_cast<int>(i) + 1;
        const QString nothing = QStringLiteral("–");
        const bool known = runs_->curves(i).has_value();
        set_cell(state_row, column, state_title(facts.state));
        set_cell(best_row, column, facts.best_accuracy ? format_percent(*facts.best_accuracy) : nothing,
                 facts.best_accuracy && *facts.best_accuracy == best);
        set_cell(epoch_row, column,
                 facts.best_accuracy ? format_count(static_cast<double>(facts.best_epoch)) : nothing);
        set_cell(steps_row, column, known ? format_count(static_cast<double>(facts.steps)) : nothing);
        set_cell(duration_row, column, known ? format_clock(facts.seconds) : nothing);
    }
}

void ComparePage::show_differences() {
    const auto count = runs_->size();
    std::vector<Json> configs;
    std::vector<std::size_t> owners;
    QStringList unknown;
    for (std::size_t i = 0; i < count; ++i) {
        if (runs_->config(i)) {
            configs.push_back(*runs_->config(i));
            owners.push_back(i);
        } else if (!runs_->problem(i).isEmpty()) {
            unknown.append(QStringLiteral("%1: %2").arg(runs_->facts(i).name, runs_->problem(i)));
        }
    }
    const auto differences = config_differences(configs);
    const bool alike = differences.empty();
    table_->clear();
    table_->clearSpans();
    table_->setColumnCount(static_cast<int>(count) + 1);
    table_->setRowCount(result_rows + static_cast<int>(std::max<std::size_t>(1, differences.size())));
    QStringList heads{QString()};
    for (std::size_t i = 0; i < count; ++i)
        heads.append(run_title(runs_->facts(i).name).in_one_line());
    table_->setHorizontalHeaderLabels(heads);
    for (std::size_t i = 0; i < count; ++i) {
        QTableWidgetItem* head = table_->horizontalHeaderItem(static_cast<int>(i) + 1);
        head->setIcon(tag_pixmap(static_cast<int>(i) + 1, devicePixelRatioF()));
        head->setToolTip(runs_->facts(i).name);
    }
    const std::array<QString, result_rows> titles{tr("State"), tr("Best accuracy"), tr("At epoch"), tr("Steps"),
                                                  tr("Time of training")};
    for (int row = 0; row < result_rows; ++row)
        set_cell(row, 0, titles[static_cast<std::size_t>(row)]);
    if (alike) {
        set_cell(result_rows, 0,
                 !unknown.isEmpty()       ? tr("Not known: %1").arg(unknown.join(QStringLiteral("; ")))
                 : configs.size() < count ? tr("The configurations are on their way.")
                                          : tr("The configurations are alike."));
        table_->setSpan(result_rows, 0, 1, table_->columnCount());
    }
    for (std::size_t row = 0; row < differences.size(); ++row) {
        const auto& difference = differences[row];
        const int at = result_rows + static_cast<int>(row);
        set_cell(at, 0, difference.title);
        table_->item(at, 0)->setToolTip(tr("%1: only settings that differ stand here").arg(difference.field));
        for (std::size_t i = 0; i < owners.size(); ++i)
            set_cell(at, static_cast<int>(owners[i]) + 1, difference.values[static_cast<qsizetype>(i)]);
    }
    int titles_width = 0; // of rows that have a title, not a sentence
    for (int row = 0; row < table_->rowCount(); ++row)
        if (table_->columnSpan(row, 0) == 1)
            titles_width = std::max(titles_width, table_->sizeHintForIndex(table_->model()->index(row, 0)).width());
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Fixed);
    table_->horizontalHeader()->resizeSection(0, std::min(titles_width, widest_title));
    table_->setFixedHeight(table_->horizontalHeader()->sizeHint().height() +
                           std::min(table_->rowCount(), most_rows) * row_height + 2);
    show_results();
}

void ComparePage::refresh() {
    if (runs_->size() == 0 || !isVisible())
        return;
    runs_->smooth_for(compare_smoothing_ms);
    show_ends();
    show_results();
    plots_->refresh();
}

} // namespace espalier
