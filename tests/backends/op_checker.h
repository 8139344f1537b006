// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/op_case.h"
#include "plan/backend.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace espalier::testing {

/// Values of everything that a case computes or changes, by "output 0", "gradient of input 1", "changed input 3" ...
struct CaseResult {
    std::map<std::string, std::vector<float>> values;
    std::set<std::string> kinds;     ///< of every op that ran
    int casts = 0;                   ///< of them
    std::vector<std::string> faults; ///< writes beyond an output or workspace, or into an input; one line each
};

/// Which gradients of a case are computed: autodiff asks for other ops when fewer are wanted.
enum class Gradients { none, all, first_alone, others_alone };

/// Whether that choice gives a graph of its own for this case.
[[nodiscard]] bool applies(const OpCase& op_case, Gradients gradients);

/// What becomes of the casts that stand around a case in halves.
enum class Casts {
    stay,
    absorbed, ///< those that the backend's kernels do without (pass absorb_casts)
};

/// Runs a case on a host backend, its memory poisoned before and guarded around. The gradients are those of sum(output
/// 0 * r) with random r. With `type` f16 or bf16 the op computes in it as the pass mixed_precision says, and updates
/// take gradients of it; of ops that are made behind that pass images and filters are cast to
/// `type`, and those results that may be f32 back.
[[nodiscard]] CaseResult run_case(const OpCase& op_case, Gradients gradients, Backend& backend, DType type = DType::f32,
                                  Casts casts = Casts::stay);

/// The first op of the case that the backend refuses, with its reason.
[[nodiscard]] Support supports_case(const OpCase& op_case, Gradients gradients, const Backend& backend,
                                    DType type = DType::f32);

/// What is wrong with `found` next to `expected`, one line a tensor or fault; empty if nothing is. Values that differ
/// by at most mean |a - b| <= tolerance mean |a| pass; places where the expected value is not finite must be equal.
[[nodiscard]] std::string differences(const CaseResult& expected, const CaseResult& found, double tolerance);

/// Central finite differences of sum(output 0 * r) in double precision, next to the gradients of run_case on the same
/// backend; at most `most` elements of each input, spread over it. Empty if they agree.
[[nodiscard]] std::string gradient_errors(const OpCase& op_case, Backend& reference, std::size_t most = 24);

/// mean |a - b| / mean |a|.
[[nodiscard]] double relative_error(const std::vector<float>& a, const std::vector<float>& b);

} // namespace espalier::testing
