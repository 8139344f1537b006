// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <span>
#include <vector>

namespace espalier::cuda::cudnn {

/// An object of cuDNN's graph API: attributes are set, it is finalized, then read.
class Descriptor {
public:
    explicit Descriptor(cudnnBackendDescriptorType_t type);
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    /// Each throws DeviceError.
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
    void set(cudnnBackendAttributeName_t name, std::int64_t value) { set(name, CUDNN_TYPE_INT64, 1, &value); }
    void set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values) {
        set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
    }
    void set(cudnnBackendAttributeName_t name, const Descriptor& other) {
        set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.handle_);
    }
    void finalize();
    /// The same, answering false instead of throwing: an engine that does not serve this problem is no fault.
    [[nodiscard]] bool try_finalize() { return cudnnBackendFinalize(handle_) == CUDNN_STATUS_SUCCESS; }

    [[nodiscard]] std::int64_t integer(cudnnBackendAttributeName_t name) const;
    /// Up to `most` values of an enumeration.
    template <class T>
    [[nodiscard]] std::vector<T> list(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                      std::int64_t most) const {
        std::vector<T> values(static_cast<std::size_t>(most));
        std::int64_t count = 0;
        if (cudnnBackendGetAttribute(handle_, name, type, most, &count, values.data()) != CUDNN_STATUS_SUCCESS)
            count = 0;
        values.resize(static_cast<std::size_t>(count < most ? count : most));
        return values;
    }
    /// Descriptors that this one holds, at most `most`.
    [[nodiscard]] std::vector<Descriptor> children(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                                   std::int64_t most) const;

    [[nodiscard]] cudnnBackendDescriptor_t get() const { return handle_; }

private:
    cudnnBackendDescriptor_t handle_ = nullptr;
};

} // namespace espalier::cuda::cudnn
