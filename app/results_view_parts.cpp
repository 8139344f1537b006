// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the results: made, put in their places, connected.
#include "choice_box.h"
#include "class_table.h"
#include "empty_page.h"
#include "image_grid.h"
#include "prediction_panel.h"
#include "results_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace espalier {

namespace {

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
    summary_->setWordWrap(true); // of a narrow window
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

} // namespace espalier
