// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFile>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <filesystem>
#include <vector>

namespace espalier::test {

/// The program in a folder of its own, beside the pretended engine (tests/backends/fake_plugin.cpp).
class Installed {
public:
    Installed(const std::filesystem::path& program, const std::filesystem::path& engine) {
        const std::filesystem::path folder = folder_.path().toStdString();
        std::error_code error;
        std::filesystem::create_hard_link(program, folder / "espalier-train", error);
        if (error)
            std::filesystem::copy_file(program, folder / "espalier-train");
        std::filesystem::copy_file(engine, folder / "libespalier-cuda.so");
    }
    [[nodiscard]] QString program() const { return folder_.filePath("espalier-train"); }
    [[nodiscard]] QString log() const { return folder_.filePath("asked"); }
    /// As long as this file is there, what cannot be killed is there too.
    [[nodiscard]] QString hold() const { return folder_.filePath("hold"); }
    /// What the pretended engine was asked so far.
    [[nodiscard]] QByteArray asked() const {
        QFile file(log());
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    /// In which processes it was made, time after time.
    [[nodiscard]] std::vector<pid_t> processes() const {
        std::vector<pid_t> result;
        for (const auto& line : asked().split('\n'))
            if (line.startsWith("in "))
                result.push_back(line.mid(3).toInt());
        return result;
    }
    [[nodiscard]] QProcessEnvironment environment(const char* mode) const {
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("ESPALIER_FAKE_GPU", mode);
        environment.insert("ESPALIER_FAKE_GPU_LOG", log());
        environment.insert("ESPALIER_FAKE_GPU_HOLD", hold());
        return environment;
    }

private:
    QTemporaryDir folder_;
};

} // namespace espalier::test
