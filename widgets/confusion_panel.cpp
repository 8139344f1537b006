// SPDX-License-Identifier: GPL-3.0-or-later
#include "confusion_panel.h"

#include "choice_box.h"
#include "confusion_matrix.h"
#include "empty_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace espalier {

ConfusionPanel::ConfusionPanel(QWidget* parent)
    : QFrame(parent), pages_(new QStackedWidget), words_(new QLabel), evaluate_(new QPushButton(tr("Evaluate"))),
      cancel_(new QPushButton(tr("Cancel"))), matrix_(new ConfusionMatrix), scale_(new ChoiceBox),
      pointed_(new QLabel) {
    setProperty("card", true);
    words_->setObjectName(QStringLiteral("resultsWords"));
    evaluate_->setProperty("kind", "primary");
    evaluate_->setObjectName(QStringLiteral("evaluate"));
    cancel_->setObjectName(QStringLiteral("cancelEvaluation"));
    matrix_->setObjectName(QStringLiteral("confusion"));
    pointed_->setTextFormat(Qt::PlainText);
    pointed_->setProperty("tone", "secondary");
    pointed_->setProperty("textSize", "small");
    pointed_->setObjectName(QStringLiteral("pointedCell"));

    pages_->addWidget(make_unknown());
    pages_->addWidget(make_known());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 8, 8);
    column->addWidget(pages_);

    connect(evaluate_, &QPushButton::clicked, this, &ConfusionPanel::evaluate_clicked);
    connect(cancel_, &QPushButton::clicked, this, &ConfusionPanel::cancel_clicked);
    connect(scale_, &QComboBox::activated, this,
            [this](int index) { matrix_->set_scale(static_cast<ConfusionMatrix::Scale>(index)); });
    connect(matrix_, &ConfusionMatrix::cell_pointed, this, &ConfusionPanel::point_at);
    connect(matrix_, &ConfusionMatrix::cell_chosen, this, &ConfusionPanel::cell_chosen);
}

QWidget* ConfusionPanel::make_unknown() {
    auto* page = new QWidget;
    lay_out_empty(*page, *words_, {evaluate_, cancel_});
    return page;
}

QWidget* ConfusionPanel::make_known() {
    scale_->setObjectName(QStringLiteral("confusionScale"));
    scale_->setAccessibleName(tr("What the cells say"));
    scale_->addItem(tr("Images"));
    scale_->addItem(tr("% of the class"));
    scale_->addItem(tr("% of the prediction"));
    scale_->setItemData(1, tr("Each row adds up to 100: the diagonal is the recall"), Qt::ToolTipRole);
    scale_->setItemData(2, tr("Each column adds up to 100: the diagonal is the precision"), Qt::ToolTipRole);
    auto* title = new QLabel(tr("Confusion"));
    title->setProperty("strong", true);
    auto* head = new QHBoxLayout;
    head->addWidget(title);
    head->addStretch(1);
    head->addWidget(scale_);
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addLayout(head);
    column->addWidget(matrix_, 1);
    column->addWidget(pointed_);
    return page;
}

void ConfusionPanel::set_stage(Stage stage, const QString& words) {
    pages_->setCurrentIndex(stage == Stage::known ? 1 : 0);
    words_->setText(words);
    evaluate_->setVisible(stage == Stage::unknown);
    cancel_->setVisible(stage == Stage::asking && !words.isEmpty());
}

void ConfusionPanel::set_counts(ConfusionCounts counts) {
    matrix_->set_counts(std::move(counts));
    point_at(-1, -1);
}

const ConfusionCounts& ConfusionPanel::counts() const { return matrix_->counts(); }

void ConfusionPanel::point_at(int truth, int predicted) {
    pointed_->setText(truth < 0 ? tr("A click on a cell shows its images.") : matrix_->describe(truth, predicted));
}

} // namespace espalier
