// SPDX-License-Identifier: GPL-3.0-or-later
#include "display.h"

#include "worker/protocol.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace espalier {
namespace {

template <std::size_t Count>
bool any_of(int argc, char** argv, const std::array<std::string_view, Count>& wanted) {
    return std::any_of(argv + 1, argv + argc, [&](const char* argument) {
        return std::find(wanted.begin(), wanted.end(), argument) != wanted.end();
    });
}

} // namespace

bool names_display([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifdef Q_OS_LINUX
    const auto is_set = [](const char* name) { return !qEnvironmentVariableIsEmpty(name); };
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM") ||
           any_of(argc, argv, std::array<std::string_view, 2>{"-platform", "--platform"});
#else
    return true;
#endif
}

bool asks_for_words(int argc, char** argv) {
    return any_of(argc, argv, std::array<std::string_view, 5>{"-h", "--help", "--help-all", "-v", "--version"});
}

QString no_display_text(const QString& why) {
    return QStringLiteral("a display is needed: %1. In a terminal espalier-train does all that the window does: "
                          "espalier-train --help")
        .arg(why);
}

std::vector<QString> DisplayRefusal::warnings_;

DisplayRefusal::DisplayRefusal() : before_(qInstallMessageHandler(take)) {}

DisplayRefusal::~DisplayRefusal() {
    qInstallMessageHandler(before_);
    for (const QString& text : std::exchange(warnings_, {}))
        qWarning("%s", qPrintable(text));
}

void DisplayRefusal::take(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type != QtFatalMsg) {
        warnings_.push_back(text);
        return;
    }
    // The first word is the cause; what follows only says that this one platform was all there was.
    const QString& why = warnings_.empty() ? text : warnings_.front();
    std::fprintf(stderr, "espalier: %s\n", qPrintable(no_display_text(why.section(QLatin1Char('\n'), 0, 0))));
    std::_Exit(static_cast<int>(ExitCode::bad_configuration)); // back to Qt it would abort
}

} // namespace espalier
