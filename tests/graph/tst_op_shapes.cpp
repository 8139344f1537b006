// SPDX-License-Identifier: Apache-2.0
#include "graph/op_case.h"
#include "graph/ops/arguments.h"

using namespace espalier;
using namespace std::string_literals;

/// Shapes, element types and work of every op.
class TestOpShapes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void shapes_data() {
        QTest::addColumn<OpCase>("op");
        QTest::addColumn<std::vector<Shape>>("expected");
        const auto row = [](const char* name, OpCase op, std::vector<Shape> expected) {
            QTest::newRow(name) << op << expected;
        };
        row("conv k3 p1", {"conv2d", {{{2, 3, 9, 8}}, {{4, 3, 3, 3}}}, {{"padding", List{1, 1}}}}, {{2, 4, 9, 8}});
        row("conv k3 s2 p1",
            {"conv2d", {{{2, 3, 9, 8}}, {{4, 3, 3, 3}}}, {{"padding", List{1, 1}}, {"stride", List{2, 2}}}},
            {{2, 4, 5, 4}});
        row("conv rectangular, dilated",
            {"conv2d",
             {{{2, 8, 9, 9}}, {{8, 8, 1, 7}}},
             {{"padding", List{0, 6}}, {"dilation", List{1, 2}}, {"stride", List{1, 2}}}},
            {{2, 8, 9, 5}});
        row("conv large padding", {"conv2d", {{{1, 1, 2, 2}}, {{1, 1, 3, 3}}}, {{"padding", List{5, 7}}}},
            {{1, 1, 10, 14}});
        row("conv stride beyond the input", {"conv2d", {{{1, 1, 4, 4}}, {{1, 1, 1, 1}}}, {{"stride", List{9, 9}}}},
            {{1, 1, 1, 1}});
        row("conv groups, bias", {"conv2d", {{{2, 6, 5, 5}}, {{4, 3, 1, 1}}, {{4}}}, {{"groups", std::int64_t{2}}}},
            {{2, 4, 5, 5}});
        row("conv one number for both", {"conv2d", {{{2, 3, 8, 8}}, {{4, 3, 3, 3}}}, {{"padding", std::int64_t{1}}}},
            {{2, 4, 8, 8}});
        row("transposed k3 s2 p1 op1",
            {"conv_transpose2d",
             {{{2, 5, 6, 7}}, {{5, 4, 3, 3}}, {{4}}},
             {{"stride", List{2, 2}}, {"padding", List{1, 1}}, {"output_padding", List{1, 1}}}},
            {{2, 4, 12, 14}});
        row("transposed groups",
            {"conv_transpose2d",
             {{{2, 6, 3, 3}}, {{6, 2, 2, 2}}},
             {{"stride", List{2, 2}}, {"groups", std::int64_t{3}}}},
            {{2, 6, 6, 6}});
        row("conv input gradient",
            {"conv2d_input_gradient",
             {{{2, 4, 5, 4}}, {{4, 3, 3, 3}}},
             {{"padding", List{1, 1}}, {"stride", List{2, 2}}, {"input_shape", List{2, 3, 9, 8}}}},
            {{2, 3, 9, 8}});
        row("conv weight gradient",
            {"conv2d_weight_gradient",
             {{{2, 3, 9, 8}}, {{2, 4, 5, 4}}},
             {{"padding", List{1, 1}}, {"stride", List{2, 2}}, {"weight_shape", List{4, 3, 3, 3}}}},
            {{4, 3, 3, 3}});
        row("channel sum", {"channel_sum", {{{2, 3, 9, 8}}}}, {{3}});
        row("linear", {"linear", {{{5, 11}}, {{7, 11}}, {{7}}}}, {{5, 7}});
        row("linear input gradient", {"linear_input_gradient", {{{5, 7}}, {{7, 11}}}}, {{5, 11}});
        row("linear weight gradient", {"linear_weight_gradient", {{{5, 11}}, {{5, 7}}}}, {{7, 11}});
        row("batch norm", {"batch_norm", {{{4, 6, 5, 5}}, {{6}}, {{6}}, buffer({6}), buffer({6})}, {}, {3, 4}},
            {{4, 6, 5, 5}, {6}, {6}});
        row("batch norm plain, of vectors",
            {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({6}), buffer({6})}, {}, {3, 4}}, {{4, 6}, {6}, {6}});
        row("batch norm frozen, residual",
            {"batch_norm",
             {{{4, 6, 5, 5}}, absent(), absent(), buffer({6}), buffer({6}), {{4, 6, 5, 5}}},
             {{"update_running", false}}},
            {{4, 6, 5, 5}, {6}, {6}});
        row("batch norm apply", {"batch_norm_apply", {{{4, 6, 5, 5}}, {{6}}, {{6}}, {{6}}, {{6}}}}, {{4, 6, 5, 5}});
        row("batch norm inference", {"batch_norm_inference", {{{1, 6, 1, 1}}, {{6}}, {{6}}}}, {{1, 6, 1, 1}});
        row("batch norm gradient", {"batch_norm_gradient", {{{4, 6, 5, 5}}, {{4, 6, 5, 5}}, {{6}}, {{6}}}},
            {{4, 6, 5, 5}, {6}, {6}, {4, 6, 5, 5}});
        row("separable",
            {"separable_conv2d",
             {{{2, 6, 5, 7}}, {{6, 1, 3, 3}}, {{4, 6, 1, 1}}, buffer({4}), buffer({4})},
             {{"update_running", false}}},
            {{2, 6, 5, 7}, {2, 4, 5, 7}, {2, 4, 5, 7}, {4}, {4}});
        row("separable pointwise gradient",
            {"separable_pointwise_gradient",
             {{{2, 4, 5, 7}}, {{2, 4, 5, 7}}, {{4}}, {{4}}, {{4}}, {{4}}, {{2, 6, 5, 7}}, {{4, 6, 1, 1}}}},
            {{2, 6, 5, 7}, {4, 6, 1, 1}});
        row("separable depthwise gradient",
            {"separable_depthwise_gradient", {{{2, 6, 5, 7}}, {{2, 6, 5, 7}}, {{6, 1, 5, 5}}, {{6}}, {{6}}}},
            {{2, 6, 5, 7}, {6}, {6}});
        row("separable filter gradient",
            {"separable_filter_gradient", {{{2, 6, 5, 7}}, {{2, 6, 5, 7}}}, {{"weight_shape", List{6, 1, 3, 3}}}},
            {{6, 1, 3, 3}});
        row("relu", {"relu", {{{3, 4}}}}, {{3, 4}});
        row("relu gradient", {"relu_gradient", {{{3, 4}}, {{3, 4}}}}, {{3, 4}});
        row("max pool s2",
            {"max_pool2d", {{{2, 5, 9, 8}}}, {{"kernel", List{3, 3}}, {"stride", List{2, 2}}, {"padding", List{1, 1}}}},
            {{2, 5, 5, 4}, {2, 5, 5, 4}});
        row("max pool gradient",
            {"max_pool2d_gradient",
             {{{2, 5, 5, 4}}, {{2, 5, 5, 4}, DType::u8}},
             {{"kernel", List{3, 3}},
              {"stride", List{2, 2}},
              {"padding", List{1, 1}},
              {"input_shape", List{2, 5, 9, 8}}}},
            {{2, 5, 9, 8}});
        row("average pool", {"avg_pool2d", {{{2, 5, 9, 8}}}, {{"kernel", List{3, 2}}, {"stride", List{1, 2}}}},
            {{2, 5, 7, 4}});
        row("average pool gradient",
            {"avg_pool2d_gradient",
             {{{2, 5, 7, 4}}},
             {{"kernel", List{3, 2}}, {"stride", List{1, 2}}, {"input_shape", List{2, 5, 9, 8}}}},
            {{2, 5, 9, 8}});
        row("global average pool", {"global_avg_pool", {{{3, 7, 5, 4}}}}, {{3, 7}});
        row("global average pool gradient",
            {"global_avg_pool_gradient", {{{3, 7}}}, {{"input_shape", List{3, 7, 5, 4}}}}, {{3, 7, 5, 4}});
        row("add", {"add", {{{3, 7}}, {{3, 7}}, {{3, 7}}}}, {{3, 7}});
        row("scale", {"scale", {{{3, 7}}, {{1}}}}, {{3, 7}});
        row("dot", {"dot", {{{3, 7}}, {{3, 7}}}}, {{1}});
        row("gather images",
            {"gather_images",
             {buffer({16}),
              {{50, 3, 8, 9}, DType::u8, Role::buffer},
              labels({50}),
              buffer({3, 256}),
              {{40, 4}, DType::i32, Role::buffer}},
             {{"batch", std::int64_t{6}}}},
            {{6, 3, 8, 9}, {6}});
        row("constant", {"constant", {}, {{"shape", List{2, 3}}, {"value", 1.5}}}, {{2, 3}});
        row("weighted sum",
            {"weighted_sum",
             {{{14, 10}}, {{2, 3, 4, 4}}, {{2, 3, 4, 4}}},
             {{"row", std::int64_t{13}}, {"columns", List{1, 9}}}},
            {{2, 3, 4, 4}});
        row("weighted sum gradient",
            {"weighted_sum_gradient",
             {{{14, 10}}, {{2, 3, 4, 4}}},
             {{"row", std::int64_t{0}}, {"columns", List{1, 9}}}},
            {{2, 3, 4, 4}, {2, 3, 4, 4}});
        row("weighted sum weight gradient",
            {"weighted_sum_weight_gradient",
             {{{2, 3, 4, 4}}, {{2, 3, 4, 4}}, {{2, 3, 4, 4}}},
             {{"row", std::int64_t{0}}, {"columns", List{1, 9}}, {"weights_shape", List{14, 10}}}},
            {{14, 10}});
        row("concat", {"concat", {{{2, 3, 4, 4}}, {{2, 5, 4, 4}}}}, {{2, 8, 4, 4}});
        row("concat axis 0", {"concat", {{{2, 3}}, {{1, 3}}}, {{"axis", std::int64_t{0}}}}, {{3, 3}});
        row("reshape", {"reshape", {{{2, 6}}}, {{"shape", List{3, 1, 4}}}}, {{3, 1, 4}});
        row("slice", {"slice", {{{2, 8, 4, 4}}}, {{"begin", std::int64_t{3}}, {"end", std::int64_t{8}}}},
            {{2, 5, 4, 4}});
        row("slice gradient",
            {"slice_gradient",
             {{{2, 5, 4, 4}}},
             {{"begin", std::int64_t{3}}, {"end", std::int64_t{8}}, {"input_shape", List{2, 8, 4, 4}}}},
            {{2, 8, 4, 4}});
        row("shifted slice, odd", {"shifted_slice", {{{2, 3, 7, 8}}}, {{"offset", List{1, 1}}, {"stride", List{2, 2}}}},
            {{2, 3, 4, 4}});
        row("shifted slice gradient",
            {"shifted_slice_gradient",
             {{{2, 3, 4, 4}}},
             {{"offset", List{1, 1}}, {"stride", List{2, 2}}, {"input_shape", List{2, 3, 7, 8}}}},
            {{2, 3, 7, 8}});
        row("softmax", {"softmax", {{{14, 10}}}}, {{14, 10}});
        row("softmax gradient", {"softmax_gradient", {{{14, 10}}, {{14, 10}}}}, {{14, 10}});
        row("cross entropy", {"cross_entropy", {{{6, 10}}, labels({6})}}, {{1}, {6, 10}});
        row("cross entropy gradient", {"cross_entropy_gradient", {{{6, 10}}, labels({6}), {{1}}}}, {{6, 10}});
        row("dice", {"generalized_dice", {{{3, 4, 6, 6}}, labels({3, 6, 6})}}, {{1}});
        row("dice gradient", {"generalized_dice_gradient", {{{3, 4, 6, 6}}, labels({3, 6, 6}), {{1}}}}, {{3, 4, 6, 6}});
        row("correct count", {"correct_count", {{{6, 10}}, labels({6})}}, {{1}});
        row("gradient norm", {"gradient_norm", {buffer({16}), {{3, 3}}, {{2}}}}, {{1}});
        row("cast", {"cast", {{{3, 7}}, parameter({2, 1, 3, 3})}, {{"type", "f16"s}}}, {{3, 7}, {2, 1, 3, 3}});
        row("loss scale", {"loss_scale", {buffer({16}), buffer({1})}, {}, {0}}, {{1}});
        row("update loss scale", {"update_loss_scale", {{{1}}, buffer({1}), buffer({1})}, {}, {1, 2}}, {});
        row("accumulate", {"accumulate", {buffer({16}), {{3, 3}}, buffer({3, 3})}, {}, {2}}, {});
        row("sgd",
            {"sgd",
             {buffer({16}), {{1}}, parameter({3}), {{3}}, buffer({3}), parameter({2, 2}), {{2, 2}}, buffer({2, 2})},
             {{"momentum", 0.9}, {"clip_norm", 5.0}},
             {2, 4, 5, 7}},
            {});
        row("adam",
            {"adam",
             {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3}), buffer({3}), buffer({3})},
             {{"beta1", 0.5}},
             {2, 4, 5, 6}},
            {});
    }
    void shapes() {
        QFETCH(OpCase, op);
        QFETCH(std::vector<Shape>, expected);
        const auto shapes = op.shapes();
        QCOMPARE(shapes.size(), expected.size());
        for (std::size_t i = 0; i < shapes.size(); ++i)
            QCOMPARE(shapes[i].text(), expected[i].text());
    }

    void record_writes_a_row_of_its_history() {
        Graph graph;
        GraphBuilder builder(graph);
        const auto step = builder.buffer("step", {16}, {});
        const auto history = builder.buffer("history", {64, 2}, {});
        const auto a = builder.input("a", {1}), b = builder.input("b", {1});
        QVERIFY(builder.apply("record", {step, a, b}, {}, {history}).empty());
        QCOMPARE(graph.ops().back().outputs, std::vector<TensorId>{history});
        QVERIFY_THROWS_EXCEPTION(ConfigError, builder.apply("record", {step, a}, {}, {history}));
    }

    void every_registered_op_is_inferred_above() {
        // Kinds that rows of shapes_data() or a test of their own cover.
        const std::vector<std::string> covered{"accumulate",
                                               "adam",
                                               "add",
                                               "avg_pool2d",
                                               "avg_pool2d_gradient",
                                               "batch_norm",
                                               "batch_norm_apply",
                                               "batch_norm_gradient",
                                               "batch_norm_inference",
                                               "cast",
                                               "channel_sum",
                                               "concat",
                                               "constant",
                                               "conv2d",
                                               "conv2d_input_gradient",
                                               "conv2d_weight_gradient",
                                               "conv_transpose2d",
                                               "correct_count",
                                               "cross_entropy",
                                               "cross_entropy_gradient",
                                               "dot",
                                               "gather_images",
                                               "generalized_dice",
                                               "generalized_dice_gradient",
                                               "global_avg_pool",
                                               "global_avg_pool_gradient",
                                               "gradient_norm",
                                               "linear",
                                               "linear_input_gradient",
                                               "linear_weight_gradient",
                                               "loss_scale",
                                               "max_pool2d",
                                               "max_pool2d_gradient",
                                               "record",
                                               "relu",
                                               "relu_gradient",
                                               "reshape",
                                               "scale",
                                               "separable_conv2d",
                                               "separable_depthwise_gradient",
                                               "separable_filter_gradient",
                                               "separable_pointwise_gradient",
                                               "sgd",
                                               "shifted_slice",
                                               "shifted_slice_gradient",
                                               "slice",
                                               "slice_gradient",
                                               "softmax",
                                               "softmax_gradient",
                                               "update_loss_scale",
                                               "weighted_sum",
                                               "weighted_sum_gradient",
                                               "weighted_sum_weight_gradient"};
        QCOMPARE(OpRegistry::instance().kinds(), covered);
    }

    /// An output has the type of the data it is computed from; statistics, losses and norms stay f32.
    void halves_go_through_data_and_not_into_statistics() {
        for (const auto type : {DType::f16, DType::bf16}) {
            const auto of = [type](Shape shape) { return Given{shape, type}; };
            const auto types = [](const OpCase& op) {
                Graph graph;
                std::vector<DType> found;
                for (const auto output : op.build(graph))
                    found.push_back(graph.tensor(output).type);
                return found;
            };
            using Types = std::vector<DType>;
            const Shape x{2, 3, 9, 8};
            QCOMPARE(types({"conv2d", {of(x), of({4, 3, 3, 3})}}), Types{type});
            QCOMPARE(types({"conv2d_weight_gradient", {of(x), of({2, 4, 7, 6})}, {{"weight_shape", List{4, 3, 3, 3}}}}),
                     Types{type});
            QCOMPARE(types({"batch_norm", {of(x), absent(), absent(), buffer({3}), buffer({3})}, {}, {3, 4}}),
                     (Types{type, DType::f32, DType::f32}));
            QCOMPARE(types({"max_pool2d", {of({1, 1, 4, 4})}, {{"kernel", List{2, 2}}}}), (Types{type, DType::u8}));
            QCOMPARE(types({"add", {of(x), of(x)}}), Types{type});
            QCOMPARE(types({"channel_sum", {of(x)}}), Types{DType::f32});
            QCOMPARE(types({"cast", {of({5}), of({6})}, {{"type", "f32"s}}}), (Types{DType::f32, DType::f32}));
            QCOMPARE(types({"gradient_norm", {buffer({16}), of({3})}}), Types{DType::f32});
        }
    }

    void argmax_is_a_byte() {
        Graph graph;
        const auto outputs = OpCase{"max_pool2d", {{{1, 1, 4, 4}}}, {{"kernel", List{2, 2}}}}.build(graph);
        QCOMPARE(graph.tensor(outputs[1]).type, DType::u8);
    }

    void missing_leading_dimensions_are_one() {
        QCOMPARE(image_shape({5, 7}), Shape({1, 1, 5, 7}));
        QCOMPARE(image_shape({3, 5, 7}), Shape({1, 3, 5, 7}));
        QCOMPARE(image_shape({2, 3, 5, 7}), Shape({2, 3, 5, 7}));
        QVERIFY_THROWS_EXCEPTION(ConfigError, static_cast<void>(image_shape({5})));
        QVERIFY_THROWS_EXCEPTION(ConfigError, static_cast<void>(image_shape({1, 1, 1, 5, 7})));
    }

    void convolutions_take_images_of_2_and_3_dimensions() {
        const OpCase two{"conv2d", {{{9, 8}}, {{4, 1, 3, 3}}}}, three{"conv2d", {{{3, 9, 8}}, {{4, 3, 3, 3}}}};
        QCOMPARE(two.shapes().at(0), Shape({1, 4, 7, 6}));
        QCOMPARE(three.shapes().at(0), Shape({1, 4, 7, 6}));
        const OpCase transposed{"conv_transpose2d", {{{3, 9, 8}}, {{3, 4, 3, 3}}}};
        QCOMPARE(transposed.shapes().at(0), Shape({1, 4, 11, 10}));
    }

    void absent_inputs_at_the_end_are_filled_in() {
        Graph graph;
        static_cast<void>(OpCase{"conv2d", {{{2, 3, 9, 8}}, {{4, 3, 3, 3}}}}.build(graph));
        QCOMPARE(graph.ops().back().inputs.size(), std::size_t{3});
        QCOMPARE(graph.ops().back().inputs[2], no_tensor);
    }

    /// A multiply-add counts 2; a convolution costs the same in all its directions.
    void work_data() {
        QTest::addColumn<OpCase>("op");
        QTest::addColumn<double>("flops");
        const double conv = 2.0 * 2 * 4 * 5 * 4 * 3 * 9;
        const Attributes strided{{"padding", List{1, 1}}, {"stride", List{2, 2}}};
        auto with_input = strided, with_weight = strided;
        with_input.set("input_shape", List{2, 3, 9, 8});
        with_weight.set("weight_shape", List{4, 3, 3, 3});
        QTest::newRow("conv") << OpCase{"conv2d", {{{2, 3, 9, 8}}, {{4, 3, 3, 3}}}, strided} << conv;
        QTest::newRow("conv input gradient")
            << OpCase{"conv2d_input_gradient", {{{2, 4, 5, 4}}, {{4, 3, 3, 3}}}, with_input} << conv;
        QTest::newRow("conv weight gradient")
            << OpCase{"conv2d_weight_gradient", {{{2, 3, 9, 8}}, {{2, 4, 5, 4}}}, with_weight} << conv;
        QTest::newRow("depthwise") << OpCase{"conv2d",
                                             {{{2, 6, 5, 5}}, {{6, 1, 3, 3}}},
                                             {{"groups", std::int64_t{6}}, {"padding", List{1, 1}}}}
                                   << 2.0 * 2 * 6 * 25 * 9;
        QTest::newRow("transposed") << OpCase{"conv_transpose2d", {{{2, 5, 6, 7}}, {{5, 4, 3, 3}}}}
                                    << 2.0 * 2 * 5 * 42 * 4 * 9;
        QTest::newRow("linear") << OpCase{"linear", {{{5, 11}}, {{7, 11}}}} << 2.0 * 5 * 11 * 7;
        QTest::newRow("linear input gradient")
            << OpCase{"linear_input_gradient", {{{5, 7}}, {{7, 11}}}} << 2.0 * 5 * 11 * 7;
        QTest::newRow("linear weight gradient")
            << OpCase{"linear_weight_gradient", {{{5, 11}}, {{5, 7}}}} << 2.0 * 5 * 11 * 7;
        QTest::newRow("relu") << OpCase{"relu", {{{3, 4}}}} << 0.0;
    }
    void work() {
        QFETCH(OpCase, op);
        QFETCH(double, flops);
        Graph graph;
        static_cast<void>(op.build(graph));
        QCOMPARE(cost_of(graph, graph.ops().back()).flops, flops);
    }

    void bytes_are_those_of_inputs_and_outputs() {
        Graph graph;
        static_cast<void>(
            OpCase{"max_pool2d", {{{1, 1, 4, 4}}}, {{"kernel", List{2, 2}}, {"stride", List{2, 2}}}}.build(graph));
        QCOMPARE(cost_of(graph, graph.ops().back()).bytes, 16 * 4 + 4 * 4 + 4 * 1.0);
    }

    void a_name_is_registered_once() {
        OpRegistry registry;
        const OpDefinition definition{.kind = "mine",
                                      .infer = [](const Graph&, const Op&) { return std::vector<OutputSpec>{}; }};
        registry.add(definition);
        QVERIFY_THROWS_EXCEPTION(ConfigError, registry.add(definition));
        QVERIFY_THROWS_EXCEPTION(ConfigError, static_cast<void>(registry.find("other")));
    }
};

QTEST_APPLESS_MAIN(TestOpShapes)
#include "tst_op_shapes.moc"
