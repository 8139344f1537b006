// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QtGlobal>
#include <vector>

namespace espalier {

/// Whether a place to show windows is named. Without one Qt aborts, before it has read --help.
[[nodiscard]] bool names_display(int argc, char** argv);

/// Whether only words are asked for (--help, --version), which need no display.
[[nodiscard]] bool asks_for_words(int argc, char** argv);

/// In one sentence for a terminal: why no window can be shown, and what does the same without one.
[[nodiscard]] QString no_display_text(const QString& why);

/// While QApplication is made: a display that does not answer, or lets nobody in, is said in one sentence and ends the
/// program with the code for wrong usage, where Qt would abort. What Qt warns of meanwhile is said afterwards, unless
/// it is the reason.
class DisplayRefusal {
public:
    DisplayRefusal();
    ~DisplayRefusal();
    DisplayRefusal(const DisplayRefusal&) = delete;
    DisplayRefusal& operator=(const DisplayRefusal&) = delete;

private:
    static void take(QtMsgType type, const QMessageLogContext& context, const QString& text);

    static std::vector<QString> warnings_;
    QtMessageHandler before_;
};

} // namespace espalier
