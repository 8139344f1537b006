// SPDX-License-Identifier: GPL-3.0-or-later
#include "results_view.h"

#include "choice_box.h"
#include "class_table.h"
#include "confusion_panel.h"
#include "empty_page.h"
#include "format.h"
#include "image_grid.h"
#include "json_convert.h"
#include "prediction_panel.h"
#include "refusal.h"
#include "results_answers.h"
#include "run_state.h"
#include "theme.h"
#include "way_on.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTabBar>
#include <QVBoxLayout>
#include <cmath>

namespace espalier {

namespace {

constexpr double evaluated_unasked = 10000; ///< images; more are evaluated when a person wants it
constexpr int images_at_once = 60;
enum CheckpointChoice { best_choice, last_choice };
enum Page { classes_page, images_page, prediction_page, no_details_page };

QString part_title(const QString& part) {
    return part == u"test"         ? ResultsView::tr("Test images")
           : part == u"validation" ? ResultsView::tr("Validation images")
                                   : ResultsView::tr("Training images");
}

QFrame* card(QLayout* inside) {
    auto* frame = new QFrame;
    frame->setProperty("card", true);
    inside->setContentsMargins(12, 8, 8, 8);
    frame->setLayout(inside);
    return frame;
}

QLabel* quiet_label(const char* name) {
    auto* label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    label->setProperty("tone", "secondary");
    label->setProperty("textSize", "small");
    label->setObjectName(QLatin1String(name));
    return label;
}

} // namespace

ResultsView::ResultsView(QWidget* parent)
    : QWidget(parent), outer_(new QStackedWidget), empty_words_(new QLabel),
      checkpoint_now_(new QPushButton(tr("Write a checkpoint now"))), resume_(new QPushButton),
      curves_(new QPushButton(tr("Show the curves"))), checkpoint_(new ChoiceBox), part_(new ChoiceBox),
      summary_(new QLabel), again_(new QPushButton(tr("Evaluate again"))), confusion_(new ConfusionPanel),
      tabs_(new QTabBar), pages_(new QStackedWidget), details_words_(new QLabel),
      details_evaluate_(new QPushButton(tr("Evaluate"))), classes_(new ClassTable),
      class_words_(quiet_label("classWords")), images_(new ImageGrid), image_words_(quiet_label("imageWords")),
      hardest_(new QPushButton(tr("Hardest images"))), prediction_(new PredictionPanel) {
    checkpoint_->addItem(tr("Best checkpoint"), QStringLiteral("best"));
    checkpoint_->addItem(tr("Last checkpoint"), QStringLiteral("last"));
    checkpoint_->setObjectName(QStringLiteral("resultsCheckpoint"));
    checkpoint_->setAccessibleName(tr("Checkpoint"));
    part_->setObjectName(QStringLiteral("resultsPart"));
    part_->setAccessibleName(tr("Images"));
    part_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    summary_->setObjectName(QStringLiteral("resultsSummary"));
    summary_->setProperty("strong", "true");
    again_->setProperty("kind", "quiet");
    again_->setObjectName(QStringLiteral("evaluateAgain"));
    classes_->setObjectName(QStringLiteral("classTable"));
    images_->setObjectName(QStringLiteral("cellImages"));
    prediction_->setObjectName(QStringLiteral("prediction"));

    auto* top = new QHBoxLayout;
    top->setSpacing(8);
    top->addWidget(checkpoint_);
    top->addWidget(part_);
    top->addSpacing(4);
    top->addWidget(summary_, 1);
    top->addWidget(again_);
    auto* halves = new QHBoxLayout;
    halves->setSpacing(8);
    halves->addWidget(confusion_, 1);
    halves->addWidget(make_details(), 1);
    auto* main = new QWidget;
    auto* main_column = new QVBoxLayout(main);
    main_column->setContentsMargins(0, 0, 0, 0);
    main_column->setSpacing(8);
    main_column->addLayout(top);
    main_column->addLayout(halves, 1);
    outer_->addWidget(make_empty());
    outer_->addWidget(main);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(outer_);

    connect(confusion_, &ConfusionPanel::evaluate_clicked, this, [this] { ask(-1); });
    connect(again_, &QPushButton::clicked, this, [this] { ask(-1, true); });
    connect(confusion_, &ConfusionPanel::cancel_clicked, this, [this] {
        emit confusion_cancelled();
        clear_results();
    });
    connect(confusion_, &ConfusionPanel::cell_chosen, this, [this](int truth, int predicted) {
        tabs_->setCurrentIndex(images_page);
        ask_images({truth, predicted}, 0);
    });
    connect(checkpoint_, &QComboBox::activated, this, [this] {
        chosen_ = true;
        prediction_->clear(); // it was another network's
        emit prediction_cancelled();
        ask(evaluated_unasked);
    });
    connect(part_, &QComboBox::activated, this, [this] { ask(evaluated_unasked); });
    connect(prediction_, &PredictionPanel::choose_requested, this, &ResultsView::choose_image);
    connect(prediction_, &PredictionPanel::image_dropped, this, &ResultsView::predict);
    connect(checkpoint_now_, &QPushButton::clicked, this,
            [this] { emit action_requested(QStringLiteral("checkpoint")); });
    connect(resume_, &QPushButton::clicked, this,
            [this] { emit action_requested(resume_->property("command").toString()); });
    connect(curves_, &QPushButton::clicked, this, &ResultsView::curves_wanted);
    connect(details_evaluate_, &QPushButton::clicked, this, [this] { ask(-1, stage_ == Stage::known); });
    clear_results();
}

QWidget* ResultsView::make_empty() {
    auto* page = new QFrame;
    page->setProperty("card", true);
    empty_words_->setObjectName(QStringLiteral("resultsEmpty"));
    checkpoint_now_->setObjectName(QStringLiteral("resultsCheckpointNow"));
    resume_->setProperty("kind", "primary");
    resume_->setObjectName(QStringLiteral("resultsResume"));
    curves_->setObjectName(QStringLiteral("resultsCurves"));
    lay_out_empty(*page, *empty_words_, {checkpoint_now_, resume_, curves_});
    return page;
}

QWidget* ResultsView::make_details_empty() {
    auto* page = new QWidget;
    details_words_->setObjectName(QStringLiteral("detailsEmpty"));
    details_evaluate_->setObjectName(QStringLiteral("detailsEvaluate"));
    lay_out_empty(*page, *details_words_, {details_evaluate_});
    return page;
}

/// Classes and images are there after an evaluation; until then stands there what brings them.
void ResultsView::show_details() {
    const int tab = tabs_->currentIndex();
    const bool known = stage_ == Stage::known, no_images = known && tab == images_page && !image_fault_.isEmpty();
    const bool empty = tab != prediction_page && (!known || no_images);
    details_words_->setText(no_images ? image_fault_
                            : tab == classes_page
                                ? tr("Precision and recall of each class stand here after an evaluation.")
                                : tr("The hardest images, and those of a cell, stand here after an evaluation."));
    details_evaluate_->setText(no_images ? tr("Evaluate again") : tr("Evaluate"));
    details_evaluate_->setVisible(stage_ == Stage::unknown || no_images);
    pages_->setCurrentIndex(empty ? no_details_page : tab);
}

QWidget* ResultsView::make_details() {
    tabs_->setObjectName(QStringLiteral("resultTabs"));
    tabs_->setAccessibleName(tr("Views of the results"));
    tabs_->setExpanding(false);
    tabs_->setDrawBase(false);
    for (const QString& name : {tr("Classes"), tr("Images"), tr("Predict an image")})
        tabs_->addTab(name);

    auto* copy = new QPushButton(tr("Copy table"));
    copy->setProperty("kind", "quiet");
    copy->setObjectName(QStringLiteral("copyClasses"));
    copy->setToolTip(tr("The selected rows, or all, for a spreadsheet"));
    auto* class_head = new QHBoxLayout;
    class_head->addWidget(class_words_, 1);
    class_head->addWidget(copy);
    auto* class_page = new QWidget;
    auto* class_column = new QVBoxLayout(class_page);
    class_column->setContentsMargins(0, 0, 0, 0);
    class_column->setSpacing(2);
    class_column->addLayout(class_head);
    class_column->addWidget(classes_, 1);
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(classes_->text()); });
    connect(classes_, &ClassTable::class_chosen, this, [this](int place) {
        tabs_->setCurrentIndex(images_page);
        ask_images({place, -1}, 0);
    });

    hardest_->setProperty("kind", "quiet");
    hardest_->setObjectName(QStringLiteral("hardestImages"));
    image_words_->setWordWrap(true);
    auto* image_head = new QHBoxLayout;
    image_head->addWidget(image_words_, 1);
    image_head->addWidget(hardest_, 0, Qt::AlignTop);
    auto* image_page = new QWidget;
    auto* image_column = new QVBoxLayout(image_page);
    image_column->setContentsMargins(0, 0, 0, 0);
    image_column->setSpacing(2);
    image_column->addLayout(image_head);
    image_column->addWidget(images_, 1);
    connect(hardest_, &QPushButton::clicked, this, [this] { ask_images({}, 0); });
    connect(images_, &ImageGrid::more_wanted, this, [this] { ask_images(shown_, images_->count()); });

    pages_->addWidget(class_page);
    pages_->addWidget(image_page);
    pages_->addWidget(prediction_);
    pages_->addWidget(make_details_empty());
    connect(tabs_, &QTabBar::currentChanged, this, &ResultsView::show_details);
    auto* inside = new QVBoxLayout;
    inside->setSpacing(4);
    inside->addWidget(tabs_);
    inside->addWidget(pages_, 1);
    return card(inside);
}

void ResultsView::show_run(RunModel* run) {
    emit confusion_cancelled(); // what is on its way belongs to the run of before
    emit prediction_cancelled();
    run_ = run;
    asked_ = asked_after_end_ = has_checkpoint_ = chosen_ = false;
    checkpoint_->setCurrentIndex(best_choice);
    part_->clear();
    prediction_->clear();
    tabs_->setCurrentIndex(classes_page);
    clear_results();
    if (isVisible())
        refresh();
}

void ResultsView::clear_results() {
    emit images_cancelled();
    image_fault_.clear();
    confusion_->set_counts({});
    classes_->set_rows({});
    images_->set_images({}, 0);
    class_words_->clear();
    image_words_->clear();
    summary_->clear();
    part_->setVisible(part_->count() > 1);
    set_refusal(hardest_, tr("Known once the checkpoint is evaluated"));
    shown_ = {};
    set_stage(Stage::unknown, tr("Evaluate the checkpoint to see what it confuses."));
}

void ResultsView::refresh() {
    if (!run_)
        return;
    has_checkpoint_ = run_->checkpoint().has_value();
    outer_->setCurrentIndex(has_checkpoint_ ? 1 : 0);
    if (!has_checkpoint_)
        return show_empty();
    const bool has_best = run_->best_accuracy().has_value(); // from the first evaluation on
    if (auto* choices = qobject_cast<QStandardItemModel*>(checkpoint_->model())) {
        choices->item(best_choice)->setEnabled(has_best);
        choices->item(best_choice)->setToolTip(has_best ? QString() : tr("Known after the first validation"));
    }
    const bool over = run_->state() == RunState::finished;
    if (asked_ && (asked_after_end_ || !over))
        return;
    asked_ = true;
    asked_after_end_ = over;
    if (!chosen_)
        checkpoint_->setCurrentIndex(has_best ? best_choice : last_choice);
    ask(over ? evaluated_unasked : 0);
}

void ResultsView::show_empty() {
    const RunState state = run_->state();
    const bool waits = state == RunState::queued, over = !is_active(state);
    empty_words_->setText(
        waits ? tr("The run waits in the queue: there is nothing to look at before it has trained.")
        : over
            ? tr("The run ended before it had written a checkpoint: there is nothing to look at.")
            : tr("There is no checkpoint yet: what the network has learned can be looked at after the first epoch."));
    checkpoint_now_->setVisible(state == RunState::running);
    resume_->setVisible(waits || over);
    const WayOn way = way_on(*run_);
    resume_->setText(way.title);
    resume_->setProperty("command", way.action);
    curves_->setVisible(!waits && !over && state != RunState::running);
}

Json ResultsView::question() const {
    Json question{{"path", run_->path().toStdString()},
                  {"checkpoint", checkpoint_->currentData().toString().toStdString()}};
    if (part_->count() > 0)
        question["part"] = part_->currentData().toString().toStdString();
    return question;
}

/// `most` as `confusion` takes it; below 0: any number of images.
void ResultsView::ask(double most, bool again) {
    if (!run_ || !has_checkpoint_)
        return;
    Json arguments = question();
    if (most >= 0)
        arguments["most"] = static_cast<std::int64_t>(most);
    if (again)
        arguments["again"] = true;
    emit images_cancelled(); // of the answer of before
    set_stage(Stage::asking, most == 0 ? QString() : tr("Evaluating…"));
    emit confusion_wanted(arguments);
}

void ResultsView::set_stage(Stage stage, const QString& words) {
    stage_ = stage;
    confusion_->set_stage(stage, words);
    show_details();
    again_->setVisible(stage == Stage::known);
}

void ResultsView::show_progress(const Json& progress) {
    const double total = protocol::number_at(progress, "total");
    if (total > 0)
        set_stage(Stage::asking, tr("Evaluating… %1 of %2 images")
                                     .arg(format_count(protocol::number_at(progress, "done")), format_count(total)));
}

void ResultsView::show_error(const QString& text) {
    clear_results();
    set_stage(Stage::unknown, text);
}

void ResultsView::show_unsupported() {
    clear_results();
    set_stage(Stage::unavailable, tr("The engine of this machine is older and cannot say what a network confuses."));
}

void ResultsView::fill_choices(const Json& answer) {
    const QString set = text_at(answer, "set");
    part_->clear();
    if (const auto parts = answer.find("parts"); parts != answer.end() && parts->is_array())
        for (const Json& part : *parts)
            if (part.is_string())
                part_->addItem(part_title(to_qstring(part.get<std::string>())), to_qstring(part.get<std::string>()));
    part_->setCurrentIndex(std::max(0, part_->findData(set)));
    part_->setVisible(part_->count() > 1);
}

void ResultsView::show_results(const Json& answer) {
    if (!protocol::flag_at(answer, "known")) {
        clear_results();
        const double images = protocol::number_at(answer, "images");
        if (images > 0)
            set_stage(
                Stage::unknown,
                images == 1
                    ? tr("Evaluate the checkpoint on 1 image to see what it confuses.")
                    : tr("Evaluate the checkpoint on %1 images to see what it confuses.").arg(format_count(images)));
        return;
    }
    fill_choices(answer);
    std::vector<ClassRow> rows = read_classes(answer);
    QStringList names;
    for (const ClassRow& row : rows)
        names.append(row.name);
    confusion_->set_counts(read_counts(answer, names));
    classes_->set_rows(std::move(rows));
    class_words_->setText(tr("A double click shows the hardest images of a class."));
    const double epoch = protocol::number_at(answer, "epoch");
    summary_->setText(tr("%1 of %2 images told right · loss %3 · epoch %4")
                          .arg(format_percent(protocol::number_at(answer, "accuracy")),
                               format_count(protocol::number_at(answer, "images")),
                               format_loss(protocol::number_at(answer, "loss", std::nan(""))), format_count(epoch)));
    summary_->setToolTip(text_at(answer, "not_kept"));
    set_refusal(hardest_, {}, tr("Those whose truth the network found least probable"));
    set_stage(Stage::known, {});
    ask_images({}, 0);
}

void ResultsView::ask_images(const Shown& shown, std::int64_t first) {
    if (!run_)
        return;
    shown_ = shown;
    appending_ = first > 0;
    image_fault_.clear();
    show_details();
    if (!appending_) {
        shown_total_ = 1; // "fetching" stands there meanwhile
        images_->set_images({}, shown_total_);
        image_words_->clear();
    }
    Json arguments = question();
    if (shown.truth >= 0)
        arguments["truth"] = shown.truth;
    if (shown.predicted >= 0)
        arguments["predicted"] = shown.predicted;
    arguments["first"] = first;
    arguments["count"] = images_at_once;
    arguments["size"] = std::min(512, static_cast<int>(ImageGrid::image_side * devicePixelRatioF()));
    emit images_wanted(arguments);
}

void ResultsView::describe_images() {
    const QStringList& names = confusion_->counts().classes;
    const QString count = format_count(static_cast<double>(shown_total_));
    const bool one = shown_total_ == 1;
    if (shown_.truth < 0 || shown_.truth >= names.size())
        image_words_->setText(one ? tr("The only image") : tr("All %1 images, the hardest first").arg(count));
    else if (shown_.predicted < 0 || shown_.predicted >= names.size())
        image_words_->setText(one ? tr("%1: 1 image").arg(names[shown_.truth])
                                  : tr("%1: %2 images, the hardest first").arg(names[shown_.truth], count));
    else if (shown_.truth == shown_.predicted)
        image_words_->setText(one ? tr("%1, told right: 1 image").arg(names[shown_.truth])
                                  : tr("%1, told right: %2 images").arg(names[shown_.truth], count));
    else
        image_words_->setText(
            one ? tr("%1 taken for %2: 1 image").arg(names[shown_.truth], names[shown_.predicted])
                : tr("%1 taken for %2: %3 images").arg(names[shown_.truth], names[shown_.predicted], count));
}

void ResultsView::show_images(const Json& answer) {
    std::vector<ExaminedImage> images = read_images(answer, confusion_->counts().classes);
    shown_total_ = static_cast<qint64>(protocol::number_at(answer, "total"));
    if (appending_)
        images_->append_images(std::move(images));
    else
        images_->set_images(std::move(images), shown_total_);
    describe_images();
}

void ResultsView::show_images_error(const QString& text) {
    image_words_->setText(text);
    if (appending_)
        return images_->give_up_more(); // those that are there stay
    images_->set_images({}, 0);
    image_fault_ = text;
    show_details();
}

void ResultsView::choose_image() {
    auto* dialog = new QFileDialog(window(), tr("Predict an image"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("chooseImageFile"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters(
        {tr("Images (*.png *.jpg *.jpeg *.bmp *.gif *.webp *.tif *.tiff *.ppm *.pgm *.heic *.heif *.avif *.jxl)"),
         tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &ResultsView::predict);
    dialog->open();
}

void ResultsView::predict(const QString& file) {
    if (!run_ || !run_->checkpoint())
        return;
    refresh(); // the first checkpoint may have come just now
    tabs_->setCurrentIndex(prediction_page);
    prediction_->set_image({}, QFileInfo(file).fileName());
    prediction_->set_working();
    emit preview_wanted(file);
    const QString checkpoint =
        QStringLiteral("%1/checkpoints/%2.safetensors").arg(run_->path(), checkpoint_->currentData().toString());
    emit prediction_wanted(Json{{"checkpoint", checkpoint.toStdString()}, {"image", file.toStdString()}});
}

void ResultsView::show_preview(const QString& file, const QImage& image) {
    prediction_->set_image(image, QFileInfo(file).fileName());
}

void ResultsView::show_prediction(const Json& answer) { prediction_->set_classes(read_prediction(answer)); }

void ResultsView::show_prediction_error(const QString& text) { prediction_->set_error(text); }

} // namespace espalier
