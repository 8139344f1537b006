// SPDX-License-Identifier: Apache-2.0
// Timing of convolutions on a card: what is chosen computes the same, and another backend finds it on disk.
#include "backends/registry.h"
#include "backends/why_no_gpu.h"
#include "graph/builder.h"
#include "plan/session.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace espalier;
using namespace espalier::test;
namespace fs = std::filesystem;

namespace {

/// Forward and both gradients of a few convolutions whose tensors are buffers.
struct Convolutions {
    explicit Convolutions(DType type) {
        add(type, 16, 64, 64, 16, 3, 1);
        add(type, 16, 32, 40, 14, 1, 1);
        add(type, 16, 8, 16, 20, 5, 1);
    }
    Graph graph;
    std::vector<TensorId> kept;

    /// `n` images of c channels, size x size, by k filters.
    void add(DType type, std::int64_t n, std::int64_t c, std::int64_t k, std::int64_t size, std::int64_t kernel,
             std::int64_t stride) {
        GraphBuilder builder(graph);
        const auto name = std::to_string(c) + "_" + std::to_string(kernel) + "_" + std::to_string(n);
        const auto out = (size + 2 * (kernel / 2) - kernel) / stride + 1;
        const Shape x_shape{n, c, size, size}, w_shape{k, c, kernel, kernel};
        const Attributes attributes{{"padding", kernel / 2}, {"stride", stride}};
        const auto x = builder.buffer("x" + name, x_shape, {}, type);
        const auto w = builder.buffer("w" + name, w_shape, {}, type);
        const auto gy = builder.buffer("gy" + name, {n, k, out, out}, {}, type);
        auto weight = attributes, input = attributes;
        weight.set("weight_shape", w_shape.vector());
        input.set("input_shape", x_shape.vector());
        for (const auto output : {builder.apply_one("conv2d", {x, w}, attributes),
                                  builder.apply_one("conv2d_weight_gradient", {x, gy}, weight),
                                  builder.apply_one("conv2d_input_gradient", {gy, w}, input)}) {
            graph.keep(output);
            kept.push_back(output);
        }
    }
};

void fill(Session& session, const Graph& graph) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (const auto& tensor : graph.tensors())
        if (tensor.role == Role::buffer) {
            std::vector<float> values(static_cast<std::size_t>(tensor.shape.count()));
            for (auto& value : values)
                value = 0.5F * normal(random);
            session.set(tensor.name, values);
        }
}

std::vector<std::vector<float>> results(Session& session, const Convolutions& network) {
    auto& plan = session.plan("all", network.graph);
    fill(session, network.graph);
    plan.run();
    std::vector<std::vector<float>> values;
    for (const auto id : network.kept)
        values.push_back(plan.read(id));
    return values;
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += std::abs(static_cast<double>(a[i]) - b[i]);
        size += std::abs(static_cast<double>(a[i]));
    }
    return sum / size;
}

std::vector<std::string> kernels_of(Session& session, const Graph& graph) {
    std::vector<std::string> names;
    for (const auto& op : session.plan("all", graph).ops())
        names.push_back(op.kernel);
    return names;
}

void rewrite(const fs::path& file, const QRegularExpression& what, const char* by) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    const auto text = QString::fromStdString(all.str()).replace(what, by).toStdString();
    std::ofstream(file) << text;
}

fs::path only_file(const fs::path& folder) { return fs::directory_iterator(folder)->path(); }

} // namespace

class TestGpuTuning : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> cache_;
    [[nodiscard]] fs::path folder() const { return fs::path(cache_->path().toStdString()) / "espalier"; }
    static std::unique_ptr<Backend> card() { return make_backend("cuda", {.tune = true}); }
    static void tune(Backend& backend) {
        while (backend.tune(1)) {
        }
    }

private Q_SLOTS:
    void initTestCase() {
        if (const auto reason = why_no_gpu(); !reason.empty())
            QSKIP(reason.c_str());
    }
    void init() {
        cache_ = std::make_unique<QTemporaryDir>();
        qputenv("XDG_CACHE_HOME", cache_->path().toUtf8());
    }

    void what_is_chosen_computes_the_same_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<double>("tolerance");
        QTest::newRow("fp32") << static_cast<int>(DType::f32) << 1e-5;
        QTest::newRow("fp16") << static_cast<int>(DType::f16) << 2e-3;
        QTest::newRow("bf16") << static_cast<int>(DType::bf16) << 1.5e-2;
    }
    void what_is_chosen_computes_the_same() {
        QFETCH(int, type);
        QFETCH(double, tolerance);
        const Convolutions network(static_cast<DType>(type));
        const auto backend = card();
        Session session(*backend, {});
        const auto guessed = results(session, network);
        const auto open = backend->tuning().open;
        QVERIFY(open > 0);
        QCOMPARE(backend->tuning().seconds, 0.0); // a first step waits for nothing
        tune(*backend);
        session.replan("all", network.graph);
        const auto chosen = results(session, network);
        for (std::size_t i = 0; i < guessed.size(); ++i)
            QVERIFY2(difference(guessed[i], chosen[i]) <= tolerance, std::to_string(i).c_str());
        QCOMPARE(backend->tuning().timed, open);
        QCOMPARE(backend->tuning().open, std::size_t{0});
        for (const auto& text : backend->tuning().rejected)
            qInfo("%s", text.c_str());
    }

    /// Some engines run, but not while a step is recorded. Short launches are timed otherwise than long ones, so both.
    void what_is_chosen_can_be_recorded_data() { what_is_chosen_computes_the_same_data(); }
    void what_is_chosen_can_be_recorded() {
        QFETCH(int, type);
        Convolutions network(static_cast<DType>(type));
        network.add(static_cast<DType>(type), 128, 64, 64, 32, 3, 1);
        network.add(static_cast<DType>(type), 128, 3, 64, 32, 3, 1);
        network.add(static_cast<DType>(type), 32, 3, 64, 224, 7, 2);
        const auto backend = card();
        Session session(*backend, {});
        (void)session.plan("all", network.graph);
        tune(*backend);
        session.replan("all", network.graph);
        auto& plan = session.plan("all", network.graph);
        fill(session, network.graph);
        for (int i = 0; i < 3; ++i) // the first one is not recorded
            plan.run();
        QCOMPARE(session.recording_fault(), std::string());
        QVERIFY(plan.launched_as_one());
    }

    /// A step runs the two gradients of a convolution side by side. In strict fp32 each of them fills the card alone.
    void the_second_gradient_is_timed_beside_the_first_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("tf32");
        QTest::addColumn<std::size_t>("in_pairs");
        QTest::newRow("fp32") << static_cast<int>(DType::f32) << false << std::size_t{0};
        QTest::newRow("tf32") << static_cast<int>(DType::f32) << true << std::size_t{3};
        QTest::newRow("fp16") << static_cast<int>(DType::f16) << false << std::size_t{3};
    }
    void the_second_gradient_is_timed_beside_the_first() {
        QFETCH(int, type);
        QFETCH(bool, tf32);
        const Convolutions network(static_cast<DType>(type));
        const auto backend = make_backend("cuda", {.tf32 = tf32, .tune = true});
        Session session(*backend, {});
        (void)session.plan("all", network.graph);
        tune(*backend);
        QTEST(backend->tuning().in_pairs, "in_pairs");
    }

    /// The same engines, and set in the same way: without atomic additions that gives the same bits.
    void another_process_finds_it_on_disk() {
        const Convolutions network(DType::f16);
        const auto deterministic_card = [] { return make_backend("cuda", {.deterministic = true, .tune = true}); };
        std::size_t timed = 0;
        std::vector<std::string> kernels;
        std::vector<std::vector<float>> values;
        {
            const auto backend = deterministic_card();
            Session session(*backend, {});
            (void)session.plan("all", network.graph);
            tune(*backend);
            session.replan("all", network.graph);
            kernels = kernels_of(session, network.graph);
            values = results(session, network);
            timed = backend->tuning().timed;
        }
        const auto backend = deterministic_card();
        Session session(*backend, {});
        const auto found = results(session, network);
        QCOMPARE(backend->tuning().known, timed);
        QCOMPARE(backend->tuning().open, std::size_t{0});
        QCOMPARE(kernels_of(session, network.graph), kernels);
        QCOMPARE(found, values);
    }

    /// Engines that this library does not have are not taken from a file.
    void a_choice_that_the_library_does_not_know_is_not_taken() {
        const Convolutions network(DType::f32);
        {
            const auto backend = card();
            Session session(*backend, {});
            (void)session.plan("all", network.graph);
            tune(*backend);
        }
        rewrite(only_file(folder()), QRegularExpression("\"engine\":\\d+"), "\"engine\":9999");
        const auto backend = card();
        Session session(*backend, {});
        const auto values = results(session, network);
        QCOMPARE(backend->tuning().known, std::size_t{0});
        QVERIFY(backend->tuning().open > 0);
        for (const auto& one : values)
            QVERIFY(std::isfinite(one.front()));
    }

    /// Nor are those that would break what is asked for: here tensor cores, where fp32 must not be rounded.
    void a_choice_that_breaks_what_is_asked_for_is_not_taken() {
        Graph graph; // the pool makes the order of both convolutions the same, and with it all else in their keys
        GraphBuilder builder(graph);
        const auto x = builder.buffer("x", {16, 32, 28, 28}, {}), w = builder.buffer("w", {40, 32, 1, 1}, {});
        const auto pooled = builder.apply_one("avg_pool2d", {x}, {{"kernel", 2}, {"stride", 2}});
        graph.keep(builder.apply_one("conv2d", {pooled, w}));
        const auto uses_tensor_cores = [&](Session& session) {
            return std::ranges::any_of(kernels_of(session, graph), [](const std::string& name) {
                return name.find("tensor cores") != std::string::npos;
            });
        };
        {
            const auto rounding = make_backend("cuda", {.tf32 = true, .tune = true});
            Session session(*rounding, {});
            (void)session.plan("all", graph);
            tune(*rounding);
            session.replan("all", graph);
            if (!uses_tensor_cores(session))
                QSKIP("Tensor cores are not the fastest on this card.");
        }
        rewrite(only_file(folder()), QRegularExpression(" tf32"), "");
        const auto strict = card();
        Session session(*strict, {});
        QVERIFY(!uses_tensor_cores(session));
        QCOMPARE(strict->tuning().known, std::size_t{0});
        QCOMPARE(strict->tuning().open, std::size_t{1});
    }

    void nothing_is_timed_or_kept_unless_asked() {
        const Convolutions network(DType::f16);
        const auto backend = make_backend("cuda", {});
        Session session(*backend, {});
        (void)session.plan("all", network.graph);
        QVERIFY(!backend->tune(1));
        QCOMPARE(backend->tuning().timed, std::size_t{0});
        QVERIFY(!fs::exists(folder()));
    }
};

QTEST_GUILESS_MAIN(TestGpuTuning)
#include "tst_gpu_tuning.moc"
