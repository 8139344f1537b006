// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

namespace espalier::test {

/// The real espalier-train in a terminal's hands, for a test that inherits it; what it writes goes with the test.
class TrainProgram {
protected:
    static constexpr int patient = 90000; ///< ms, for a loaded machine
    /// A run of a second.
    inline static const QStringList tiny = {
        "--preset", "quick",     "--data", "synthetic:1x16x16,2,128",  "--set", "batch=16",
        "--set",    "threads=1", "--set",  "checkpoint.every_steps=20"};

    struct Finished {
        int code = -1; ///< as it stays where the program crashed or never ended
        QByteArray output, errors;
    };

    QTemporaryDir folder_;

    Finished run(const QStringList& arguments, const QProcessEnvironment& extra = {}) const {
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("ESPALIER_RUNS", folder_.filePath("runs"));
        environment.insert(extra);
        process.setProcessEnvironment(environment);
        process.start(ESPALIER_TRAIN, arguments);
        if (!process.waitForFinished(patient))
            process.kill();
        process.waitForFinished();
        return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
                process.readAllStandardError()};
    }
    /// The path of a file with that content.
    QString written(const QString& name, const QByteArray& content) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("%s cannot be written", qPrintable(name));
        return file.fileName();
    }
    /// Arguments of a run on two photos of each of two classes, which it makes.
    QStringList small_photos(const QString& name) const {
        for (const QString of_class : {"/a", "/b"}) {
            QDir(folder_.path()).mkpath(name + of_class);
            for (const QString file : {"/1.pgm", "/5.pgm"})
                (void)written(name + of_class + file, "P2 16 16 255\n" + QByteArray("9 ").repeated(256));
        }
        return {"run",     "--preset", "quick",    "--data",        "folder:" + folder_.filePath(name),
                "--set",   "epochs=1", "--set",    "image_size=16", "--set",
                "batch=2", "--set",    "threads=1"};
    }
    QByteArray read(const QString& path) const {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
};

} // namespace espalier::test
