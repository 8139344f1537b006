// SPDX-License-Identifier: Apache-2.0
#include "worker/command_line.h"
#include "worker/terminal.h"

#include <QCoreApplication>
#include <clocale>
#ifdef __linux__
#include <unistd.h>

#include <cstdlib>
#endif

namespace {

/// OpenMP's threads wait for each other by spinning, milliseconds long where GNU's library is left alone. On a machine
/// that also does other work a spinning thread keeps the one that it waits for from running: a step then takes ten to a
/// hundred times as long. The library reads its settings before main, so the program starts itself once more with them.
void spin_briefly([[maybe_unused]] char** argv) {
#ifdef __linux__
    if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY"))
        return;
    setenv("GOMP_SPINCOUNT", "2000", 0);
    execv("/proc/self/exe", argv); // where that fails, it goes on as it is
#endif
}

} // namespace

int main(int argc, char** argv) {
    spin_briefly(argv);
    espalier::open_missing_streams();
    const QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName("espalier");
    // The application object has taken the user's locale: numbers and letters in files must not follow it.
    std::setlocale(LC_ALL, "C");
    std::setlocale(LC_CTYPE, "C.UTF-8");
    return espalier::run_command_line(argc, argv);
}
