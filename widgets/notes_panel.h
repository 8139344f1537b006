// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QTimer>
#include <QWidget>

class QLineEdit;
class QPlainTextEdit;

namespace espalier {

/// Tags and notes of a run, to be edited. What was typed is told after a pause, or when another run is shown.
class NotesPanel : public QWidget {
    Q_OBJECT

public:
    explicit NotesPanel(QWidget* parent = nullptr);
    /// What somebody is typing is not overwritten by what the same run had before.
    void set_notes(const QString& id, const QStringList& tags, const QString& notes);
    void flush(); ///< tells what has not been told yet

    /// "photo,  small, photo" as {"photo", "small"}
    [[nodiscard]] static QStringList tags_in(const QString& text);

signals:
    void edited(const QString& id, const QStringList& tags, const QString& notes);

private:
    void wait_for_more();

    QString id_;
    QLineEdit* tags_;
    QPlainTextEdit* notes_;
    QTimer pause_;       ///< of typing
    bool typed_ = false; ///< something that has not been told
};

} // namespace espalier
