// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "confusion_panel.h"
#include "run_model.h"

#include <QPointer>
#include <QWidget>

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTabBar;

namespace espalier {

class ClassTable;
class ImageGrid;
class PredictionPanel;

/// What a run's network confuses, class by class and image by image, and what it makes of an image of one's own. It
/// says what has to be asked of the machine (docs/PROTOCOL.md: confusion, cell_images, predict) and shows what came
/// back.
class ResultsView : public QWidget {
    Q_OBJECT

public:
    explicit ResultsView(QWidget* parent = nullptr);
    void show_run(RunModel* run);
    /// Looks at how the run stands; when it is first seen, and when the run ends, it asks for what is known.
    void refresh();
    void choose_image(); ///< opens a dialog
    void predict(const QString& file);

    void show_progress(const Json& progress);
    void show_results(const Json& answer);
    void show_error(const QString& text);
    void show_unsupported(); ///< by an older engine
    void show_images(const Json& answer);
    void show_images_error(const QString& text);
    void show_preview(const QString& file, const QImage& image);
    void show_prediction(const Json& answer);
    void show_prediction_error(const QString& text);

signals:
    void confusion_wanted(const Json& arguments);
    void confusion_cancelled();
    void images_wanted(const Json& arguments);
    void images_cancelled();
    void prediction_wanted(const Json& arguments);
    void prediction_cancelled(); ///< and the preview of its image
    void preview_wanted(const QString& file);
    void curves_wanted();                          ///< to look at until there is something here
    void action_requested(const QString& command); ///< as RunActions::perform() takes them

private:
    using Stage = ConfusionPanel::Stage;
    enum CheckpointChoice { best_choice, last_choice };
    enum Page { classes_page, images_page, prediction_page, no_details_page };
    static constexpr double evaluated_unasked = 10000; ///< images; more are evaluated when a person wants it
    /// The images that the grid shows.
    struct Shown {
        int truth = -1, predicted = -1; ///< -1: any
    };

    QWidget* make_empty();
    QWidget* make_details();
    QWidget* make_details_empty();
    void show_empty();
    void show_details();
    void set_stage(Stage stage, const QString& words);
    [[nodiscard]] Json question() const;
    void ask(double most, bool again = false);
    void ask_images(const Shown& shown, std::int64_t first);
    void describe_images();
    void fill_choices(const Json& answer);
    void clear_results();

    QPointer<RunModel> run_;
    bool asked_ = false;           ///< what is known of this run
    bool asked_after_end_ = false; ///< and again when it was over
    bool has_checkpoint_ = false;
    bool chosen_ = false; ///< the checkpoint, by a person
    Shown shown_;
    qint64 shown_total_ = 0;
    bool appending_ = false; ///< the images that come next follow those that are there

    QStackedWidget* outer_;
    QLabel* empty_words_;
    QPushButton *checkpoint_now_, *resume_, *curves_;
    QComboBox* checkpoint_;
    QComboBox* part_;
    QLabel* summary_;
    QPushButton* again_;
    ConfusionPanel* confusion_;
    QTabBar* tabs_;
    QStackedWidget* pages_;
    QLabel* details_words_; ///< in the place of classes and images that are not known
    QPushButton* details_evaluate_;
    Stage stage_ = Stage::unknown;
    QString image_fault_; ///< why there are no images after an evaluation
    ClassTable* classes_;
    QLabel* class_words_;
    ImageGrid* images_;
    QLabel* image_words_;
    QPushButton* hardest_;
    PredictionPanel* prediction_;
};

} // namespace espalier
