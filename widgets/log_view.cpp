// SPDX-License-Identifier: GPL-3.0-or-later
#include "log_view.h"

#include <QFontDatabase>
#include <QScrollBar>

namespace espalier {

namespace {
constexpr int longest = 5000;
}

LogView::LogView(QWidget* parent) : QPlainTextEdit(parent) {
    setReadOnly(true);
    setMaximumBlockCount(longest);
    setAccessibleName(tr("Log of the run"));
    setPlaceholderText(tr("Nothing has been reported yet."));
    setFrameShape(QFrame::NoFrame);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        clear();
        for (const LogLine& line : lines_)
            write(line);
    });
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

void LogView::write(const LogLine& line) {
    const auto color = [](Role role) { return Theme::instance().color(role).name(); };
    const bool at_end = verticalScrollBar()->value() >= verticalScrollBar()->maximum() - 4;
    appendHtml(QStringLiteral("<span style='color:%1'>%2</span>&nbsp;&nbsp;<span style='color:%3'>%4</span>")
                   .arg(color(Role::hint), line.time, color(line.role), line.text.toHtmlEscaped()));
    if (at_end)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

} // namespace espalier
