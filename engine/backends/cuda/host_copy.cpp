// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/host_copy.h"

#include "backends/cuda/layout.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

namespace espalier::cuda {
namespace {

/// Calls visit(row-major index, index in the layout) for every element.
template <class Visit>
void for_each_element(const Layout& layout, Visit&& visit) {
    const auto s = strides_of(layout);
    std::int64_t index = 0;
    for (std::int64_t a = 0; a < s.extent[0]; ++a)
        for (std::int64_t b = 0; b < s.extent[1]; ++b)
            for (std::int64_t c = 0; c < s.extent[2]; ++c)
                for (std::int64_t d = 0; d < s.extent[3]; ++d)
                    visit(index++, a * s.stride[0] + b * s.stride[1] + c * s.stride[2] + d * s.stride[3]);
}

template <class Stored, class Host, class Convert>
void pack_as(const Layout& layout, const void* host, std::byte* packed, Convert convert) {
    std::memset(packed, 0, layout.bytes);
    for_each_element(layout, [from = static_cast<const Host*>(host), to = reinterpret_cast<Stored*>(packed),
                              convert](std::int64_t i, std::int64_t at) { to[at] = convert(from[i]); });
}

template <class Stored, class Host, class Convert>
void unpack_as(const Layout& layout, const std::byte* packed, void* host, Convert convert) {
    for_each_element(layout, [from = reinterpret_cast<const Stored*>(packed), to = static_cast<Host*>(host),
                              convert](std::int64_t i, std::int64_t at) { to[i] = convert(from[at]); });
}

} // namespace

void pack(const Tensor& tensor, const Layout& layout, const void* host, std::byte* packed) {
    const auto same = [](auto value) { return value; };
    switch (tensor.type) {
    case DType::f32: return pack_as<float, float>(layout, host, packed, same);
    case DType::i32: return pack_as<std::int32_t, std::int32_t>(layout, host, packed, same);
    case DType::u8: return pack_as<std::uint8_t, std::uint8_t>(layout, host, packed, same);
    case DType::f16: return pack_as<__half, float>(layout, host, packed, [](float x) { return __float2half(x); });
    case DType::bf16:
        return pack_as<__nv_bfloat16, float>(layout, host, packed, [](float x) { return __float2bfloat16(x); });
    }
}

void unpack(const Tensor& tensor, const Layout& layout, const std::byte* packed, void* host) {
    const auto same = [](auto value) { return value; };
    switch (tensor.type) {
    case DType::f32: return unpack_as<float, float>(layout, packed, host, same);
    case DType::i32: return unpack_as<std::int32_t, std::int32_t>(layout, packed, host, same);
    case DType::u8: return unpack_as<std::uint8_t, std::uint8_t>(layout, packed, host, same);
    case DType::f16: return unpack_as<__half, float>(layout, packed, host, [](__half x) { return __half2float(x); });
    case DType::bf16:
        return unpack_as<__nv_bfloat16, float>(layout, packed, host, [](__nv_bfloat16 x) { return __bfloat162float(x); });
    }
}

} // namespace espalier::cuda
