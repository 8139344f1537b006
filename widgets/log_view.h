// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "theme.h"

#include <QPlainTextEdit>
#include <deque>

namespace espalier {

struct LogLine {
    QString time; ///< "12:40:07"
    QString text;
    Role role = Role::text;
};

/// The story of a run as text, the newest line last and in sight unless one has scrolled up. The last 5,000 lines.
class LogView : public QPlainTextEdit {
    Q_OBJECT

public:
    static constexpr std::size_t longest = 5000; ///< lines that are kept

    explicit LogView(QWidget* parent = nullptr);
    void append_line(const LogLine& line);
    void clear_lines();

private:
    void write_all();
    void write(const LogLine& line);

    std::deque<LogLine> lines_; ///< kept for a change of colours
};

} // namespace espalier
