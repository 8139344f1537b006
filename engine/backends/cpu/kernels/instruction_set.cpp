// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"

#include <stdexcept>

namespace espalier::cpu {

namespace baseline {
extern const KernelTable table;
}

#ifdef ESPALIER_CPU_X86
namespace avx2 {
extern const KernelTable table;
}
namespace avx512 {
extern const KernelTable table;
}

bool is_available(InstructionSet set) {
    switch (set) {
    case InstructionSet::baseline:
        return true;
    case InstructionSet::avx2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::avx512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    }
    return false;
}

static const KernelTable& table_of(InstructionSet set) {
    switch (set) {
    case InstructionSet::avx2:
        return avx2::table;
    case InstructionSet::avx512:
        return avx512::table;
    default:
        return baseline::table;
    }
}
#else
bool is_available(InstructionSet set) { return set == InstructionSet::baseline; }

static const KernelTable& table_of(InstructionSet) { return baseline::table; }
#endif

InstructionSet best_instruction_set() {
    for (const InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2}) {
        if (is_available(set)) {
            return set;
        }
    }
    return InstructionSet::baseline;
}

const KernelTable& kernel_table(InstructionSet set) {
    if (!is_available(set)) {
        throw std::logic_error("this processor lacks the instruction set that was asked for");
    }
    return table_of(set);
}

} // namespace espalier::cpu
