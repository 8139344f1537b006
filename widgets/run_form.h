// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMap>
#include <QVariant>
#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace espalier {

/// One value that a person may change. `path` is where it stands in a run's configuration ("optimizer.learning_rate").
struct FormField {
    enum class Kind {
        text,
        integer,
        real,
        choice,      ///< one of `choices`
        open_choice, ///< one of `choices`, or another text
        toggle,
        integers, ///< a list: "2, 2, 2, 2"
    };
    QString path;
    QString section;
    QString label;
    Kind kind = Kind::text;
    double low = 0, high = 0;
    std::vector<std::pair<QString, QString>> choices; ///< value, what is shown
    QString help;
    bool advanced = false; ///< folded away at first
    QString sentence;      ///< stands below the field: when one needs it, and what it costs
};

/// A form over a run's configuration. Fields that differ from the preset carry a dot; a click on it goes back.
class RunForm : public QWidget {
    Q_OBJECT

public:
    explicit RunForm(QWidget* parent = nullptr);
    /// Builds the form with the preset's values; fields that it has no value for are left out.
    void set_fields(const std::vector<FormField>& fields, const QMap<QString, QVariant>& preset);
    [[nodiscard]] QMap<QString, QVariant> values() const;
    /// Those alone that differ from the preset.
    [[nodiscard]] QMap<QString, QVariant> changes() const;
    void set_value(const QString& path, const QVariant& value);
    /// Other choices for a field that has some; what it says stays, if it is among them.
    void set_choices(const QString& path, const std::vector<std::pair<QString, QString>>& choices);
    /// Greys a field out and says why in the place of its sentence; an empty reason makes it usable again. What it
    /// says does not change.
    void set_refusal(const QString& path, const QString& reason);
    /// The same for one choice of a field, which names the reason in brackets.
    void set_choice_refusal(const QString& path, const QString& value, const QString& reason);
    /// What is known of a field's cost or effect, behind its sentence.
    void set_cost(const QString& path, const QString& text);
    [[nodiscard]] bool has_error() const;
    [[nodiscard]] QString error() const; ///< the first field that cannot be read, in words

signals:
    void changed();

private:
    struct Row {
        FormField field;
        QWidget* editor = nullptr;
        QToolButton* dot = nullptr;
        QVariant preset;
        QLabel* label = nullptr;
        QGridLayout* grid = nullptr;
        int sentence_line = 0;      ///< of the grid
        QLabel* sentence = nullptr; ///< none, or hidden, while there is nothing to say
        QString refusal, cost;
    };
    [[nodiscard]] Row* row_at(const QString& path);
    void show_sentence(Row& row);
    QWidget* make_editor(const FormField& field, const QVariant& value);
    [[nodiscard]] QVariant value_of(const Row& row) const;
    void put(const Row& row, const QVariant& value);
    void update_dots();

    QVBoxLayout* column_;
    QWidget* content_ = nullptr;
    std::vector<Row> rows_;
};

} // namespace espalier
