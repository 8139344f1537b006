// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "plan/arena.h"
#include "plan/layout_backend.h"
#include "plan/lower.h"

#include <QtTest>
#include <algorithm>
#include <functional>
#include <random>

using namespace espalier;
using espalier::testing::LayoutBackend;

namespace {

constexpr std::int64_t length = 5;
using Values = std::vector<float>;

TensorId add_tensor(Graph& graph, Role role, const std::string& name = "", std::int64_t count = length) {
    return graph.add_tensor({name, {count}, DType::f32, role, {}});
}

/// Appends y = the sum of `inputs`, in a layout ("" for its first input's); returns y.
TensorId add(Graph& graph, std::vector<TensorId> inputs, const std::string& layout = "", bool in_place = false,
             std::int64_t workspace = 0, bool late = false) {
    const auto y = add_tensor(graph, Role::activation);
    Attributes attributes{{"in_place", in_place}, {"workspace", workspace}, {"late", late}};
    if (!layout.empty())
        attributes.set("layout", layout);
    graph.add_op({"add", attributes, std::move(inputs), {y}, "layer " + std::to_string(graph.ops().size())});
    return y;
}

std::size_t reorders(const Plan& plan) {
    return static_cast<std::size_t>(std::ranges::count(plan.ops(), "reorder", &PlannedOp::kind));
}

std::size_t arena_of(const Graph& graph) {
    LayoutBackend backend;
    PersistentTensors persistent;
    return plan_arena(lower(graph, backend, persistent)).bytes;
}

/// A graph of random ops, and what its kept tensors must be.
struct RandomGraph {
    Graph graph;
    Values input;
    std::map<TensorId, Values> expected;
};

RandomGraph random_graph(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    RandomGraph result;
    auto& graph = result.graph;
    std::vector<std::pair<TensorId, Values>> known;
    for (std::int64_t i = 0; i < length; ++i)
        result.input.push_back(static_cast<float>(i + 1));
    known.emplace_back(add_tensor(graph, Role::input, "x"), result.input);
    known.emplace_back(add_tensor(graph, Role::parameter, "w"), Values{1, -1, 2, -2, 3});
    Values both;
    std::ranges::transform(known[0].second, known[1].second, std::back_inserter(both), std::plus{});
    known.emplace_back(add(graph, {known[0].first, known[1].first}), both);
    const std::string layouts[] = {"", "plain", "reversed"};
    for (int i = 0; i < 60; ++i) {
        std::vector<TensorId> inputs;
        Values sum(length);
        // Mostly recent tensors, so that lifetimes end and memory is used again.
        for (std::size_t k = 0, count = 1 + below(3); k < count; ++k) {
            const auto back = below(4) == 0 ? below(known.size()) : below(std::min<std::size_t>(4, known.size()));
            const auto& [tensor, values] = known[known.size() - 1 - back];
            inputs.push_back(tensor);
            for (std::size_t j = 0; j < sum.size(); ++j)
                sum[j] += values[j];
        }
        const auto y = add(graph, inputs, layouts[below(3)], below(2) == 0, static_cast<std::int64_t>(below(3) * 100),
                           below(4) == 0);
        known.emplace_back(y, sum);
        if (below(6) == 0) {
            graph.keep(y);
            result.expected[y] = sum;
        }
    }
    graph.keep(known.back().first);
    result.expected[known.back().first] = known.back().second;
    return result;
}

} // namespace

class LowerTest : public QObject {
    Q_OBJECT

    LayoutBackend backend_;

private Q_SLOTS:
    void one_reorder_serves_all_later_readers() {
        Graph graph;
        const auto x = add_tensor(graph, Role::input, "x");
        const auto a = add(graph, {x}, "reversed"), b = add(graph, {x}, "reversed"), c = add(graph, {x}, "plain");
        const auto y = add(graph, {a, b, c}, "plain");
        graph.keep(y);
        Session session(backend_, {.poison = true});
        auto& plan = session.plan("", graph);
        QCOMPARE(reorders(plan), std::size_t{3}); // x for a and b, then a and b themselves
        const Values values{1, 2, 3, 4, 5};
        plan.set_input("x", values.data(), values.size() * sizeof(float));
        plan.run();
        QCOMPARE(plan.read(y), (Values{3, 6, 9, 12, 15}));
    }

    void the_first_reader_chooses_the_layout_of_a_parameter() {
        Graph graph;
        const auto w = add_tensor(graph, Role::parameter, "w");
        const auto a = add(graph, {w}, "reversed"), b = add(graph, {w}, "plain");
        graph.keep(a);
        graph.keep(b);
        Session session(backend_, {.poison = true});
        auto& plan = session.plan("", graph);
        QCOMPARE(plan.ops().front().kind, "add");
        QCOMPARE(reorders(plan), std::size_t{1});
        QCOMPARE(plan.memory().weights, std::size_t{128}); // 20 bytes and the padding of "reversed"
        const Values values{1, 2, 3, 4, 5};
        session.set("w", values);
        plan.run();
        QCOMPARE(session.get("w"), values);
        QCOMPARE(plan.read(a), values);
        QCOMPARE(plan.read(b), values);

        // Later plans of the session find the layout settled.
        Graph other;
        const auto same = add_tensor(other, Role::parameter, "w");
        other.keep(add(other, {same}, "plain"));
        QCOMPARE(reorders(session.plan("other", other)), std::size_t{1});
    }

    void a_copy_of_a_parameter_is_made_anew_after_a_write() {
        Graph graph;
        const auto w = add_tensor(graph, Role::parameter, "w"), factor = add_tensor(graph, Role::input, "factor", 1);
        const auto before = add(graph, {w}, "plain");
        const auto first_copy = add(graph, {w}, "reversed");
        graph.add_op({"scale", {}, {w, factor}, {w}});
        const auto second_copy = add(graph, {w}, "reversed");
        for (auto tensor : {before, first_copy, second_copy})
            graph.keep(tensor);
        Session session(backend_, {.poison = true});
        auto& plan = session.plan("", graph);
        QCOMPARE(reorders(plan), std::size_t{2});
        session.set("w", Values{1, 2, 3, 4, 5});
        const float ten = 10;
        plan.set_input("factor", &ten, sizeof ten);
        plan.run();
        QCOMPARE(plan.read(first_copy), (Values{1, 2, 3, 4, 5}));
        QCOMPARE(plan.read(second_copy), (Values{10, 20, 30, 40, 50}));
        QCOMPARE(session.get("w"), (Values{10, 20, 30, 40, 50}));
    }

    void an_op_that_writes_a_parameter_must_keep_its_layout() {
        Graph graph;
        const auto w = add_tensor(graph, Role::parameter, "w"), factor = add_tensor(graph, Role::input, "factor", 1);
        add(graph, {w}, "plain");
        graph.add_op({"scale", {{"layout", std::string("reversed")}, {"disobey", true}}, {w, factor}, {w}});
        Session session(backend_, {});
        QVERIFY_THROWS_EXCEPTION(Error, session.plan("", graph));
    }

    void outputs_take_the_place_of_inputs_that_end() {
        Graph graph;
        auto x = add(graph, {add_tensor(graph, Role::parameter, "w")});
        for (int i = 0; i < 8; ++i)
            x = add(graph, {x}, "", true);
        graph.keep(x);
        QCOMPARE(arena_of(graph), std::size_t{64});
    }

    void an_input_that_is_kept_or_read_later_or_given_keeps_its_place() {
        const auto arena = [](bool keep, bool read_later, bool twice) {
            Graph graph;
            const auto w = add_tensor(graph, Role::parameter, "w");
            const auto a = add(graph, {w});
            const auto b = add(graph, twice ? std::vector{a, a} : std::vector{a}, "", true);
            if (keep)
                graph.keep(a);
            graph.keep(read_later ? add(graph, {a, b}, "", true) : b);
            return arena_of(graph);
        };
        QCOMPARE(arena(false, false, false), std::size_t{64});
        QCOMPARE(arena(true, false, false), std::size_t{128});
        QCOMPARE(arena(false, true, false), std::size_t{128});
        QCOMPARE(arena(false, false, true), std::size_t{128});

        Graph graph;
        graph.keep(add(graph, {add_tensor(graph, Role::input, "x")}, "", true));
        QCOMPARE(arena_of(graph), std::size_t{128}); // the input stays for another run
    }

    void a_workspace_lives_for_one_op() {
        Graph graph;
        auto x = add(graph, {add_tensor(graph, Role::parameter, "w")}, "", false, 1000);
        x = add(graph, {x}, "", false, 1000);
        graph.keep(x);
        Session session(backend_, {});
        const auto memory = session.plan("", graph).memory();
        QCOMPARE(memory.activations + memory.workspace, std::size_t{2 * 64 + 1024});
        QCOMPARE(memory.weights, std::size_t{64});
    }

    /// What finishes an op comes one op later, so that this one need not wait; before it, if it reads the result.
    void an_end_lets_one_op_pass() {
        for (const bool read : {false, true}) {
            Graph graph;
            const auto w = add_tensor(graph, Role::parameter, "w");
            const auto a = add(graph, {w}, "", false, 0, true);
            const auto b = add(graph, {read ? a : w}), c = add(graph, {a, b});
            graph.keep(c);
            Session session(backend_, {.poison = true});
            auto& plan = session.plan("", graph);
            std::vector<std::string> kinds;
            for (const auto& op : plan.ops())
                kinds.push_back(op.kind);
            QCOMPARE(kinds, (read ? std::vector<std::string>{"add", "sum_of_parts", "add", "add"}
                                  : std::vector<std::string>{"add", "add", "sum_of_parts", "add"}));
            session.set("w", Values{1, 2, 3, 4, 5});
            plan.run();
            QCOMPARE(plan.read(c), (Values{2, 4, 6, 8, 10}));
        }
    }

    void random_graphs_compute_what_they_say_data() {
        QTest::addColumn<unsigned>("seed");
        for (unsigned seed = 0; seed < 50; ++seed)
            QTest::addRow("seed %u", seed) << seed;
    }
    void random_graphs_compute_what_they_say() {
        QFETCH(unsigned, seed);
        const auto random = random_graph(seed);
        for (const bool poison : {true, false}) {
            Session session(backend_, {.poison = poison});
            auto& plan = session.plan("", random.graph);
            session.set("w", Values{1, -1, 2, -2, 3});
            plan.set_input("x", random.input.data(), random.input.size() * sizeof(float));
            for (int run = 0; run < 2; ++run) { // inputs stay for a second run
                plan.run();
                for (const auto& [tensor, values] : random.expected)
                    QCOMPARE(plan.read(tensor), values);
            }
            QCOMPARE(session.allocated(), plan.memory().total());
        }
    }
};

QTEST_APPLESS_MAIN(LowerTest)
#include "tst_lower.moc"
