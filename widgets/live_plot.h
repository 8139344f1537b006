// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "metric_series.h"
#include "plot_overlay.h"
#include "step_clock.h"
#include "theme.h"

#include <QFrame>
#include <memory>
#include <optional>
#include <vector>

class QCPGraph;
class QCustomPlot;

class QHBoxLayout;
class QPushButton;

namespace espalier {

enum class Measure;
class PlotHeader;

/// One line of a plot. The series is somebody else's and outlives its stay in the plot.
struct Curve {
    enum class Shape {
        line,  ///< solid
        dash,  ///< dashed: told from the solid one without colour
        faint, ///< the raw values behind a smoothed line; not in the legend
        area,  ///< filled down to zero, in steps: put the largest first to stack
    };
    QString name;
    Role role = Role::series1;
    const MetricSeries* series = nullptr;
    Shape shape = Shape::line;
    bool of_whole = false;            ///< a share: 0 at the bottom of the plot, 1 at its top, whatever the axis says
    const StepClock* clock = nullptr; ///< of another run than the plot's
    QString run = {};                 ///< its name, where a plot shows several
    int tag = 0;                      ///< a number on the curve, which tells it from the others without colour; 0: none
    QString head = {};                ///< its name in a table: the same in every language
    QString values = {};              ///< what its values are where they are not each step's own, for a table
    const MetricSeries* marks = nullptr;   ///< whose NaN and infinite values are marked, if not those of `series`
    std::shared_ptr<const void> keep = {}; ///< has a series live on that is replaced while it is written
};

/// A card with one plot of a run: header with legend and options, axes, curves, markers and a crosshair. It shows the
/// range it is told to and says what the mouse and the keys ask for; a PlotGroup answers for all plots alike. Draws the
/// visible stretch alone.
class LivePlot : public QFrame {
    Q_OBJECT

public:
    LivePlot(const QString& title, Measure measure, QWidget* parent = nullptr);

    /// They are drawn by the next refresh().
    void set_curves(std::vector<Curve> curves);
    void set_clock(const StepClock* clock);
    void set_axis(AxisKind kind);
    /// Visible part, in the axis' own unit. `following`: the vertical axis starts at zero and ends at a round number.
    void set_range(double low, double high, bool following);
    void set_markers(std::vector<PlotMarker> markers);
    /// A horizontal line ("22.4 GB usable").
    void set_limit(std::optional<double> value, const QString& text = {});
    /// Values of 0 or below have no place there: they are marked, and a sentence says so.
    void set_logarithmic(bool on);
    /// At the right of the header; values under the crosshair take its place. The same from long to short.
    void set_note(const QStringList& forms);
    [[nodiscard]] QString note() const; ///< what stands there now
    void set_title(const QString& title);
    void set_head(const QString& head) { head_ = head; } ///< the plot's name in a table, in every language
    /// A sentence shown while there is no value, and a button below it, if `title` has words, which asks for `action`.
    void set_empty(const QString& text, const QString& title = {}, const QString& action = {});
    void set_crosshair(std::optional<double> position);
    /// Puts a control at the right end of the header, before the plot's menu.
    void add_option(QWidget* control);

    [[nodiscard]] bool is_logarithmic() const { return logarithmic_; }
    [[nodiscard]] const QString& title() const { return title_; }
    [[nodiscard]] const QString& head() const { return head_; }
    [[nodiscard]] const std::vector<Curve>& curves() const { return curves_; }
    [[nodiscard]] const StepClock* clock() const { return clock_; }
    /// The visible steps of a curve.
    [[nodiscard]] std::pair<double, double> visible_steps(const Curve& curve) const;
    /// Draws header and plot as they stand, without the crosshair, in the widget's own size. For pictures.
    void render_to(QCPPainter& painter);
    [[nodiscard]] double plot_width() const;
    [[nodiscard]] QRect plot_area() const; ///< of the axes, in this widget's coordinates
    [[nodiscard]] QSize sizeHint() const override { return {400, 200}; }
    [[nodiscard]] QSize minimumSizeHint() const override { return {280, 120}; }

    /// Takes the newest values in and draws. `at_once`: before it returns, as a benchmark needs it.
    void refresh(bool at_once = false);

signals:
    void range_requested(double low, double high);
    void fit_requested();
    void crosshair_moved(std::optional<double> position);
    void logarithmic_changed(bool on);
    void export_requested(bool all);              ///< this plot, or all of its group
    void action_requested(const QString& action); ///< of a marker, or of an empty plot

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void apply_theme();
    void style_graphs();
    void build_menu();
    void set_data();
    void place_markers();
    void place_tags();
    void place_way_on();
    void open_story(const QPointF& at);
    void move_crosshair(double by);
    void go_to_marker(bool forward);
    [[nodiscard]] QPointF pixel_of_crosshair() const; ///< if there is one
    void set_vertical_range();
    void describe();
    void zoom(double factor, double anchor);
    [[nodiscard]] QString position_text(double position) const;
    [[nodiscard]] QStringList readout(double position) const; ///< from long to short
    [[nodiscard]] Measure measure_of(const Curve& curve) const;
    [[nodiscard]] const StepClock* clock_of(const Curve& curve) const { return curve.clock ? curve.clock : clock_; }
    [[nodiscard]] bool pointer_event(QEvent* event);

    QString title_, head_;
    Measure measure_;
    QCustomPlot* plot_;
    PlotHeader* header_;
    QHBoxLayout* options_;
    QPushButton* menu_;
    QPushButton* way_on_; ///< of an empty plot
    PlotOverlay* overlay_;
    PlotCrosshair* crosshair_;
    std::vector<Curve> curves_;
    std::vector<QCPGraph*> graphs_;
    std::vector<Sample> samples_; ///< kept between draws
    const StepClock* clock_ = nullptr;
    AxisKind kind_ = AxisKind::step;
    QStringList note_;
    bool following_ = true;
    bool logarithmic_ = false;
    double least_positive_ = 0; ///< of what is drawn, for a logarithmic axis; 0: nothing
    std::optional<double> limit_;
    std::optional<double> drag_; ///< where the mouse took hold, in the axis' unit
    QPointF pressed_;
    QAction* logarithm_;
};

} // namespace espalier
