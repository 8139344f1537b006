// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/kernels.h"

#include <omp.h>

/// Shared by the kernels' sources. Everything is `static`: see kernels.h.
#define ESPALIER_RESTRICT __restrict__

namespace espalier::cpu::ESPALIER_INSTRUCTION_SET {

#if defined(__AVX512F__)
inline constexpr int native_width = 16;
#elif defined(__AVX2__)
inline constexpr int native_width = 8;
#else
inline constexpr int native_width = 4;
#endif

static inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
static inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
static inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// W floats in a register.
template <int W>
struct VectorOf {
    typedef float type __attribute__((vector_size(W * sizeof(float)), aligned(4), may_alias));
};
template <>
struct VectorOf<1> {
    typedef float type;
};
template <int W>
using Vector = typename VectorOf<W>::type;

template <int W>
static inline Vector<W> load(const float* p) {
    return *reinterpret_cast<const Vector<W>*>(p);
}

template <int W>
static inline void store(float* p, Vector<W> v) {
    *reinterpret_cast<Vector<W>*>(p) = v;
}

template <int W>
static inline Vector<W> splat(float value) {
    return value - Vector<W>{}; // minus zero is nothing; plus zero would be an addition, because of -0
}

template <int W>
static inline Vector<W> positive(Vector<W> v) {
    return v > 0.0f ? v : Vector<W>{};
}

/// v where y > 0, else 0.
template <int W>
static inline Vector<W> masked(Vector<W> v, Vector<W> y) {
    return y > 0.0f ? v : Vector<W>{};
}

/// Calls body.operator()<W>() with the widest vector that divides the block of an activation.
template <class Body>
static inline void with_width(std::int64_t block, const Body& body) {
    if constexpr (native_width >= 16) {
        if (block % 16 == 0) {
            body.template operator()<16>();
            return;
        }
    }
    if constexpr (native_width >= 8) {
        if (block % 8 == 0) {
            body.template operator()<8>();
            return;
        }
    }
    if (block % 4 == 0) {
        body.template operator()<4>();
    } else {
        body.template operator()<1>();
    }
}

/// The contiguous share of [0, count) of one thread of the team that is running.
struct Share {
    std::int64_t begin, end;
};
static inline Share share_of(std::int64_t count) {
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t threads = omp_get_num_threads();
    return {count * thread / threads, count * (thread + 1) / threads};
}

/// One thread or all: waking a team costs some microseconds, and libgomp ends the threads that a smaller team leaves
/// over.
static inline int threads_for(std::int64_t floats, int threads) { return floats < 16384 ? 1 : threads; }

/// body(begin, end) on each thread, over pieces of [0, count).
template <class Body>
static inline void parallel(std::int64_t count, int threads, const Body& body) {
    if (threads <= 1) {
        body(std::int64_t{0}, count);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const Share share = share_of(count);
        if (share.begin < share.end) {
            body(share.begin, share.end);
        }
    }
}

/// The same over floats, in pieces that start at multiples of 16.
template <class Body>
static inline void parallel_floats(std::int64_t count, int threads, const Body& body) {
    parallel((count + 15) / 16, threads_for(count, threads), [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t last = end * 16 < count ? end * 16 : count;
        body(begin * 16, last);
    });
}

} // namespace espalier::cpu::ESPALIER_INSTRUCTION_SET
