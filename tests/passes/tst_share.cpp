// SPDX-License-Identifier: Apache-2.0
#include "passes/counting.h"
#include "passes/passes.h"

#include <QTest>

using namespace espalier;

class TestShare : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void equal_ops_become_one() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3});
        const auto a = builder.apply_one("relu", {x}), b = builder.apply_one("relu", {x});
        const auto a2 = builder.apply_one("softmax", {a}), b2 = builder.apply_one("softmax", {b}); // equal once a is b
        const auto sum = builder.apply_one("add", {a2, b2});
        graph.keep(sum);
        graph = share(std::move(graph));
        QCOMPARE(kinds(graph), (std::vector<std::string>{"relu", "softmax", "add"}));
        QCOMPARE(the(graph, "add").inputs, (std::vector<TensorId>{a2, a2}));
        QCOMPARE(the(graph, "add").outputs[0], sum);
    }

    void other_attributes_or_inputs_stay_apart() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4}), other = builder.input("other", {2, 3, 4, 4});
        for (const auto stride : {1, 2})
            static_cast<void>(
                builder.apply_one("avg_pool2d", {x}, {{"kernel", std::int64_t{2}}, {"stride", std::int64_t{stride}}}));
        static_cast<void>(builder.apply_one("avg_pool2d", {other}, {{"kernel", std::int64_t{2}}}));
        QCOMPARE(share(std::move(graph)).ops().size(), std::size_t{3});
    }

    void every_output_of_a_shared_op_is_replaced() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3, 4, 4});
        const auto first = builder.apply("max_pool2d", {x}, {{"kernel", std::int64_t{2}}});
        const auto second = builder.apply("max_pool2d", {x}, {{"kernel", std::int64_t{2}}});
        static_cast<void>(
            builder.apply_one("max_pool2d_gradient", {second[0], second[1]},
                              {{"kernel", std::int64_t{2}}, {"input_shape", std::vector<std::int64_t>{2, 3, 4, 4}}}));
        graph = share(std::move(graph));
        QCOMPARE(the(graph, "max_pool2d_gradient").inputs, first);
    }

    void kept_tensors_are_not_replaced() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {2, 3});
        static_cast<void>(builder.apply_one("relu", {x}));
        const auto kept = builder.apply_one("relu", {x});
        graph.keep(kept);
        graph = share(std::move(graph));
        QVERIFY(graph.producer(kept).has_value());
    }

    void norms_that_differ_in_running_buffers_are_one_with_aliases() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        const auto a = plain_norm(builder, "a", x), b = plain_norm(builder, "b", x), c = plain_norm(builder, "c", x);
        const auto sum = builder.apply_one("add", {a, b, c});
        graph.keep(sum);
        graph = share(std::move(graph));
        QCOMPARE(count(graph, "batch_norm"), 1);
        QCOMPARE(the(graph, "add").inputs, (std::vector<TensorId>{a, a, a}));
        QCOMPARE(graph.aliases().size(), std::size_t{4});
        for (const auto& alias : graph.aliases()) {
            const auto buffer = graph.tensor(alias.buffer).name, same_as = graph.tensor(alias.same_as).name;
            QVERIFY(same_as.starts_with("a."));
            QCOMPARE(buffer.substr(1), same_as.substr(1)); // mean to mean, variance to variance
        }
    }

    void norms_that_leave_statistics_alone_need_no_alias() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        static_cast<void>(plain_norm(builder, "a", x, {{"update_running", false}}));
        static_cast<void>(plain_norm(builder, "b", x, {{"update_running", false}}));
        graph = share(std::move(graph));
        QCOMPARE(count(graph, "batch_norm"), 1);
        QVERIFY(graph.aliases().empty());
    }

    void norms_that_differ_otherwise_stay_apart() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        static_cast<void>(plain_norm(builder, "a", x));
        static_cast<void>(plain_norm(builder, "eps", x, {{"eps", 1e-3}}));
        static_cast<void>(plain_norm(builder, "momentum", x, {{"momentum", 0.2}}));
        static_cast<void>(plain_norm(builder, "start", x, {}, 0.5));
        for (const auto* name : {"w1", "w2"}) { // affine parameters are trained apart
            const auto weight = builder.parameter(name, {3}, {});
            const auto mean = builder.buffer(std::string(name) + "m", {3}, {}),
                       var = builder.buffer(std::string(name) + "v", {3}, {});
            static_cast<void>(builder.apply("batch_norm", {x, weight, no_tensor, mean, var}, {}, {mean, var}));
        }
        QCOMPARE(count(share(std::move(graph)), "batch_norm"), 6);
    }

    void inference_norms_read_their_own_statistics() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        for (const auto* name : {"a", "b"})
            static_cast<void>(
                builder.apply_one("batch_norm_inference", {x, builder.buffer(std::string(name) + "m", {3}, {}),
                                                           builder.buffer(std::string(name) + "v", {3}, {})}));
        QCOMPARE(share(std::move(graph)).ops().size(), std::size_t{2});
    }

    void a_buffer_written_in_between_counts_as_another_input() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto x = builder.input("x", {4, 3});
        const auto mean = builder.buffer("mean", {3}, {}), var = builder.buffer("var", {3}, {});
        static_cast<void>(builder.apply_one("batch_norm_inference", {x, mean, var}));
        static_cast<void>(builder.apply("batch_norm", {x, no_tensor, no_tensor, mean, var}, {}, {mean, var}));
        static_cast<void>(builder.apply_one("batch_norm_inference", {x, mean, var}));
        QCOMPARE(share(std::move(graph)).ops().size(), std::size_t{3});
    }

    void updates_are_never_shared() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto step = builder.buffer("step", {16}, {}), history = builder.buffer("history", {8, 1}, {});
        const auto v = builder.input("v", {1});
        for (int i = 0; i < 2; ++i)
            static_cast<void>(builder.apply("record", {step, v}, {}, {history}));
        QCOMPARE(share(std::move(graph)).ops().size(), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(TestShare)
#include "tst_share.moc"
