// SPDX-License-Identifier: GPL-3.0-or-later
// Every widget in every state, for those who work on them. No engine:   widget_gallery [--grab DIR]
#include "class_table.h"
#include "confusion_matrix.h"
#include "confusion_panel.h"
#include "data_panel.h"
#include "fit_bar.h"
#include "image_grid.h"
#include "log_view.h"
#include "metric_tile.h"
#include "network_canvas.h"
#include "notes_panel.h"
#include "plot_group.h"
#include "plot_ticker.h"
#include "prediction_panel.h"
#include "preset_gallery.h"
#include "progress_header.h"
#include "queue_list.h"
#include "run_form.h"
#include "run_rail.h"
#include "state_band.h"
#include "status_strip.h"
#include "theme.h"
#include "timeline.h"
#include "toggle_switch.h"
#include "widget_samples.h"

#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>
#include <cmath>
#include <limits>

using namespace espalier;
using namespace espalier::test;

namespace {

class Gallery : public QWidget {
public:
    Gallery() : column_(new QVBoxLayout(this)) {
        setProperty("page", true);
        column_->setContentsMargins(24, 16, 24, 16);
        column_->setSpacing(12);
        add_buttons();
        add_headers_and_bands();
        add_tiles();
        add_plots();
        add_forms();
        add_lists();
        add_presets();
        add_run_panels();
        add_layers();
        add_results();
    }

private:
    void title(const QString& text) {
        auto* label = new QLabel(text);
        label->setProperty("textSize", "heading");
        column_->addWidget(label);
    }
    QHBoxLayout* row() {
        auto* line = new QHBoxLayout;
        line->setSpacing(8);
        column_->addLayout(line);
        return line;
    }
    void add_buttons() {
        title(QStringLiteral("Buttons and switches"));
        auto* line = row();
        for (const char* kind : {"", "primary", "quiet", "link", "plot"})
            for (const bool enabled : {true, false}) {
                auto* button = new QPushButton(QStringLiteral("%1%2").arg(
                    QLatin1String(*kind ? kind : "plain"), enabled ? QString() : QStringLiteral(", off")));
                if (*kind)
                    button->setProperty("kind", kind);
                button->setIcon(Theme::instance().icon(QStringLiteral("play"),
                                                       *kind == 'p' && kind[1] == 'r' ? Role::on_accent : Role::text));
                button->setEnabled(enabled);
                line->addWidget(button);
            }
        for (const bool on : {false, true}) {
            auto* toggle = new ToggleSwitch(QStringLiteral("Switch"));
            toggle->setChecked(on);
            line->addWidget(toggle);
        }
        line->addStretch(1);
    }
    void add_presets() {
        title(QStringLiteral("Presets"));
        auto* known = new PresetGallery;
        known->set_presets(sample_presets());
        known->set_machine_line(QStringLiteral("● RTX 4060 ready · 8 GB of memory"), Role::good);
        known->set_facts(QStringLiteral("train-small"), QStringLiteral("78 k parameters · about 3 min"),
                         QStringLiteral("fits"), Role::good);
        known->set_facts(QStringLiteral("train-large"), QStringLiteral("44 M parameters · about 9 h"),
                         QStringLiteral("does not fit"), Role::fault);
        known->setFixedHeight(620);
        column_->addWidget(known);
        auto* waiting = new PresetGallery;
        waiting->set_waiting(QStringLiteral("The engine does not answer."));
        waiting->set_machine_line(QStringLiteral("The engine does not answer"), Role::fault);
        waiting->setFixedHeight(240);
        column_->addWidget(waiting);
    }
    void add_run_panels() {
        title(QStringLiteral("Toggles, notes, queue"));
        auto* toggles = new ToggleList;
        toggles->set_items(sample_toggles());
        column_->addWidget(toggles);
        auto* line = row();
        for (const bool filled : {false, true}) {
            auto* notes = new NotesPanel;
            if (filled)
                notes->set_notes(QStringLiteral("a"), {QStringLiteral("baseline"), QStringLiteral("width 32")},
                                 QStringLiteral("The second camera is too bright:\nask Ines for the raw files."));
            line->addWidget(notes, 1);
        }
        auto* queue = new QueueList;
        queue->set_runs(sample_queue());
        queue->set_current(sample_queue().back().id);
        queue->setFixedWidth(216);
        line->addWidget(queue);
    }
    void add_layers() {
        title(QStringLiteral("Layers and networks"));
        for (const bool known : {true, false}) {
            auto* table = new LayerTable;
            if (known)
                table->set_rows(sample_layers());
            table->setFixedHeight(known ? 130 : 60);
            column_->addWidget(table);
        }
        auto* line = row();
        for (const bool open : {false, true}) {
            auto* canvas = new NetworkCanvas;
            canvas->setFixedHeight(420);
            canvas->set_nodes(sample_network());
            open ? canvas->open_all() : canvas->close_all();
            line->addWidget(canvas, 1);
        }
    }
    void add_results() {
        title(QStringLiteral("Results"));
        auto* stages = row();
        for (const auto& [stage, words] :
             {std::pair{ConfusionPanel::Stage::unknown, "Evaluate the checkpoint to see what it confuses."},
              {ConfusionPanel::Stage::asking, "Evaluating… 1,200 of 10,000 images"},
              {ConfusionPanel::Stage::unavailable, "The engine of this machine is older."}}) {
            auto* panel = new ConfusionPanel;
            panel->set_stage(stage, QString::fromUtf8(words));
            panel->setFixedHeight(160);
            stages->addWidget(panel, 1);
        }
        for (const int classes : {3, 40}) {
            ConfusionCounts counts;
            std::vector<ClassRow> rows;
            for (int i = 0; i < classes; ++i) {
                counts.classes.append(QStringLiteral("class %1").arg(i));
                rows.push_back({counts.classes.back(), 40 + i, 0.9, 0.1 * (i % 10), i == 1 ? std::nan("") : 0.5});
                for (int k = 0; k < classes; ++k)
                    counts.counts.push_back(i == k ? 30 : (i * 7 + k * 3) % 11 == 0 ? i % 9 : 0);
            }
            auto* line = row();
            for (const auto scale : {ConfusionMatrix::Scale::counts, ConfusionMatrix::Scale::columns}) {
                auto* matrix = new ConfusionMatrix;
                matrix->setFixedSize(380, 300);
                matrix->set_counts(counts);
                matrix->set_scale(scale);
                line->addWidget(matrix);
            }
            auto* table = new ClassTable;
            table->setFixedHeight(300);
            table->set_rows(rows);
            line->addWidget(table, 1);
        }
        auto* line = row();
        auto* grid = new ImageGrid;
        grid->setFixedHeight(150);
        QImage image(28, 28, QImage::Format_RGB888);
        image.fill(Theme::instance().color(Role::series3));
        grid->set_images({{image, QStringLiteral("shirt"), QStringLiteral("pullover"), 0.075, QStringLiteral("7.png")},
                          {image, QStringLiteral("bag"), QStringLiteral("bag"), 0.99, QStringLiteral("8.png")}},
                         2);
        line->addWidget(grid, 1);
        for (const bool known : {false, true}) {
            auto* prediction = new PredictionPanel;
            if (known) {
                prediction->set_image(image, QStringLiteral("shirt.png"));
                prediction->set_classes({{QStringLiteral("shirt"), 0.82}, {QStringLiteral("pullover"), 0.18}});
            }
            line->addWidget(prediction, 1);
        }
    }
    void add_headers_and_bands() {
        title(QStringLiteral("Headers and bands"));
        for (const RunState state : {RunState::queued, RunState::preparing, RunState::running, RunState::paused,
                                     RunState::finished, RunState::stopped, RunState::failed, RunState::interrupted}) {
            auto* header = new ProgressHeader;
            header->set_name(QStringLiteral("flowers-12"), QStringLiteral("Train small"));
            header->set_state(state);
            header->set_progress(QStringLiteral("epoch 12 of 30"), state == RunState::preparing ? -1 : 0.4,
                                 QStringLiteral("0:12:40 left"));
            column_->addWidget(header);
        }
        for (const auto tone : {StateBand::Tone::info, StateBand::Tone::attention, StateBand::Tone::fault}) {
            auto* band = new StateBand;
            band->set_message(tone, QStringLiteral("The processor reported an unknown error in block 2."),
                              QStringLiteral("What it learned is kept: the last checkpoint is of step 9,200."));
            band->add_action(QStringLiteral("Resume"), QStringLiteral("play"), true);
            band->add_action(QStringLiteral("Copy report"), QStringLiteral("copy"), false);
            column_->addWidget(band);
        }
    }
    void add_tiles() {
        title(QStringLiteral("Tiles"));
        auto* line = row();
        const auto tile = [&](const QString& name, const QString& value, MetricTile::Trend trend,
                              const QString& context, Role role = Role::secondary) {
            auto* widget = new MetricTile(name);
            widget->set_value(value, trend);
            widget->set_context(context, role);
            line->addWidget(widget);
        };
        using Trend = MetricTile::Trend;
        tile(QStringLiteral("Loss"), QStringLiteral("0.412"), Trend::falling_is_good, QStringLiteral("best 0.398"));
        tile(QStringLiteral("Loss"), QStringLiteral("NaN"), Trend::rising_is_bad, QStringLiteral("20 steps in a row"),
             Role::fault);
        tile(QStringLiteral("Validation accuracy"), QStringLiteral("88.3 %"), Trend::rising_is_good,
             QStringLiteral("best 88.9 %"));
        tile(QStringLiteral("Speed"), QStringLiteral("1,234,567,890 img/s"), Trend::none,
             QStringLiteral("a value too wide for its tile"));
        tile(QStringLiteral("Nothing yet"), QStringLiteral("–"), Trend::none, {});
    }
    void add_plots() {
        title(QStringLiteral("Plots: noise, a spike, not a number; stacked; empty"));
        for (int i = 1; i <= 3000; ++i) {
            const auto x = static_cast<float>(i) / 3000;
            float loss = 0.4F + 1.6F * std::exp(-5 * x) + 0.08F * std::sin(static_cast<float>(i * 7919 % 1000));
            if (i == 1400)
                loss = 2.4F;
            if (i > 2000 && i < 2150)
                loss = std::numeric_limits<float>::quiet_NaN();
            loss_.append(i, loss);
            if (i % 250 == 0)
                validation_.append(i, 0.45F + 1.5F * std::exp(-5 * x));
            low_.append(i, i < 1500 ? 2e8F : 3e8F);
            high_.append(i, i < 1500 ? 5e8F : 8e8F);
        }
        auto* line = row();
        auto* loss = new LivePlot(QStringLiteral("Loss"), Measure::plain);
        loss->set_curves({{QStringLiteral("train"), Role::series1, &loss_, Curve::Shape::line},
                          {QStringLiteral("validation"), Role::series2, &validation_, Curve::Shape::dash}});
        loss->set_markers(
            {{800, Role::series3, QStringLiteral("Checkpoint")}, {1500, Role::series4, QStringLiteral("Growth")}});
        loss->set_note({QStringLiteral("best 0.451 at epoch 11")});
        auto* memory = new LivePlot(QStringLiteral("Memory"), Measure::bytes);
        memory->set_curves({{QStringLiteral("activations"), Role::series3, &high_, Curve::Shape::area},
                            {QStringLiteral("weights"), Role::series1, &low_, Curve::Shape::area}});
        memory->set_limit(1e9, QStringLiteral("954 MB usable"));
        auto* empty = new LivePlot(QStringLiteral("GFLOPS"), Measure::count);
        empty->set_curves({{QStringLiteral("step"), Role::series1, &nothing_, Curve::Shape::line}});
        empty->set_empty(QStringLiteral("The curve starts with the first step."), QStringLiteral("Show the log"));
        for (LivePlot* plot : {loss, memory, empty}) {
            plot->set_range(0, 3500, true);
            plot->setMinimumHeight(220);
            line->addWidget(plot);
            plot->refresh();
        }
        auto* timeline = new Timeline;
        timeline->set_content(
            {{0, 300, Role::hint, QStringLiteral("warm-up")}, {300, 2300, Role::series1, QStringLiteral("training")}},
            {{1000, Role::series3, {}}, {1700, Role::attention, {}}});
        timeline->set_view(nullptr, AxisKind::step, {0, 3500});
        timeline->set_story(QStringLiteral("Checkpoint at step 1,700 · 0.6 MB"));
        column_->addWidget(timeline);
    }
    void add_forms() {
        title(QStringLiteral("Form, fit, data"));
        auto* line = row();
        using Kind = FormField::Kind;
        auto* form = new RunForm;
        form->set_fields(
            {{QStringLiteral("data"),
              QStringLiteral("Data"),
              QStringLiteral("Data set"),
              Kind::open_choice,
              0,
              0,
              {{QStringLiteral("builtin"), QStringLiteral("Built-in clothing images")}}},
             {QStringLiteral("epochs"), QStringLiteral("Training"), QStringLiteral("Epochs"), Kind::integer, 1, 100},
             {QStringLiteral("rate"), QStringLiteral("Training"), QStringLiteral("Learning rate"), Kind::real, 0, 10},
             {QStringLiteral("safe"), QStringLiteral("Safety"), QStringLiteral("Safe mode"), Kind::toggle},
             {QStringLiteral("flip"),
              QStringLiteral("Regularisation"),
              QStringLiteral("Random flip"),
              Kind::toggle,
              0,
              0,
              {},
              {},
              true}},
            {{QStringLiteral("data"), QStringLiteral("builtin")},
             {QStringLiteral("epochs"), 12},
             {QStringLiteral("rate"), 0.1},
             {QStringLiteral("safe"), false},
             {QStringLiteral("flip"), true}});
        form->set_value(QStringLiteral("epochs"), 30);
        form->setFixedWidth(430);
        line->addWidget(form);
        auto* right = new QVBoxLayout;
        line->addLayout(right, 1);
        const double mega = 1024 * 1024;
        for (const double limit : {200 * mega, 60 * mega}) {
            auto* fit = new FitBar;
            fit->set_parts({{QStringLiteral("Weights"), Role::series1, 10 * mega},
                            {QStringLiteral("Optimizer"), Role::series4, 10 * mega},
                            {QStringLiteral("Activations"), Role::series3, 60 * mega}},
                           limit);
            fit->set_words(limit > 80 * mega ? QStringLiteral("80 of 200 MB · fits")
                                             : QStringLiteral("80 of 60 MB · does not fit"),
                           {QStringLiteral("about 22 min"), QStringLiteral("6.3 M parameters")},
                           limit > 80 * mega ? Role::text : Role::attention);
            right->addWidget(fit);
        }
        auto* panel = new DataPanel;
        panel->set_classes(
            QStringLiteral("3"),
            {{QStringLiteral("daisy"), 760}, {QStringLiteral("dandelion"), 1050}, {QStringLiteral("iris"), 240}});
        panel->set_findings({{QStringLiteral("check"), Role::good, QStringLiteral("4,537 images read")},
                             {QStringLiteral("warning"), Role::attention,
                              QStringLiteral("3 cannot be read and are skipped:\nrose/0412.jpg (half a file)")}});
        QImage thumbnail(28, 28, QImage::Format_RGB888);
        thumbnail.fill(Theme::instance().color(Role::series2));
        panel->set_images(QStringLiteral("24 of 4,540 images"), std::vector<QImage>(24, thumbnail));
        panel->setMinimumHeight(300);
        right->addWidget(panel);
    }
    void add_lists() {
        title(QStringLiteral("Rail, log, status"));
        auto* line = row();
        auto* rail = new RunRail;
        rail->set_runs(
            {{QStringLiteral("a"), QStringLiteral("flowers-12"), QStringLiteral("Running · 12/30"), RunState::running},
             {QStringLiteral("b"), QStringLiteral("cifar-search-3"), QStringLiteral("Paused · epoch 21"),
              RunState::paused},
             {QStringLiteral("c"), QStringLiteral("quick-1"), QStringLiteral("86.7 % · 41 s"), RunState::finished},
             {QStringLiteral("d"), QStringLiteral("a-run-with-quite-a-long-name"),
              QStringLiteral("Failed · step 9,310"), RunState::failed}});
        rail->set_current(QStringLiteral("a"));
        rail->setFixedHeight(360);
        line->addWidget(rail);
        auto* empty = new RunRail;
        empty->set_runs({});
        empty->setFixedHeight(360);
        line->addWidget(empty);
        auto* log = new LogView;
        log->append_line({QStringLiteral("12:40:07"),
                          QStringLiteral("Epoch 1: validation loss 0.731, accuracy 74.1 % (the best so far)"),
                          Role::good});
        log->append_line({QStringLiteral("12:40:09"), QStringLiteral("Fallback: winograd → direct"), Role::attention});
        log->append_line({QStringLiteral("12:40:11"),
                          QStringLiteral("The loss was not a number for 20 steps in a row."), Role::fault});
        line->addWidget(log, 1);
        auto* strip = new StatusStrip;
        strip->set_facts(
            {{QStringLiteral("fp32"), QStringLiteral(" · AMD EPYC"), Role::text, {}, {}},
             {QStringLiteral("1,840"), QStringLiteral(" img/s"), Role::text, {}, {}},
             {QStringLiteral("40 s"), QStringLiteral(" ago"), Role::text, {}, QStringLiteral("last checkpoint ")},
             {QStringLiteral("2 warnings"), {}, Role::attention, {}, {}}});
        column_->addWidget(strip);
    }

    QVBoxLayout* column_;
    MetricSeries loss_, validation_, low_, high_, nothing_;
};

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    Theme::install();
    const QStringList words = QApplication::arguments();
    const qsizetype at = words.indexOf(QStringLiteral("--grab"));
    if (at >= 0 && at + 1 < words.size()) {
        const QDir out(words[at + 1]);
        out.mkpath(QStringLiteral("."));
        for (const auto& [mode, name] : {std::pair{Theme::Mode::light, "light"}, {Theme::Mode::dark, "dark"}}) {
            Theme::instance().set_mode(mode);
            Gallery gallery;
            gallery.resize(1280, gallery.sizeHint().height());
            gallery.show();
            for (int i = 0; i < 20; ++i)
                QApplication::processEvents();
            gallery.grab().save(out.filePath(QStringLiteral("widgets-%1.png").arg(QLatin1String(name))));
        }
        return 0;
    }
    QScrollArea area;
    auto* gallery = new Gallery;
    area.setWidgetResizable(true);
    area.setWidget(gallery);
    area.resize(1300, 900);
    area.show();
    return QApplication::exec();
}
