// SPDX-License-Identifier: Apache-2.0
#include "worker/command_line.h"

#include <QCoreApplication>
#include <clocale>

int main(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    QCoreApplication::setApplicationName("espalier");
    // The application object has taken the user's locale: numbers and letters in files must not follow it.
    std::setlocale(LC_ALL, "C");
    std::setlocale(LC_CTYPE, "C.UTF-8");
    return espalier::run_command_line(argc, argv);
}
