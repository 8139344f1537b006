// SPDX-License-Identifier: Apache-2.0
// A backend some of whose kernels fail: the reference's stand in for them.
#include "backends/kernel_fallback.h"
#include "backends/registry.h"
#include "base/error.h"
#include "graph/builder.h"
#include "plan/forwarding_backend.h"
#include "plan/session.h"

#include <QtTest>
#include <set>

using namespace espalier;

namespace {

/// Leaves its outputs as they are.
class IdleKernel final : public Kernel {
public:
    void bind(const Binding&) override {}
    void run() override {}
    [[nodiscard]] std::string name() const override { return "idle"; }
};

/// The reference backend, but for what is made to fail.
class FailingBackend final : public ForwardingBackend {
public:
    FailingBackend() : ForwardingBackend(make_backend("reference", {})) {}

    std::set<std::string> refused, idle; ///< kinds of ops
    bool full = false;                   ///< no memory is left
    std::vector<const std::byte*> downloads;

    [[nodiscard]] Lowered lower(const Graph& graph, const Op& op, std::span<const Layout> given,
                                std::span<const Layout> given_outputs) override {
        if (refused.contains(op.kind))
            throw ConfigError("it was made to refuse.");
        auto lowered = inner().lower(graph, op, given, given_outputs);
        if (idle.contains(op.kind))
            lowered.kernel = std::make_unique<IdleKernel>();
        return lowered;
    }
    [[nodiscard]] std::unique_ptr<Memory> allocate(std::size_t bytes) override {
        if (full)
            throw OutOfMemory("There is none left.");
        return inner().allocate(bytes);
    }
    void download(const Tensor& tensor, const Layout& layout, const std::byte* device, void* host) override {
        downloads.push_back(device);
        inner().download(tensor, layout, device, host);
    }
    [[nodiscard]] int steps_side_by_side() const override { return 4; }
};

struct Guarded {
    FailingBackend* failing = nullptr;
    std::vector<KernelFallback> told;
    std::unique_ptr<Backend> backend;

    Guarded() {
        auto made = std::make_unique<FailingBackend>();
        failing = made.get();
        backend = with_fallback(std::move(made), [this](const KernelFallback& one) { told.push_back(one); });
    }
    [[nodiscard]] std::string kernel(const Graph& graph, std::size_t op) {
        const std::vector<Layout> free(8);
        return backend->lower(graph, graph.ops()[op], free, free).kernel->name();
    }
};

Graph two_additions() {
    Graph graph;
    GraphBuilder builder(graph);
    const auto x = builder.input("x", {2, 3});
    builder.apply_one("add", {x, builder.apply_one("add", {x, x})});
    return graph;
}

} // namespace

class TestKernelFallback : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_wrong_kernel_is_found_and_told_once() {
        Guarded guarded;
        guarded.failing->idle = {"add"};
        const auto graph = two_additions();
        QCOMPARE(guarded.kernel(graph, 0), "reference, on the host");
        QCOMPARE(guarded.kernel(graph, 1), "reference, on the host");
        QCOMPARE(guarded.told.size(), std::size_t{1});
        QCOMPARE(guarded.told[0].kind, "add");
        QCOMPARE(guarded.told[0].kernel, "idle");
    }

    void a_check_that_finds_no_memory_fails_no_plan() {
        Guarded guarded;
        guarded.failing->idle = {"add"};
        const auto graph = two_additions();
        guarded.failing->full = true;
        QCOMPARE(guarded.kernel(graph, 0), "idle"); // unchecked
        QVERIFY(guarded.told.empty());
        guarded.failing->full = false;
        QCOMPARE(guarded.kernel(graph, 0), "reference, on the host"); // that was no verdict
    }

    /// Steps with a kernel on the host are not recorded: memory is used again at once.
    void no_memory_is_kept_apart_for_steps_that_are_not_recorded() {
        Guarded guarded;
        const auto graph = two_additions();
        QCOMPARE(guarded.kernel(graph, 0), "reference");
        QCOMPARE(guarded.backend->steps_side_by_side(), 4);
        guarded.failing->refused = {"add"};
        QCOMPARE(guarded.kernel(graph, 1), "reference, on the host");
        QCOMPARE(guarded.backend->steps_side_by_side(), 0);
    }

    void a_kernel_on_the_host_computes_the_same_and_fetches_nothing_twice() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 2, 3, 3});
        const auto weight = builder.parameter("weight", {2}, {Initializer::Kind::constant, 1}),
                   bias = builder.parameter("bias", {2}, {Initializer::Kind::constant, 0});
        const auto mean = builder.buffer("running_mean", {2}, {Initializer::Kind::constant, 0}),
                   var = builder.buffer("running_var", {2}, {Initializer::Kind::constant, 1});
        const auto y = builder.apply("batch_norm", {x, weight, bias, mean, var}, {}, {mean, var})[0];
        graph.keep(y);
        std::vector<float> images(72);
        for (std::size_t i = 0; i < images.size(); ++i)
            images[i] = static_cast<float>(i % 7) - 2;

        std::vector<std::vector<float>> found[2];
        for (const bool refused : {false, true}) {
            Guarded guarded;
            if (refused)
                guarded.failing->refused = {"batch_norm"};
            Session session(*guarded.backend, {});
            auto& plan = session.plan("all", graph);
            session.set("running_mean", std::vector<float>{0.5F, -1});
            session.set("running_var", std::vector<float>{2, 3});
            session.set("weight", std::vector<float>{1.5F, 0.5F});
            session.set("bias", std::vector<float>{0.25F, -0.25F});
            plan.set_input("x", images.data(), images.size() * sizeof(float));
            guarded.failing->downloads.clear();
            plan.run();
            auto& fetched = guarded.failing->downloads;
            QCOMPARE(fetched.size(), std::size_t{refused ? 5U : 0U}); // one an input
            QCOMPARE(std::set(fetched.begin(), fetched.end()).size(), fetched.size());
            found[refused] = {plan.read(y), session.get("running_mean"), session.get("running_var")};
        }
        QCOMPARE(found[1], found[0]);
    }
};

QTEST_APPLESS_MAIN(TestKernelFallback)
#include "tst_kernel_fallback.moc"
