// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace espalier {

/// What kind of fault ended a piece of work; also the exit code of `espalier-train` and `espalier`, the same in every
/// command, and the `code` of the protocol. For people they stand in the man pages.
enum class ExitCode {
    done = 0,
    failed = 1,            ///< the work itself: a run that ended badly, a disk that refuses
    bad_configuration = 2, ///< wrong usage: an argument or a setting; a run, checkpoint or backend that is not there
    bad_data = 3,     ///< a data set or an image that is not there; one of them, or a checkpoint, that is damaged or
                      ///< does not fit
    device_fault = 4, ///< after all that could be tried instead
    out_of_memory = 5,
    stopped = 6, ///< by the user
};

/// Base of every exception that the engine throws. `what()` is one or two sentences that say what was expected, what
/// came, and what to do about it; it is shown to the user as it stands.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& text, ExitCode code = ExitCode::failed) : std::runtime_error(text), code_(code) {}

    [[nodiscard]] ExitCode code() const noexcept { return code_; }

private:
    ExitCode code_;
};

/// A value in a configuration, on the command line or given to an op is outside of what is allowed.
class ConfigError : public Error {
public:
    explicit ConfigError(const std::string& text) : Error(text, ExitCode::bad_configuration) {}
};

/// A data set or image cannot be used.
class DataError : public Error {
public:
    explicit DataError(const std::string& text) : Error(text, ExitCode::bad_data) {}
};

/// A device refused or failed.
class DeviceError : public Error {
public:
    explicit DeviceError(const std::string& text) : Error(text, ExitCode::device_fault) {}
};

class OutOfMemory : public Error {
public:
    explicit OutOfMemory(const std::string& text) : Error(text, ExitCode::out_of_memory) {}
};

/// A checkpoint or safetensors file is damaged, or does not fit the network.
class CheckpointError : public Error {
public:
    explicit CheckpointError(const std::string& text) : Error(text, ExitCode::bad_data) {}
};

} // namespace espalier
