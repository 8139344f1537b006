// SPDX-License-Identifier: Apache-2.0
// bench_plan NETWORK BATCH [BACKEND]: how long a training step takes to plan, and how near its arena comes to the most
// bytes that are in use at once, which no arena can be below. NETWORK is the JSON of a spec:
//   bench_plan '{"network": "supernet", "init_channels": 20, "layers": 12}' 32
#include "backends/registry.h"
#include "base/error.h"
#include "plan/arena.h"
#include "plan/lower.h"
#include "train/optimizer.h"
#include "train/run_config.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace espalier;

namespace {

class Watch {
public:
    double milliseconds() {
        const auto now = std::chrono::steady_clock::now();
        const std::chrono::duration<double, std::milli> elapsed = now - last_;
        last_ = now;
        return elapsed.count();
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

void measure(const NetworkSpec& spec, std::int64_t batch, const std::string& backend_name) {
    Watch watch;
    auto forward = build_forward(spec, batch, NormMode::training);
    const auto build_ms = watch.milliseconds();
    std::vector<TensorId> weights;
    for (std::size_t i = 0; i < forward.graph.tensors().size(); ++i)
        if (const auto& tensor = forward.graph.tensors()[i];
            tensor.role == Role::parameter && !tensor.name.starts_with("alpha"))
            weights.push_back(static_cast<TensorId>(i));
    const auto step =
        compile_step(std::move(forward.graph), forward.loss, weights, {}, make_update({}, {}, {forward.loss}));
    const auto compile_ms = watch.milliseconds();
    const auto backend = make_backend(backend_name, {});
    PersistentTensors persistent;
    static_cast<void>(watch.milliseconds());
    const auto program = lower(step.graph, *backend, persistent);
    const auto lower_ms = watch.milliseconds();
    const auto arena = plan_arena(program);
    const auto arena_ms = watch.milliseconds();
    std::printf(
        "%s, batch %lld, %s: %zu ops, %zu steps; build %.0f ms, compile %.0f ms, lower %.0f ms, arena %.0f ms\n",
        spec.network.c_str(), static_cast<long long>(batch), backend_name.c_str(), step.graph.ops().size(),
        program.steps.size(), build_ms, compile_ms, lower_ms, arena_ms);
    std::printf("  persistent %.1f MiB, arena %.1f MiB (activations %.1f), most in use at once %.1f MiB: %.4f of it\n",
                mebibytes(persistent.bytes(Purpose::weights) + persistent.bytes(Purpose::optimizer)),
                mebibytes(arena.bytes), mebibytes(arena.activation_bytes), mebibytes(arena.live_peak),
                static_cast<double>(arena.bytes) / static_cast<double>(arena.live_peak));
    if (!program.ops.empty()) {
        const auto& busiest = program.ops[arena.busiest_step];
        std::printf("  most in use at step %zu, %s of %s (%s, workspace %.1f MiB)\n", arena.busiest_step,
                    busiest.kind.c_str(), busiest.layer.c_str(), busiest.kernel.c_str(), mebibytes(busiest.workspace));
    }
}

} // namespace

int main(int argc, char** argv) try {
    if (argc < 3) {
        std::fprintf(stderr, "usage: bench_plan NETWORK BATCH [BACKEND]\n");
        return static_cast<int>(ExitCode::bad_configuration);
    }
    measure(NetworkSpec::from_json(Json::parse(argv[1])), std::atoll(argv[2]), argc > 3 ? argv[3] : "cpu");
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
}
