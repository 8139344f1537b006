// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cudnn/descriptor.h"

#include "backends/cuda/cudnn/library.h"

#include <algorithm>
#include <utility>

namespace espalier::cuda::cudnn {

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
    ESPALIER_CUDNN(cudnnBackendCreateDescriptor(type, &handle_));
}

Descriptor::~Descriptor() {
    if (handle_ != nullptr)
        cudnnBackendDestroyDescriptor(handle_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                     const void* values) {
    ESPALIER_CUDNN(cudnnBackendSetAttribute(handle_, name, type, count, values));
}

void Descriptor::finalize() { ESPALIER_CUDNN(cudnnBackendFinalize(handle_)); }

std::int64_t Descriptor::integer(cudnnBackendAttributeName_t name) const {
    std::int64_t value = 0, count = 0;
    ESPALIER_CUDNN(cudnnBackendGetAttribute(handle_, name, CUDNN_TYPE_INT64, 1, &count, &value));
    return value;
}

std::vector<Descriptor> Descriptor::children(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                             std::int64_t most) const {
    std::vector<Descriptor> result;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < most; ++i) {
        result.emplace_back(type);
        handles.push_back(result.back().get());
    }
    std::int64_t count = 0;
    ESPALIER_CUDNN(
        cudnnBackendGetAttribute(handle_, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, handles.data()));
    while (static_cast<std::int64_t>(result.size()) > std::min(count, most))
        result.pop_back();
    return result;
}

} // namespace espalier::cuda::cudnn
