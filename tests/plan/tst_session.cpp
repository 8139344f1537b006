// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "base/error.h"
#include "graph/step_block.h"
#include "plan/profile.h"
#include "plan/session.h"
#include "plan/small_network.h"
#include "random_values.h"
#include "texts.h"

#include <QtTest>
#include <cmath>
#include <numeric>
#include <random>

using namespace espalier;
using namespace espalier::test;
using espalier::testing::small_network;

namespace {

/// Values for every parameter and buffer: the step block with rate 0.1, random weights, the rest as they begin.
void set_values(Session& session, const Graph& graph) {
    std::vector<float> step(step_block::size);
    step[step_block::learning_rate] = 0.1F;
    step[step_block::loss_scale] = step[step_block::micro_steps] = 1;
    unsigned seed = 1;
    for (const auto& tensor : graph.tensors()) {
        if (tensor.name == step_block::name)
            session.set(tensor.name, step);
        else if (tensor.role == Role::parameter && tensor.initializer.kind != Initializer::Kind::constant)
            session.set(tensor.name, random_values(tensor.shape.count(), seed++, 0.2F));
    }
}

void set_inputs(Plan& plan, std::int64_t batch) {
    const auto images = random_values(batch * 108, 99);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::int32_t>(i % 4);
    plan.set_input("images", images.data(), images.size() * sizeof(float));
    plan.set_input("labels", labels.data(), labels.size() * sizeof(std::int32_t));
}

/// Runs `steps` steps of the small network and returns the losses.
std::vector<float> losses(Backend& backend, Session::Options options, int steps) {
    const auto network = small_network(3, true);
    Session session(backend, options);
    auto& plan = session.plan("train", network.graph);
    set_values(session, network.graph);
    std::vector<float> losses;
    for (int i = 0; i < steps; ++i) {
        set_inputs(plan, 3);
        plan.run();
        losses.push_back(plan.read(network.loss)[0]);
    }
    return losses;
}

} // namespace

class SessionTest : public QObject {
    Q_OBJECT

    std::unique_ptr<Backend> backend_ = make_backend("reference", {});

private Q_SLOTS:
    void a_network_learns() {
        const auto found = losses(*backend_, {}, 30);
        QVERIFY(std::abs(found.front() - std::log(4.0F)) < 1.0F);
        QVERIFY(found.back() < 0.5F * found.front());
    }

    void poison_changes_nothing() {
        Session::Options poisoned;
        poisoned.poison = true;
        QCOMPARE(losses(*backend_, poisoned, 5), losses(*backend_, {}, 5));
    }

    void planned_bytes_are_the_allocated_ones() {
        const auto network = small_network(3, true);
        Session session(*backend_, {});
        auto& plan = session.plan("train", network.graph);
        QCOMPARE(session.allocated(), std::size_t{0}); // the fit check allocates nothing
        const auto planned = plan.memory();
        QVERIFY(planned.weights > 0 && planned.optimizer > 0 && planned.activations > 0);
        set_values(session, network.graph);
        set_inputs(plan, 3);
        plan.run();
        QCOMPARE(session.allocated(), planned.total());
        QCOMPARE(session.memory().total(), planned.total());
        session.release();
        QCOMPARE(session.allocated(), std::size_t{0});
    }

    /// Wherever a step is left, no parameter and no slot has changed; from the update on it is not left any more.
    void a_step_that_is_left_changes_no_parameter() {
        const auto network = small_network(3, true);
        Session session(*backend_, {});
        auto& plan = session.plan("train", network.graph);
        set_values(session, network.graph);
        const auto kept = [&] {
            std::map<std::string, std::vector<float>> values;
            for (const auto& name : session.names())
                if (name.find("running") == std::string::npos)
                    values[name] = session.get(name);
            return values;
        };
        const auto before = kept();
        QVERIFY(before.size() > 4);
        std::size_t left = 0;
        for (;; ++left) {
            set_inputs(plan, 3);
            std::size_t asked = 0;
            if (plan.run([&] { return asked++ == left; }))
                break;
            QVERIFY(kept() == before);
            QVERIFY(!message_of<Error>([&] { (void)plan.read(network.loss); }).empty());
        }
        const auto update = std::ranges::find(plan.ops(), Stage::update, &PlannedOp::stage) - plan.ops().begin();
        QCOMPARE(static_cast<std::ptrdiff_t>(left), update + 1); // before each kernel up to the first of the update
        QVERIFY(kept() != before);
    }

    void optimizer_slots_are_counted_apart() {
        const auto training = small_network(3, true), evaluation = small_network(3, false);
        Session one(*backend_, {}), other(*backend_, {});
        const auto with = one.plan("train", training.graph).memory(),
                   without = other.plan("eval", evaluation.graph).memory();
        QCOMPARE(without.optimizer, std::size_t{0});
        // The step block, read by the update and written by the host, is counted with the weights.
        QCOMPARE(with.weights, without.weights + step_block::size * sizeof(double));
    }

    void plans_share_one_arena_and_survive_its_growth() {
        const auto small = small_network(2, true), large = small_network(9, true);
        Session session(*backend_, {});
        auto& first = session.plan("2", small.graph);
        set_values(session, small.graph);
        set_inputs(first, 2);
        first.run();
        const auto before = session.allocated();
        auto& second = session.plan("9", large.graph);
        set_inputs(second, 9);
        second.run();
        QVERIFY(session.allocated() > before);
        QCOMPARE(session.allocated(), second.memory().total());
        set_inputs(first, 2); // where the arena lies now
        first.run();
        QVERIFY(std::isfinite(first.read(small.loss)[0]));
        QCOMPARE(session.allocated(), second.memory().total());
    }

    void evaluation_sees_the_running_statistics_of_training() {
        const auto training = small_network(4, true), evaluation = small_network(4, false);
        Session session(*backend_, {});
        auto& train = session.plan("train", training.graph);
        auto& evaluate = session.plan("eval", evaluation.graph);
        set_values(session, training.graph);
        const auto before = session.get("norm.running_mean");
        set_inputs(train, 4);
        train.run();
        QVERIFY(session.get("norm.running_mean") != before);
        set_inputs(evaluate, 4);
        evaluate.run();
        QVERIFY(std::isfinite(evaluate.read(evaluation.loss)[0]));
    }

    void plans_are_kept_by_key_and_the_oldest_leaves() {
        Session::Options options;
        options.plans = 2;
        Session session(*backend_, options);
        const auto* one = &session.plan("1", small_network(1, true).graph);
        const auto* two = &session.plan("2", small_network(2, true).graph);
        const Graph never_lowered;
        QCOMPARE(&session.plan("1", never_lowered), one);
        session.plan("3", small_network(3, true).graph); // drops "2", used longest ago
        QCOMPARE(&session.plan("1", never_lowered), one);
        QVERIFY(session.plan("2", never_lowered).ops().empty());
        Q_UNUSED(two);
    }

    void a_limit_is_checked_without_allocating_and_names_the_layer() {
        const auto network = small_network(64, true);
        Session free(*backend_, {});
        const auto needed = free.plan("train", network.graph).memory().total();
        Session::Options options;
        options.memory_limit = needed;
        Session exact(*backend_, options);
        exact.plan("train", network.graph);

        options.memory_limit = needed - 1;
        Session tight(*backend_, options);
        const auto text = message_of<OutOfMemory>([&] { tight.plan("train", network.graph); });
        QVERIFY2(text.find("of layer '") != std::string::npos, text.c_str());
        QCOMPARE(tight.allocated(), std::size_t{0});
        QVERIFY(tight.names().empty()); // as it was before
        tight.plan("train", small_network(1, true).graph);
    }

    void values_go_in_and_out_by_name() {
        const auto network = small_network(2, true);
        Session session(*backend_, {});
        session.plan("train", network.graph);
        const auto values = random_values(20, 5);
        session.set("classifier.weight", values);
        QCOMPARE(session.get("classifier.weight"), values);
        QCOMPARE(session.get("norm.weight"), std::vector<float>(5, 1.0F));
        QVERIFY(std::isnan(session.get("stem.weight")[0])); // never set
        QVERIFY(!message_of<ConfigError>([&] { session.set("classifier.weight", random_values(19, 5)); }).empty());
        QVERIFY(!message_of<ConfigError>([&] { static_cast<void>(session.get("nothing")); }).empty());
        session.release();
        QVERIFY(!message_of<Error>([&] { static_cast<void>(session.get("classifier.weight")); }).empty());
    }

    void an_alias_is_the_same_value() {
        auto network = small_network(2, true);
        auto& graph = network.graph;
        const auto twin = graph.add_tensor({"twin.running_mean", {5}, DType::f32, Role::buffer, {}});
        graph.add_alias(twin, *graph.find("norm.running_mean"));
        Session session(*backend_, {});
        auto& plan = session.plan("train", graph);
        set_values(session, graph);
        set_inputs(plan, 2);
        plan.run();
        QCOMPARE(session.get("twin.running_mean"), session.get("norm.running_mean"));
        QVERIFY(session.get("twin.running_mean") != std::vector<float>(5));
        QVERIFY(std::ranges::count(session.names(), "twin.running_mean") == 1);
    }

    void an_alias_may_come_after_a_plan_with_both_buffers() {
        const auto reader = [](const std::string& name) {
            Graph graph;
            const auto buffer = graph.add_tensor({name, {5}, DType::f32, Role::buffer, {}});
            const auto y = graph.add_tensor({"", {5}, DType::f32, Role::activation, {}});
            graph.add_op({"relu", {}, {buffer}, {y}});
            graph.keep(y);
            return std::pair(graph, y);
        };
        const auto [graph, y] = reader("twin.running_mean");
        Session session(*backend_, {});
        auto& evaluation = session.plan("eval", graph);
        evaluation.run();
        QCOMPARE(evaluation.read(y), std::vector<float>(5));

        auto network = small_network(2, true);
        const auto twin = network.graph.add_tensor({"twin.running_mean", {5}, DType::f32, Role::buffer, {}});
        network.graph.add_alias(twin, *network.graph.find("norm.running_mean"));
        session.plan("train", network.graph);
        session.set("norm.running_mean", std::vector<float>{1, 2, 3, 4, 5});
        evaluation.run();
        QCOMPARE(evaluation.read(y), (std::vector<float>{1, 2, 3, 4, 5}));
    }

    void inputs_and_results_are_gone_when_another_plan_was_used() {
        const auto training = small_network(4, true), evaluation = small_network(4, false);
        Session session(*backend_, {});
        auto& train = session.plan("train", training.graph);
        auto& evaluate = session.plan("eval", evaluation.graph);
        set_values(session, training.graph);
        QVERIFY(message_of<Error>([&] { train.run(); }).find("'images'") != std::string::npos);
        set_inputs(train, 4);
        train.run();
        train.run(); // the inputs are still there
        static_cast<void>(train.read(training.loss));
        set_inputs(evaluate, 4);
        QVERIFY(!message_of<Error>([&] { static_cast<void>(train.read(training.loss)); }).empty());
        QVERIFY(!message_of<Error>([&] { train.run(); }).empty());
        evaluate.run();
        set_inputs(train, 4);
        train.run();
    }

    void a_released_session_goes_on_when_its_values_are_set_again() {
        const auto network = small_network(3, true);
        Session session(*backend_, {});
        auto& plan = session.plan("train", network.graph);
        const auto loss = [&] {
            set_values(session, network.graph);
            set_inputs(plan, 3);
            plan.run();
            return plan.read(network.loss);
        };
        const auto before = loss();
        session.release();
        QCOMPARE(loss(), before);
        QCOMPARE(session.allocated(), plan.memory().total());
    }

    void wrong_uses_are_refused_in_words() {
        const auto network = small_network(2, true);
        Session session(*backend_, {});
        auto& plan = session.plan("train", network.graph);
        const float value = 0;
        QVERIFY(!message_of<ConfigError>([&] { plan.set_input("images", &value, sizeof value); }).empty());
        QVERIFY(!message_of<ConfigError>([&] { plan.set_input("nothing", &value, sizeof value); }).empty());
        QVERIFY(!message_of<Error>([&] { static_cast<void>(plan.read(network.loss)); }).empty());
        QVERIFY(!message_of<ConfigError>([&] { static_cast<void>(plan.read(0)); }).empty());
        // The same name with another shape.
        Graph other;
        const auto w = other.add_tensor({"classifier.weight", {7}, DType::f32, Role::parameter, {}});
        other.add_op({"relu", {}, {w}, {other.add_tensor({"", {7}, DType::f32, Role::activation, {}})}});
        QVERIFY(!message_of<ConfigError>([&] { session.plan("other", other); }).empty());
        Graph unknown;
        unknown.add_op({"transmogrify", {}, {}, {}, "attic"});
        const auto text = message_of<ConfigError>([&] { session.plan("unknown", unknown); });
        QVERIFY2(text.find("attic") != std::string::npos, text.c_str());
    }

    void a_profile_sums_by_layer() {
        const auto network = small_network(8, true);
        Session session(*backend_, {});
        auto& plan = session.plan("train", network.graph);
        set_values(session, network.graph);
        set_inputs(plan, 8);
        plan.run_profiled();
        const auto layers = layer_profile(plan.ops());
        const auto stem = std::ranges::find(layers, "stem", &LayerProfile::layer);
        QVERIFY(stem != layers.end());
        QCOMPARE(stem->ops, std::size_t{2}); // forward, weight gradient
        QVERIFY(stem->forward_milliseconds > 0 && stem->backward_milliseconds > 0);
        QCOMPARE(stem->flops, 2 * 2.0 * 8 * 5 * 36 * 27);
        double milliseconds = 0, flops = 0;
        for (const auto& layer : layers) {
            milliseconds += layer.milliseconds();
            flops += layer.flops;
        }
        QVERIFY(milliseconds > 0);
        QCOMPARE(flops, plan.model_flops());
    }
};

QTEST_APPLESS_MAIN(SessionTest)
#include "tst_session.moc"
