// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_form.h"

#include "choice_box.h"
#include "format.h"
#include "number_text.h"
#include "theme.h"
#include "toggle_switch.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace espalier {

namespace {

constexpr int label_width = 152;
constexpr int editor_width = 220;

/// The dot of a changed field: a button that is nothing to see until there is something to take back.
class DotButton : public QToolButton {
public:
    using QToolButton::QToolButton;

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QColor accent = Theme::instance().color(Role::accent);
        if (underMouse() || hasFocus()) {
            Theme::instance()
                .icon(QStringLiteral("revert"), Role::accent)
                .paint(&painter, rect().adjusted(3, 3, -3, -3));
            return;
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(accent);
        painter.drawEllipse(QRectF(rect()).center(), 3, 3);
    }
};

QString list_text(const QVariant& value) {
    QStringList parts;
    for (const QVariant& item : value.toList())
        parts.append(item.toString());
    return parts.join(QStringLiteral(", "));
}

/// What equality of a field's values means: 1e-1 and 0.1 are the same number, "2,2" and "2, 2" the same list.
QString comparable(const FormField& field, const QVariant& value) {
    if (field.kind == FormField::Kind::real)
        return QLocale::c().toString(value.toDouble(), 'g', 12);
    return field.kind == FormField::Kind::integers ? list_text(value) : value.toString();
}

} // namespace

RunForm::RunForm(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
}

QWidget* RunForm::make_editor(const FormField& field, const QVariant& value) {
    const auto tell = [this] {
        update_dots();
        emit changed();
    };
    switch (field.kind) {
    case FormField::Kind::choice:
    case FormField::Kind::open_choice: {
        auto* box = new ChoiceBox;
        box->setEditable(field.kind == FormField::Kind::open_choice);
        box->setInsertPolicy(QComboBox::NoInsert);
        for (const auto& [key, title] : field.choices)
            box->addItem(title, key);
        connect(box, &QComboBox::currentTextChanged, this, tell);
        return box;
    }
    case FormField::Kind::toggle: {
        auto* toggle = new ToggleSwitch;
        toggle->setChecked(value.toBool());
        connect(toggle, &ToggleSwitch::toggled, this, tell);
        return toggle;
    }
    case FormField::Kind::integer:
    case FormField::Kind::real:
    case FormField::Kind::integers:
    case FormField::Kind::text:
        break;
    }
    auto* edit = new QLineEdit;
    connect(edit, &QLineEdit::textChanged, this, tell);
    return edit;
}

void RunForm::set_fields(const std::vector<FormField>& fields, const QMap<QString, QVariant>& preset) {
    delete content_;
    rows_.clear();
    content_ = new QWidget;
    content_->setObjectName(QStringLiteral("formContent"));
    auto* all = new QVBoxLayout(content_);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    auto* grid = new QGridLayout;
    auto* folded = new QWidget;
    auto* folded_grid = new QGridLayout(folded);
    for (QGridLayout* one : {grid, folded_grid}) {
        one->setContentsMargins(0, 0, 0, 0);
        one->setHorizontalSpacing(8);
        one->setVerticalSpacing(6);
        one->setColumnMinimumWidth(0, label_width);
        one->setColumnMinimumWidth(2, 20);
        one->setColumnStretch(1, 1);
    }
    QString section, folded_section;
    for (const FormField& field : fields) {
        if (!preset.contains(field.path))
            continue;
        QGridLayout* into = field.advanced ? folded_grid : grid;
        QString& current = field.advanced ? folded_section : section;
        int line = into->rowCount();
        if (field.section != current) {
            auto* title = new QLabel(field.section.toUpper());
            title->setProperty("section", true);
            title->setContentsMargins(0, current.isEmpty() ? 0 : 10, 0, 0);
            into->addWidget(title, line++, 0, 1, 3);
            current = field.section;
        }
        Row row{field, make_editor(field, preset[field.path]), new DotButton, preset[field.path]};
        row.editor->setObjectName(QStringLiteral("field-") + field.path);
        row.editor->setAccessibleName(field.label);
        row.editor->setToolTip(field.help);
        if (field.kind != FormField::Kind::toggle)
            row.editor->setMinimumWidth(140);
        row.editor->setMaximumWidth(editor_width + 60);
        row.dot->setFixedSize(20, 20);
        row.dot->setObjectName(QStringLiteral("revert-") + field.path);
        row.dot->setAccessibleName(tr("Put %1 back to the preset").arg(field.label));
        row.dot->setToolTip(tr("Differs from the preset: click to go back"));
        auto* label = new QLabel(field.label);
        label->setProperty("tone", "secondary");
        label->setBuddy(row.editor);
        label->setToolTip(field.help);
        row.label = label;
        into->addWidget(label, line, 0);
        into->addWidget(row.editor, line, 1, field.kind == FormField::Kind::toggle ? Qt::AlignLeft : Qt::Alignment());
        into->addWidget(row.dot, line, 2);
        QSizePolicy keep = row.dot->sizePolicy();
        keep.setRetainSizeWhenHidden(true);
        row.dot->setSizePolicy(keep);
        row.grid = into;
        row.sentence_line = line + 1;
        into->setRowMinimumHeight(row.sentence_line, 0); // the next field stands below it
        show_sentence(row);
        rows_.push_back(row);
        put(row, row.preset);
        connect(row.dot, &QToolButton::clicked, this,
                [this, path = field.path, value = row.preset] { set_value(path, value); });
    }
    auto* unfold = new QPushButton(tr("Advanced"));
    unfold->setProperty("kind", "link");
    unfold->setObjectName(QStringLiteral("advanced"));
    unfold->setCheckable(true);
    unfold->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    unfold->setIconSize(QSize(12, 12));
    const auto turn = [unfold, folded](bool open) {
        unfold->setIcon(Theme::instance().icon(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"),
                                               Role::accent));
        folded->setVisible(open);
    };
    turn(false);
    connect(unfold, &QPushButton::toggled, folded, turn);
    all->addLayout(grid);
    all->addSpacing(10);
    all->addWidget(unfold);
    all->addSpacing(4);
    all->addWidget(folded);
    all->addStretch(1);
    if (folded_section.isEmpty())
        unfold->hide();
    column_->addWidget(content_);
    update_dots();
}

QVariant RunForm::value_of(const Row& row) const {
    switch (row.field.kind) {
    case FormField::Kind::choice:
    case FormField::Kind::open_choice: {
        const auto* box = static_cast<QComboBox*>(row.editor);
        const int index = box->findText(box->currentText());
        return index >= 0 ? box->itemData(index) : QVariant(box->currentText().trimmed());
    }
    case FormField::Kind::toggle:
        return static_cast<ToggleSwitch*>(row.editor)->isChecked();
    default:
        break;
    }
    const QString text = static_cast<QLineEdit*>(row.editor)->text().trimmed();
    const auto allowed = [&](auto number) {
        return number && *number >= row.field.low && *number <= row.field.high ? QVariant(*number) : QVariant();
    };
    switch (row.field.kind) {
    case FormField::Kind::integer:
        return allowed(read_whole(text, screen_locale()));
    case FormField::Kind::real:
        return allowed(read_real(text, screen_locale()));
    case FormField::Kind::integers: {
        QVariantList list;
        for (const QString& part : split_numbers(text)) {
            const QVariant number = allowed(read_whole(part, QLocale::c()));
            if (!number.isValid())
                return {};
            list.append(number);
        }
        return list;
    }
    default:
        return text;
    }
}

void RunForm::put(const Row& row, const QVariant& value) {
    switch (row.field.kind) {
    case FormField::Kind::choice:
    case FormField::Kind::open_choice: {
        auto* box = static_cast<QComboBox*>(row.editor);
        const int index = box->findData(value);
        if (index >= 0)
            box->setCurrentIndex(index);
        else if (row.field.kind == FormField::Kind::open_choice)
            box->setEditText(value.toString());
        return;
    }
    case FormField::Kind::toggle:
        static_cast<ToggleSwitch*>(row.editor)->setChecked(value.toBool());
        return;
    case FormField::Kind::integers:
        static_cast<QLineEdit*>(row.editor)->setText(list_text(value));
        return;
    case FormField::Kind::real:
        static_cast<QLineEdit*>(row.editor)->setText(QLocale::c().toString(value.toDouble(), 'g', 8));
        return;
    default:
        static_cast<QLineEdit*>(row.editor)->setText(value.toString());
    }
}

void RunForm::update_dots() {
    for (const Row& row : rows_) {
        const QVariant now = value_of(row);
        const bool same = now.isValid() && comparable(row.field, now) == comparable(row.field, row.preset);
        row.dot->setVisible(!same);
    }
}

QMap<QString, QVariant> RunForm::values() const {
    QMap<QString, QVariant> values;
    for (const Row& row : rows_)
        values[row.field.path] = value_of(row);
    return values;
}

QMap<QString, QVariant> RunForm::changes() const {
    QMap<QString, QVariant> values;
    for (const Row& row : rows_)
        if (!row.dot->isHidden())
            values[row.field.path] = value_of(row);
    return values;
}

void RunForm::set_value(const QString& path, const QVariant& value) {
    for (const Row& row : rows_)
        if (row.field.path == path)
            put(row, value);
}

RunForm::Row* RunForm::row_at(const QString& path) {
    const auto row = std::ranges::find(rows_, path, [](const Row& one) { return one.field.path; });
    return row == rows_.end() ? nullptr : &*row;
}

/// Most fields have none: its label is made when it is needed.
void RunForm::show_sentence(Row& row) {
    QStringList parts{row.refusal};
    if (row.refusal.isEmpty())
        parts = {row.field.sentence, row.cost};
    parts.removeAll(QString());
    const QString text = parts.join(QLatin1Char(' '));
    if (row.sentence ? row.sentence->text() == text : text.isEmpty())
        return;
    if (!row.sentence) {
        row.sentence = new QLabel(content_); // without a parent it would be shown as a window
        row.sentence->setObjectName(QStringLiteral("sentence-") + row.field.path);
        row.sentence->setProperty("textSize", "small");
        row.sentence->setProperty("tone", "hint");
        row.sentence->setTextFormat(Qt::PlainText);
        row.sentence->setWordWrap(true);
        row.sentence->setContentsMargins(0, 0, 0, 4);
        row.grid->addWidget(row.sentence, row.sentence_line, 0, 1, 3);
    }
    row.sentence->setText(text);
    row.sentence->setHidden(text.isEmpty());
    row.editor->setAccessibleDescription(text);
}

void RunForm::set_refusal(const QString& path, const QString& reason) {
    Row* row = row_at(path);
    if (!row || row->refusal == reason)
        return;
    row->refusal = reason;
    row->editor->setEnabled(reason.isEmpty());
    row->label->setEnabled(reason.isEmpty());
    row->editor->setToolTip(reason.isEmpty() ? row->field.help : reason);
    show_sentence(*row);
}

void RunForm::set_choices(const QString& path, const std::vector<std::pair<QString, QString>>& choices) {
    Row* row = row_at(path);
    auto* box = row ? qobject_cast<QComboBox*>(row->editor) : nullptr;
    if (!box || row->field.choices == choices)
        return;
    const QVariant now = value_of(*row);
    {
        const QSignalBlocker quiet(box);
        row->field.choices = choices;
        box->clear();
        for (const auto& [value, title] : choices)
            box->addItem(title, value);
    }
    put(*row, now);
    update_dots();
}

void RunForm::set_choice_refusal(const QString& path, const QString& value, const QString& reason) {
    Row* row = row_at(path);
    auto* box = row ? qobject_cast<QComboBox*>(row->editor) : nullptr;
    auto* model = box ? qobject_cast<QStandardItemModel*>(box->model()) : nullptr;
    const int index = box ? box->findData(value) : -1;
    if (!model || index < 0)
        return;
    const auto choice = std::ranges::find(row->field.choices, value, &std::pair<QString, QString>::first);
    const QSignalBlocker quiet(box); // only words change
    model->item(index)->setEnabled(reason.isEmpty());
    box->setItemText(index, reason.isEmpty() ? choice->second : QStringLiteral("%1 (%2)").arg(choice->second, reason));
}

void RunForm::set_cost(const QString& path, const QString& text) {
    if (Row* row = row_at(path)) {
        row->cost = text;
        show_sentence(*row);
    }
}

bool RunForm::has_error() const { return !error().isEmpty(); }

QString RunForm::error() const {
    for (const Row& row : rows_)
        if (!value_of(row).isValid()) {
            const QString from = format_number(row.field.low, 8), to = format_number(row.field.high, 8);
            return row.field.kind == FormField::Kind::integer
                       ? tr("%1: a whole number from %2 to %3").arg(row.field.label, from, to)
                       : tr("%1: a number from %2 to %3").arg(row.field.label, from, to);
        }
    return {};
}

} // namespace espalier
