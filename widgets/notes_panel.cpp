// SPDX-License-Identifier: GPL-3.0-or-later
#include "notes_panel.h"

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <utility>

namespace espalier {

namespace {
constexpr int typing_ms = 700;
constexpr int notes_height = 84; ///< four lines
} // namespace

NotesPanel::NotesPanel(QWidget* parent) : QWidget(parent), tags_(new QLineEdit), notes_(new QPlainTextEdit) {
    tags_->setObjectName(QStringLiteral("tags"));
    tags_->setAccessibleName(tr("Tags"));
    tags_->setPlaceholderText(tr("Words with commas between, to find it again"));
    notes_->setObjectName(QStringLiteral("notes"));
    notes_->setAccessibleName(tr("Notes"));
    notes_->setProperty("field", true);
    notes_->setPlaceholderText(tr("What you want to remember of this run"));
    notes_->setTabChangesFocus(true);
    notes_->setFixedHeight(notes_height);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(8);
    grid->setColumnMinimumWidth(0, 168); // the facts below it have their words there
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const auto& [word, editor] : {std::pair<QString, QWidget*>{tr("Tags"), tags_}, {tr("Notes"), notes_}}) {
        auto* label = new QLabel(word);
        label->setProperty("tone", "secondary");
        label->setBuddy(editor);
        grid->addWidget(label, row, 0, row == 0 ? Qt::AlignVCenter : Qt::AlignTop);
        grid->addWidget(editor, row++, 1);
    }
    pause_.setSingleShot(true);
    pause_.setInterval(typing_ms);
    connect(&pause_, &QTimer::timeout, this, &NotesPanel::flush);
    connect(tags_, &QLineEdit::textEdited, this, &NotesPanel::wait_for_more);
    connect(tags_, &QLineEdit::editingFinished, this, &NotesPanel::flush);
    connect(notes_, &QPlainTextEdit::textChanged, this, &NotesPanel::wait_for_more);
}

void NotesPanel::set_notes(const QString& id, const QStringList& tags, const QString& notes) {
    if (id == id_ && typed_)
        return;
    flush();
    id_ = id;
    const QSignalBlocker quiet(notes_);
    if (tags_in(tags_->text()) != tags)
        tags_->setText(tags.join(QStringLiteral(", ")));
    if (notes_->toPlainText() != notes)
        notes_->setPlainText(notes);
}

void NotesPanel::wait_for_more() {
    typed_ = true;
    pause_.start();
}

void NotesPanel::flush() {
    if (!std::exchange(typed_, false))
        return;
    pause_.stop();
    if (!id_.isEmpty())
        emit edited(id_, tags_in(tags_->text()), notes_->toPlainText());
}

QStringList NotesPanel::tags_in(const QString& text) {
    static const QRegularExpression comma(QStringLiteral("[,，、]"));
    QStringList tags;
    for (const QString& part : text.split(comma))
        if (const QString tag = part.simplified(); !tag.isEmpty() && !tags.contains(tag))
            tags.append(tag);
    return tags;
}

} // namespace espalier
