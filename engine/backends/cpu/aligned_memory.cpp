// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/aligned_memory.h"

#include "base/error.h"

#include <new>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace espalier::cpu {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

class AlignedMemory final : public Memory {
public:
    explicit AlignedMemory(std::size_t bytes)
        : bytes_(bytes), alignment_(bytes >= 4 * huge_page ? huge_page : 64),
          data_(static_cast<std::byte*>(::operator new(bytes > 0 ? bytes : 1, std::align_val_t(alignment_),
                                                 std::nothrow))) {
        if (!data_)
            throw std::bad_alloc();
#ifdef __linux__
        if (alignment_ == huge_page) {
            // Whole pages alone: the tail is shared with whatever the allocator puts behind it. Advice may be refused.
            static_cast<void>(madvise(data_, bytes / huge_page * huge_page, MADV_HUGEPAGE));
        }
#endif
    }
    ~AlignedMemory() override { ::operator delete(data_, std::align_val_t(alignment_)); }

    [[nodiscard]] std::byte* data() const override { return data_; }
    [[nodiscard]] std::size_t bytes() const override { return bytes_; }

private:
    std::size_t bytes_;
    std::size_t alignment_;
    std::byte* data_;
};

} // namespace

std::unique_ptr<Memory> allocate_aligned(std::size_t bytes) {
    try {
        return std::make_unique<AlignedMemory>(bytes);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory("This machine cannot give " + std::to_string(bytes >> 20) +
                          " MiB of memory. Choose a smaller batch or network, or close other programs.");
    }
}

} // namespace espalier::cpu
