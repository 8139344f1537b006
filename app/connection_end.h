// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine_spec.h"

#include <QByteArray>

namespace espalier {

/// How the program that held a connection ended, or why it never began.
struct ConnectionEnd {
    bool started = true;
    bool crashed = false;
    int code = 0;    ///< exit code; of a crash: the signal
    QString words;   ///< the tail of its standard error
    QString noise;   ///< the first line on its standard output that was none of the protocol's
    QString problem; ///< why it could not be started
};

struct EndExplained {
    QString text;
    bool again; ///< it may work by itself the next time
};

/// In a sentence, with the command that helps where one does. `connected`: it had said hello before.
[[nodiscard]] EndExplained explain_end(const MachineSpec& machine, const ConnectionEnd& end, bool connected);

/// Why a connection that stands, and says nothing, may be silent, and what to do. `noise`: what came in the place of
/// the protocol's lines, if anything.
[[nodiscard]] QString explain_silence(const MachineSpec& machine, bool connected, int seconds, const QString& noise);

/// What a Windows program wrote: wsl.exe's own words are UTF-16LE where it does not know WSL_UTF8, and UTF-8 else.
[[nodiscard]] QString decode_console(const QByteArray& bytes);
/// The distributions that `wsl.exe -l -q` lists, without those that are Docker's own.
[[nodiscard]] QStringList read_distributions(const QByteArray& output);

} // namespace espalier
