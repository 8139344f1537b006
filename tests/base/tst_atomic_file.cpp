// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"
#include "base/error.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <sstream>

using namespace espalier;

namespace {

/// Denies the first `denials` renames to names that `denied` accepts, as Windows does while an indexer holds the old
/// file.
class DenyingOperations : public FileOperations {
public:
    DenyingOperations(int denials, std::string denied) : denials_(denials), denied_(std::move(denied)) {}
    int asked = 0;

    std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
        ++asked;
        if (to.filename() == denied_ && denials_-- > 0) {
            return std::make_error_code(std::errc::permission_denied);
        }
        return FileOperations::rename(from, to);
    }

private:
    int denials_;
    std::string denied_;
};

class FullDisk : public FileOperations {
public:
    std::size_t write(std::FILE* file, const void* data, std::size_t bytes) override {
        const std::size_t written = FileOperations::write(file, data, bytes / 2);
        errno = ENOSPC;
        return written;
    }
};

std::string read(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

std::size_t files_in(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

} // namespace

class TestAtomicFile : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> temporary_;
    std::filesystem::path folder_;

private Q_SLOTS:
    void init() {
        temporary_ = std::make_unique<QTemporaryDir>();
        folder_ = temporary_->path().toStdString();
    }

    void replaces_whole() {
        write_file_atomically(folder_ / "a.json", "old");
        write_file_atomically(folder_ / "a.json", "new and longer");
        QCOMPARE(read(folder_ / "a.json"), std::string("new and longer"));
        QCOMPARE(files_in(folder_), std::size_t{1});
    }

    void leaves_nothing_without_commit() {
        write_file_atomically(folder_ / "a.json", "old");
        {
            AtomicFile file(folder_ / "a.json");
            file.write("half");
        }
        QCOMPARE(read(folder_ / "a.json"), std::string("old"));
        QCOMPARE(files_in(folder_), std::size_t{1});
    }

    void full_disk_keeps_the_old_file() {
        write_file_atomically(folder_ / "a.json", "old");
        FullDisk disk;
        try {
            write_file_atomically(folder_ / "a.json", "new", disk);
            QFAIL("written");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("No space left"), error.what());
        }
        QCOMPARE(read(folder_ / "a.json"), std::string("old"));
        QCOMPARE(files_in(folder_), std::size_t{1});
    }

    void a_missing_folder_is_named() { QVERIFY_EXCEPTION_THROWN(AtomicFile(folder_ / "none" / "a.json"), Error); }

    void a_rename_denied_for_a_while_is_tried_again() {
        DenyingOperations operations(4, "a.json"); // 10 + 20 + 40 + 80 ms
        write_file_atomically(folder_ / "a.json", "new", operations);
        QCOMPARE(read(folder_ / "a.json"), std::string("new"));
        QCOMPARE(operations.asked, 5);
    }

    void a_rename_denied_for_ever_takes_a_name_beside() {
        write_file_atomically(folder_ / "a.safetensors", "old");
        DenyingOperations operations(1000, "a.safetensors");
        AtomicFile file(folder_ / "a.safetensors", operations);
        file.write("new");
        QCOMPARE(file.commit_here_or_beside(), folder_ / "a~1.safetensors");
        QCOMPARE(read(folder_ / "a~1.safetensors"), std::string("new"));
        QCOMPARE(read(folder_ / "a.safetensors"), std::string("old"));
        QCOMPARE(files_in(folder_), std::size_t{2});
        QVERIFY_EXCEPTION_THROWN(write_file_atomically(folder_ / "a.safetensors", "new", operations), Error);
    }
};

QTEST_GUILESS_MAIN(TestAtomicFile)
#include "tst_atomic_file.moc"
