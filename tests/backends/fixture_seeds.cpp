// SPDX-License-Identifier: Apache-2.0
#include "backends/fixture_networks.h"
#include "backends/registry.h"
#include "backends/relu_signs.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

/// How near a network comes to the double-precision reference, over many seeds, and whether a miss is a ReLU whose
/// input lies so near zero that rounding decides its sign:
///     fixture_seeds FIXTURE.safetensors [SEEDS]
/// The first row is the fixture itself, the others draw parameters and batch anew and compute what is expected with the
/// reference backend. Backends: "rounded" is the reference with the result of every op rounded to float, the least
/// error that an engine can have that keeps floats between its ops. Columns: the worst comparison in parts of what is
/// allowed (above 1 is a miss), with its name; ReLU inputs whose sign differs from the reference's; the worst
/// comparison once more with every ReLU's sign taken from the reference.
namespace espalier::testing {
namespace {

/// Every op as it is written, each ReLU once.
Toggles plain_toggles() {
    Toggles toggles;
    toggles.precision = "fp32";
    toggles.fused = toggles.share = toggles.recompute = toggles.reapply = false;
    return toggles;
}

struct Way {
    const char* name;
    const char* backend;
    bool winograd;
    bool rounded;
};

constexpr Way ways[] = {
    {"rounded", "reference", false, true}, {"cpu", "cpu", false, false}, {"cpu winograd", "cpu", true, false}};

NetworkResults observe(const NetworkFixture& fixture, const Way& way, const ObservedBackend::Observer& relus) {
    BackendOptions options;
    options.winograd = way.winograd;
    const auto backend = make_backend(way.backend, options);
    ObservedBackend observed(
        *backend, [&](const Op& op) { return way.rounded || is_relu(op); },
        [&](Observation& seen) {
            const bool changed = is_relu(seen.op) && relus(seen);
            return way.rounded || changed; // read and written back as floats
        });
    return compute_results(fixture, plain_toggles(), observed);
}

void study(const std::string& row, const NetworkFixture& fixture, const NetworkResults* given) {
    ReluInputs expected_relus;
    const auto computed = observe(fixture, {"", "reference", false, false}, record_relus(expected_relus));
    const auto& expected = given ? *given : computed;
    for (const auto& way : ways) {
        ReluInputs relus;
        const auto comparisons = compare_results(expected, observe(fixture, way, record_relus(relus)));
        const auto forced = compare_results(expected, observe(fixture, way, force_relus(expected_relus)));
        const auto& worst = worst_of(comparisons);
        const auto& worst_forced = worst_of(forced);
        const auto changes = sign_changes(expected_relus, relus);
        std::printf("%-8s %-13s %8.3f %-38s %3zu sign changes  %8.3f\n", row.c_str(), way.name,
                    worst.error / worst.allowed, worst.name.c_str(), changes.size(),
                    worst_forced.error / worst_forced.allowed);
        if (!changes.empty()) // the first one makes the others
            std::printf("         first: ReLU %zu of %zu, '%s', element %zu: %.3e expected, %.3e found\n",
                        changes[0].relu + 1, relus.relus.size(), changes[0].layer.c_str(), changes[0].element,
                        static_cast<double>(changes[0].expected), static_cast<double>(changes[0].found));
        std::fflush(stdout);
    }
}

void study_seeds(const char* path, std::uint64_t seeds) {
    const safetensors::Reader file(path);
    const auto fixture = read_fixture(file);
    const auto results = read_results(file);
    study("fixture", fixture, &results);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
        study("seed " + std::to_string(seed), draw_fixture(fixture, seed), nullptr);
}

} // namespace
} // namespace espalier::testing

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "fixture_seeds FIXTURE.safetensors [SEEDS]\n");
        return 2;
    }
    try {
        espalier::testing::study_seeds(arguments[1], count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 0);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
