// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include "base/error.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace espalier {

namespace {

constexpr std::string_view temporary_suffix = ".partial";

std::error_code last_error() { return {errno, std::generic_category()}; }

/// Differs between processes and between the files of one process, so that two writers never share a temporary file.
std::string unique_tag() {
    static std::atomic<unsigned> counter{0};
#ifdef _WIN32
    const long process = _getpid();
#else
    const long process = ::getpid();
#endif
    return std::to_string(process) + "-" + std::to_string(counter++);
}

} // namespace

AtomicFile::AtomicFile(std::filesystem::path path, FileOperations& operations)
    : path_(std::move(path)), temporary_(path_), operations_(operations) {
    temporary_ += "." + unique_tag() + std::string(temporary_suffix);
    file_ = operations_.open_for_writing(temporary_);
    if (!file_) {
        fail("cannot be created", last_error());
    }
}

AtomicFile::~AtomicFile() {
    if (file_) {
        std::fclose(file_);
    }
    if (!committed_) {
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
    }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
    errno = 0;
    if (bytes != 0 && operations_.write(file_, data, bytes) != bytes) {
        fail("cannot be written", last_error());
    }
}

void AtomicFile::finish_writing() {
    errno = 0;
    const bool synced = operations_.sync(file_);
    const std::error_code sync_error = last_error();
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!synced || !closed) {
        fail("did not reach the disk", sync_error);
    }
}

std::error_code AtomicFile::put_in_place(const std::filesystem::path& to) {
    const std::error_code error = rename_patiently(temporary_, to, operations_);
    if (!error) {
        committed_ = true;
        operations_.sync_folder(to.parent_path());
    }
    return error;
}

void AtomicFile::commit() {
    finish_writing();
    if (const std::error_code error = put_in_place(path_)) {
        fail("cannot be put in place", error);
    }
}

std::filesystem::path AtomicFile::commit_here_or_beside() {
    finish_writing();
    std::error_code error = put_in_place(path_);
    if (!error) {
        return path_;
    }
    for (int number = 1; number <= 9; ++number) {
        std::filesystem::path beside = path_;
        beside.replace_filename(path_.stem().string() + "~" + std::to_string(number) + path_.extension().string());
        if (std::filesystem::exists(beside)) {
            continue;
        }
        error = put_in_place(beside);
        if (!error) {
            return beside;
        }
    }
    fail("cannot be put in place, nor under another name", error);
}

bool AtomicFile::is_temporary(const std::filesystem::path& path) { return path.extension() == temporary_suffix; }

void AtomicFile::fail(const std::string& what, const std::error_code& error) const {
    throw Error("The file " + path_.string() + " " + what + ": " + (error ? error.message() : "unknown reason") + ". " +
                remedy_for(error));
}

std::error_code rename_patiently(const std::filesystem::path& from, const std::filesystem::path& to,
                                 FileOperations& operations) {
    std::error_code error = operations.rename(from, to);
    for (int wait = 10; error && wait <= 320; wait *= 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        error = operations.rename(from, to);
    }
    return error;
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text, FileOperations& operations) {
    AtomicFile file(path, operations);
    file.write(text);
    file.commit();
}

} // namespace espalier
