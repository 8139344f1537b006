// SPDX-License-Identifier: Apache-2.0
// Opening the GPU engine: what is missing or of another release is said in one sentence, and nothing else happens.
#include "backends/plugin.h"
#include "base/error.h"
#include "texts.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <iterator>

using namespace espalier;
using namespace espalier::test;

namespace {

std::string reason_of(const std::string& path) {
    const auto plugin = plugin_backend_at(path, "cuda", "NVIDIA GPU");
    try {
        static_cast<void>(plugin.make({}));
    } catch (const DeviceError& error) {
        const auto support = plugin.available({});
        return support.yes || support.reason != error.what() ? "two different reasons" : support.reason;
    }
    return {};
}

} // namespace

class TestPlugin : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void one_of_the_same_release_is_used() {
        const auto plugin = plugin_backend_at(FAKE_PLUGIN, "cuda", "NVIDIA GPU");
        QVERIFY(plugin.available({}));
        QCOMPARE(plugin.devices().size(), std::size_t{2});
        QCOMPARE(plugin.make({})->name(), std::string_view("reference"));
    }

    void another_interface_is_refused_with_both_numbers() {
        const auto reason = reason_of(FAKE_PLUGIN_OLD);
        QVERIFY2(has(reason, "interface 0") && has(reason, std::to_string(plugin_abi)), reason.c_str());
    }

    void another_build_is_refused_with_both_names() {
        const auto reason = reason_of(FAKE_PLUGIN_FOREIGN);
        QVERIFY2(has(reason, "\"0.0.9 another compiler\"") && has(reason, ESPALIER_PLUGIN_BUILD), reason.c_str());
    }

    void a_file_that_is_no_plugin_is_named() {
        const QTemporaryDir folder;
        const auto text = folder.filePath("libespalier-cuda.so").toStdString();
        std::ofstream(text) << "no library";
        QVERIFY2(has(reason_of(text), text), reason_of(text).c_str());
        const auto reason = reason_of(OTHER_LIBRARY);
        QVERIFY2(has(reason, "is not a plug-in of Espalier"), reason.c_str());
        QVERIFY(has(reason_of(folder.filePath("none.so").toStdString()), "none.so"));
    }

    /// As a full disk leaves it. It would open, and then kill the process.
    void one_that_is_cut_off_anywhere_is_named() {
        std::ifstream whole(FAKE_PLUGIN, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(whole), {}};
        const QTemporaryDir folder;
        const auto cut = folder.filePath("libespalier-cuda.so").toStdString();
        for (const double share : {0.0005, 0.1, 0.5, 0.9, 0.999}) {
            std::ofstream(cut, std::ios::binary)
                .write(bytes.data(), static_cast<std::streamsize>(share * static_cast<double>(bytes.size())));
            const auto reason = reason_of(cut);
            QVERIFY2(reason == cut + " is cut off. Install the program again.", reason.c_str());
        }
        for (const auto size : {0, 3, 40}) { // not even a header
            std::ofstream(cut, std::ios::binary).write(bytes.data(), size);
            QVERIFY2(has(reason_of(cut), cut), reason_of(cut).c_str());
        }
    }

    /// The program's own is not beside this test's program where CUDA is not built.
    void a_missing_plugin_is_named() {
        const auto plugin = plugin_backend("nothing", "pretended accelerator");
        QVERIFY2(has(plugin.available({}).reason, "libespalier-nothing.so"), plugin.available({}).reason.c_str());
    }

    void a_missing_library_names_its_package() {
        const auto reason = reason_of(FAKE_PLUGIN_WITHOUT_CUDNN);
        QVERIFY2(has(reason, "libcudnn_of_tests.so.9") && has(reason, "libcudnn9-cuda-13"), reason.c_str());
    }
};

QTEST_APPLESS_MAIN(TestPlugin)
#include "tst_plugin.moc"
