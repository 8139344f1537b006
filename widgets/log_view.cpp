// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_view.h"

#include <QScrollBar>
#include <QTextCursor>

namespace espalier {

LogView::LogView(QWidget* parent) : QPlainTextEdit(parent) {
    setReadOnly(true);
    setMaximumBlockCount(longest);
    setAccessibleName(tr("Log of the run"));
    setPlaceholderText(tr("Nothing has been reported yet."));
    setFrameShape(QFrame::NoFrame);
    connect(&Theme::instance(), &Theme::changed, this, &LogView::write_all);
}

void LogView::append_line(const LogLine& line) {
    lines_.push_back(line);
    if (lines_.size() > longest)
        lines_.pop_front();
    write(line);
}

void LogView::clear_lines() {
    lines_.clear();
    clear();
}

void LogView::write_all() {
    clear();
    for (const LogLine& line : lines_)
        write(line);
}

void LogView::write(const LogLine& line) {
    // Text with formats, not HTML, which takes ten times as long: thousands of lines come at once when a run is opened.
    const auto ink = [](Role role) {
        QTextCharFormat format;
        format.setForeground(Theme::instance().color(role));
        return format;
    };
    const bool at_end = verticalScrollBar()->value() >= verticalScrollBar()->maximum() - 4;
    QTextCursor end(document());
    end.movePosition(QTextCursor::End);
    end.beginEditBlock();
    if (!document()->isEmpty())
        end.insertBlock();
    end.insertText(line.time + QStringLiteral("\u00a0\u00a0"), ink(Role::hint));
    end.insertText(line.text, ink(line.role));
    end.endEditBlock();
    if (at_end)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

} // namespace espalier
