// SPDX-License-Identifier: Apache-2.0
// How a step becomes a graph, and what is left when that fails, with a runtime of CUDA that is pretended.
#include "backends/cuda/recording.h"
#include "backends/fake_capture.h"
#include "backends/fake_cuda.h"

#include <QtTest>
#include <algorithm>
#include <functional>
#include <random>

using namespace espalier;
using namespace espalier::cuda;
using namespace espalier::test;

namespace {

class LaunchOnce final : public Kernel {
public:
    LaunchOnce(const Streams& streams, int number) : streams_(streams), number_(number) {}
    void bind(const Binding&) override {}
    void run() override {
        if (fails)
            throw DeviceError("This kernel was made to fail.");
        fake_capture::launch(streams_.current, number_);
    }
    [[nodiscard]] std::string name() const override { return "once"; }
    bool fails = false;

private:
    const Streams& streams_;
    int number_;
};

struct Steps {
    explicit Steps(std::size_t count, unsigned seed = 1, double density = 0.1) : after(count) {
        std::mt19937 random(seed);
        std::bernoulli_distribution waits(density);
        for (std::size_t i = 0; i < count; ++i) {
            kernels.push_back(std::make_unique<LaunchOnce>(streams, static_cast<int>(i)));
            pointers.push_back(kernels.back().get());
            for (std::size_t before = 0; before < i; ++before)
                if (waits(random))
                    after[i].push_back(static_cast<std::int32_t>(before));
        }
    }
    void record() { (void)record_graph(streams, pointers, after); }

    Streams streams{true};
    std::vector<std::unique_ptr<LaunchOnce>> kernels;
    std::vector<Kernel*> pointers;
    std::vector<std::vector<std::int32_t>> after;
};

/// For each launch the launches that it waits for, however far before.
std::vector<std::set<int>> launches_before() {
    std::vector<std::set<int>> of_nodes, of_launches;
    for (const auto& node : fake_capture::captured) {
        auto& all = of_nodes.emplace_back();
        for (const auto before : node.after) {
            all.insert(of_nodes[static_cast<std::size_t>(before)].begin(),
                       of_nodes[static_cast<std::size_t>(before)].end());
            all.insert(fake_capture::captured[static_cast<std::size_t>(before)].kernel);
        }
        of_launches.push_back(all);
    }
    return of_launches;
}

} // namespace

class TestGpuRecording : public QObject {
    Q_OBJECT

    /// Nothing of a recording that failed is left, and the backend can go on.
    static bool is_as_before(const Streams& streams) {
        return fake_capture::alive == 0 && !fake_capture::capturing && fake_cuda::kept == cudaSuccess &&
               streams.current.handle == streams.main() && !streams.current.early;
    }
    static bool throws(const std::function<void()>& call) {
        try {
            call();
        } catch (const DeviceError&) {
            return true;
        }
        return false;
    }

private Q_SLOTS:
    void a_step_waits_for_all_that_it_must_data() {
        QTest::addColumn<double>("density");
        for (const double density : {0.0, 0.02, 0.1, 0.5, 1.0})
            QTest::addRow("%g", density) << density;
    }
    void a_step_waits_for_all_that_it_must() {
        QFETCH(double, density);
        for (unsigned seed = 1; seed <= 20; ++seed) {
            Steps steps(60, seed, density);
            fake_capture::begin();
            steps.record();
            const auto found = launches_before();
            QCOMPARE(found.size(), steps.after.size());
            std::size_t waits = 0;
            for (std::size_t i = 0; i < found.size(); ++i) {
                for (const auto before : steps.after[i])
                    QVERIFY2(found[i].contains(before), std::to_string(i).c_str());
                waits += found[i].size();
                const auto& node = fake_capture::captured[i];
                QVERIFY(!node.early || node.after.size() == 1); // else it would not wait for the others
            }
            QVERIFY(density > 0.1 || 2 * waits < found.size() * found.size()); // not all of them one after another
            QVERIFY(is_as_before(steps.streams));
        }
    }

    void a_call_that_fails_leaves_nothing_behind_data() {
        QTest::addColumn<bool>("timed");
        QTest::newRow("recorded") << false;
        QTest::newRow("timed") << true;
    }
    void a_call_that_fails_leaves_nothing_behind() {
        QFETCH(bool, timed);
        Steps steps(12);
        const auto call = [&] { timed ? (void)time_kernels(steps.streams, steps.pointers) : steps.record(); };
        int failing = 1;
        for (;; ++failing) {
            fake_capture::begin(failing);
            if (!throws(call))
                break;
            QVERIFY2(is_as_before(steps.streams), std::to_string(failing).c_str());
        }
        QVERIFY(failing > fake_capture::calls); // every one of them has failed once
        QVERIFY(is_as_before(steps.streams));
        QVERIFY(failing > 30);
    }

    void a_kernel_that_fails_leaves_nothing_behind() {
        Steps steps(12);
        for (auto& kernel : steps.kernels) {
            fake_capture::begin();
            kernel->fails = true;
            QVERIFY(throws([&] { steps.record(); }));
            QVERIFY(is_as_before(steps.streams));
            QVERIFY(throws([&] { (void)time_kernels(steps.streams, steps.pointers); }));
            QVERIFY(is_as_before(steps.streams));
            kernel->fails = false;
        }
    }
};

QTEST_APPLESS_MAIN(TestGpuRecording)
#include "tst_gpu_recording.moc"
