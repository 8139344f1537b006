// SPDX-License-Identifier: GPL-3.0-or-later
#include "results_view.h"

#include "class_table.h"
#include "format.h"
#include "image_grid.h"
#include "json_convert.h"
#include "prediction_panel.h"
#include "refusal.h"
#include "results_answers.h"
#include "way_on.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTabBar>
#include <cmath>

namespace espalier {

namespace {

constexpr int images_at_once = 60;

QString part_title(const QString& part) {
    return part == u"test"         ? ResultsView::tr("Test images")
           : part == u"validation" ? ResultsView::tr("Validation images")
                                   : ResultsView::tr("Training images");
}

} // namespace

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
