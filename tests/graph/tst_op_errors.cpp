// SPDX-License-Identifier: Apache-2.0
#include "graph/op_case.h"

using namespace espalier;

/// Every refusal names the op, its layer, the argument, the limit and the value.
class TestOpErrors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refusals_data() {
        QTest::addColumn<OpCase>("op");
        QTest::addColumn<QStringList>("words"); // all of these stand in the error
        const auto row = [](const char* name, OpCase op, QStringList words) { QTest::newRow(name) << op << words; };
        const auto conv = [](Attributes attributes) {
            return OpCase{"conv2d", {{{2, 6, 9, 8}}, {{4, 6, 3, 3}}}, attributes};
        };
        row("stride", conv({{"stride", List{1, 0}}}), {"stride must be at least 1", "[1,0]"});
        row("dilation", conv({{"dilation", List{0, 1}}}), {"dilation must be at least 1", "[0,1]"});
        row("padding", conv({{"padding", List{-1, 0}}}), {"padding must be at least 0", "[-1,0]"});
        row("groups", conv({{"groups", std::int64_t{0}}}), {"groups must be at least 1", "is 0"});
        row("input channels by groups", conv({{"groups", std::int64_t{4}}}),
            {"input channels must be divisible by groups", "6", "4"});
        row("output channels by groups", conv({{"groups", std::int64_t{3}}}),
            {"output channels must be divisible by groups", "4", "3"});
        row("channels a filter", {"conv2d", {{{2, 6, 9, 8}}, {{4, 5, 3, 3}}}},
            {"must have 6 channels a filter", "has 5"});
        row("kernel too large", conv({{"dilation", List{5, 1}}}), {"dilated kernel", "height is 11", "input's 9"});
        row("kernel too wide", conv({{"dilation", List{1, 5}}, {"padding", List{0, 1}}}),
            {"width is 11", "input's 10"});
        row("pair of three", conv({{"stride", List{1, 1, 1}}}), {"stride", "[height, width]", "3"});
        row("activation", conv({{"activation", std::string("gelu")}}), {"activation", "relu", "gelu"});
        row("conv rank", {"conv2d", {{{6}}, {{4, 6, 3, 3}}}}, {"input x must have 4 dimensions", "is 6"});
        row("empty extent", {"conv2d", {{{0, 6, 9, 8}}, {{4, 6, 3, 3}}}}, {"at least 1", "0x6x9x8"});
        row("conv bias", {"conv2d", {{{2, 6, 9, 8}}, {{4, 6, 3, 3}}, {{5}}}}, {"bias must be 4", "is 5"});
        row("conv inputs", {"conv2d", {{{2, 6, 9, 8}}, {{4, 6, 3, 3}}, {{4}}, {{4}}}}, {"2 to 3 inputs", "got 4"});
        row("weights absent", {"conv2d", {{{2, 6, 9, 8}}, absent()}}, {"input w is required"});
        row("transposed channels", {"conv_transpose2d", {{{2, 6, 3, 3}}, {{5, 4, 2, 2}}}},
            {"input channels, 6", "begins with 5"});
        row("output padding",
            {"conv_transpose2d",
             {{{2, 6, 3, 3}}, {{6, 4, 2, 2}}},
             {{"stride", List{2, 2}}, {"output_padding", List{2, 0}}}},
            {"output_padding must be smaller than the stride", "[2,2]", "[2,0]"});
        row("transposed padding", {"conv_transpose2d", {{{2, 6, 1, 1}}, {{6, 4, 2, 2}}}, {{"padding", List{1, 1}}}},
            {"height must be at least 1", "is 0", "padding [1,1]"});
        row("input gradient shape",
            {"conv2d_input_gradient", {{{2, 4, 5, 5}}, {{4, 6, 3, 3}}}, {{"input_shape", List{2, 6, 9, 8}}}},
            {"gy must be 2x4x7x6", "2x4x5x5"});
        row("linear", {"linear", {{{5, 11}}, {{7, 12}}}}, {"w must be 7x11", "7x12"});
        row("batch norm of one value",
            {"batch_norm", {{{1, 6, 1, 1}}, absent(), absent(), buffer({6}), buffer({6})}, {}, {3, 4}},
            {"at least 2 values a channel", "1x6x1x1"});
        row("batch norm eps",
            {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({6}), buffer({6})}, {{"eps", 0.0}}, {3, 4}},
            {"eps must be greater than 0"});
        row("batch norm momentum",
            {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({6}), buffer({6})}, {{"momentum", 1.5}}, {3, 4}},
            {"momentum must be from 0 to 1", "1.5"});
        row("batch norm changes", {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({6}), buffer({6})}},
            {"running_mean and running_var", "changed"});
        row("batch norm buffers", {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({5}), buffer({6})}, {}, {3, 4}},
            {"running_mean must be 6", "is 5"});
        row("batch norm residual",
            {"batch_norm", {{{4, 6}}, absent(), absent(), buffer({6}), buffer({6}), {{4, 5}}}, {}, {3, 4}},
            {"residual must be 4x6", "4x5"});
        row("gradient without y",
            {"batch_norm_gradient", {{{4, 6}}, {{4, 6}}, {{6}}, {{6}}}, {{"activation", std::string("relu")}}},
            {"input y is required"});
        row("separable filter",
            {"separable_conv2d", {{{2, 6, 5, 7}}, {{6, 1, 4, 4}}, {{4, 6, 1, 1}}, buffer({4}), buffer({4})}},
            {"odd k", "6x1x4x4"});
        row("separable matrix",
            {"separable_conv2d", {{{2, 6, 5, 7}}, {{6, 1, 3, 3}}, {{4, 5, 1, 1}}, buffer({4}), buffer({4})}},
            {"matrix must be [K, 6, 1, 1]", "4x5x1x1"});
        row("separable norm",
            {"separable_depthwise_gradient", {{{2, 6, 5, 7}}, {{2, 6, 5, 7}}, {{6, 1, 3, 3}}, absent(), {{6}}}},
            {"need a mean"});
        row("pool padding", {"avg_pool2d", {{{1, 1, 8, 8}}}, {{"kernel", List{2, 2}}, {"padding", List{2, 0}}}},
            {"padding must be smaller than the kernel", "[2,2]", "[2,0]"});
        row("pool kernel", {"avg_pool2d", {{{1, 1, 8, 8}}}, {{"kernel", List{9, 9}}}},
            {"kernel must not be larger", "[9,9]", "1x1x8x8"});
        row("pool stride", {"max_pool2d", {{{1, 1, 8, 8}}}, {{"kernel", List{2, 2}}, {"stride", List{0, 1}}}},
            {"stride must be at least 1", "[0,1]"});
        row("pool places", {"max_pool2d", {{{1, 1, 16, 16}}}, {{"kernel", List{16, 16}}}},
            {"at most 255 places", "256"});
        row("argmax type",
            {"max_pool2d_gradient",
             {{{1, 1, 1, 1}}, {{1, 1, 1, 1}}},
             {{"kernel", List{2, 2}}, {"input_shape", List{1, 1, 2, 2}}}},
            {"argmax must be u8", "f32"});
        row("add", {"add", {{{3, 7}}, {{3, 7}}, {{7, 3}}}}, {"x3 must be 3x7", "7x3"});
        row("scale", {"scale", {{{3, 7}}, {{3}}}}, {"c must be 1", "is 3"});
        row("weighted sum row",
            {"weighted_sum", {{{14, 10}}, {{2, 3}}}, {{"row", std::int64_t{14}}, {"columns", List{0}}}},
            {"row must be from 0 to 13", "14"});
        row("weighted sum columns",
            {"weighted_sum", {{{14, 10}}, {{2, 3}}}, {{"row", std::int64_t{0}}, {"columns", List{10}}}},
            {"columns must be from 0 to 9", "10"});
        row("weighted sum same column",
            {"weighted_sum", {{{14, 10}}, {{2, 3}}, {{2, 3}}}, {{"row", std::int64_t{0}}, {"columns", List{4, 4}}}},
            {"columns must differ"});
        row("weighted sum count",
            {"weighted_sum", {{{14, 10}}, {{2, 3}}}, {{"row", std::int64_t{0}}, {"columns", List{0, 1}}}},
            {"2 columns", "got 1"});
        row("concat", {"concat", {{{2, 3, 4, 4}}, {{2, 3, 4, 5}}}}, {"x2 must be 2x3x4x4", "2x3x4x5"});
        row("concat axis", {"concat", {{{2, 3}}}, {{"axis", std::int64_t{2}}}}, {"axis must be from 0 to 1", "is 2"});
        row("reshape", {"reshape", {{{2, 6}}}, {{"shape", List{3, 5}}}}, {"as many elements as x, 12", "3x5 holds 15"});
        row("slice", {"slice", {{{2, 8}}}, {{"begin", std::int64_t{3}}, {"end", std::int64_t{9}}}},
            {"end <= 8", "3 and 9"});
        row("shifted slice", {"shifted_slice", {{{2, 8, 4, 4}}}, {{"offset", List{-1, 0}}}},
            {"offset must be at least 0", "[-1,0]"});
        row("labels type", {"cross_entropy", {{{6, 10}}, {{6}}}}, {"labels must be i32", "f32"});
        row("labels shape", {"cross_entropy", {{{6, 10}}, labels({5})}}, {"labels must be 6", "is 5"});
        row("class weights", {"cross_entropy", {{{6, 10}}, labels({6}), {{9}}}}, {"class_weights must be 10", "is 9"});
        row("label smoothing", {"cross_entropy", {{{6, 10}}, labels({6})}, {{"label_smoothing", 1.0}}},
            {"label_smoothing must be at least 0 and less than 1", "1.0"});
        row("dice background", {"generalized_dice", {{{3, 1, 6, 6}}, labels({3, 6, 6})}},
            {"at least 2 classes", "3x1x6x6"});
        const auto gather = [](Shape table, DType pixels, std::int64_t batch) {
            return OpCase{"gather_images",
                          {buffer({16}),
                           {{50, 3, 8, 9}, pixels, Role::buffer},
                           labels({50}),
                           buffer(table),
                           {{40, 4}, DType::i32, Role::buffer}},
                          {{"batch", batch}}};
        };
        row("gather a batch of none", gather({3, 256}, DType::u8, 0), {"batch must be at least 1", "0"});
        row("gather by values of other channels", gather({1, 256}, DType::u8, 2), {"values must be 3x256", "1x256"});
        row("gather from floats", gather({3, 256}, DType::f32, 2), {"pixels must be u8", "f32"});
        row("cast to", {"cast", {{{3}}}, {{"type", std::string("i32")}}}, {"f32, f16 or bf16", "\"i32\""});
        row("cast of", {"cast", {labels({3})}, {{"type", std::string("f16")}}}, {"x1 must be f32, f16 or bf16", "i32"});
        row("scale interval",
            {"update_loss_scale", {{{1}}, buffer({1}), buffer({1})}, {{"interval", std::int64_t{0}}}, {1, 2}},
            {"interval must be at least 1", "is 0"});
        row("step block", {"gradient_norm", {buffer({3}), {{3}}}}, {"step must be 16", "is 3"});
        row("clip without norm",
            {"sgd", {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3})}, {{"clip_norm", 5.0}}, {2, 4}},
            {"clip_norm", "norm is absent"});
        row("sgd momentum",
            {"sgd", {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3})}, {{"momentum", 1.0}}, {2, 4}},
            {"momentum must be at least 0 and less than 1"});
        row("sgd group",
            {"sgd", {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3}), parameter({3})}, {}, {2, 4}},
            {"multiple of 3", "got 4"});
        row("sgd gradient shape", {"sgd", {buffer({16}), absent(), parameter({3}), {{4}}, buffer({3})}, {}, {2, 4}},
            {"g must be 3", "is 4"});
        row("sgd changes", {"sgd", {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3})}, {}, {2}},
            {"parameters and slots"});
        row("sgd no decay",
            {"sgd", {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3})}, {{"no_decay", List{1}}}, {2, 4}},
            {"positions from 0 to 0", "one is 1"});
        row("adam beta",
            {"adam",
             {buffer({16}), absent(), parameter({3}), {{3}}, buffer({3}), buffer({3}), buffer({3})},
             {{"beta2", 1.0}},
             {2, 4, 5, 6}},
            {"beta2 must be at least 0 and less than 1"});
    }
    void refusals() {
        QFETCH(OpCase, op);
        QFETCH(QStringList, words);
        const auto text = QString::fromStdString(op.error());
        QVERIFY2(!text.isEmpty(), "it was accepted");
        for (const auto& word : words)
            QVERIFY2(text.contains(word), qPrintable(text));
    }

    void refusals_name_op_and_layer() {
        const auto text = OpCase{"relu", {absent()}}.error();
        QCOMPARE(text, std::string("relu of layer 'layer': input x is required, but absent."));
    }

    void unknown_ops_and_wrong_types_are_refused() {
        const auto unknown = OpCase{"gelu", {{{1}}}}.error();
        QVERIFY(QString::fromStdString(unknown).contains("gelu"));
        const auto text = OpCase{"softmax", {{{2, 3}}}, {{"axis", 1.0}}}.error();
        QVERIFY(QString::fromStdString(text).contains("axis"));
    }
};

QTEST_APPLESS_MAIN(TestOpErrors)
#include "tst_op_errors.moc"
