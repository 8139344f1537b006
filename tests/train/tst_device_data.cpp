// SPDX-License-Identifier: Apache-2.0
#include "backends/registry.h"
#include "graph/step_block.h"
#include "nn/network_spec.h"
#include "train/batch_feed.h"
#include "train/device_data.h"
#include "train/run_setup.h"
#include "train_support.h"

#include <QtTest>
#include <cstring>

using namespace espalier;
using namespace espalier::test;

namespace {

/// A graph that does nothing but gather a batch.
struct Gathering {
    Graph graph;
    TensorId images = no_tensor, labels = no_tensor;

    Gathering(const DeviceData& data, DeviceData::Use use, std::int64_t batch) {
        const auto& shape = data.image();
        ForwardGraph forward;
        forward.images = forward.graph.add_tensor(
            {.name = "images", .shape = {batch, shape.channels, shape.height, shape.width}, .role = Role::input});
        forward.labels =
            forward.graph.add_tensor({.name = "labels", .shape = {batch}, .type = DType::i32, .role = Role::input});
        data.feed(forward, use);
        graph = std::move(forward.graph);
        images = graph.ops()[0].outputs[0];
        labels = graph.ops()[0].outputs[1];
        graph.keep(images);
        graph.keep(labels);
    }
};

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// The device's copy of the data, and a batch of it.
class GatheringSession {
public:
    GatheringSession(Backend& backend, const DeviceData& data) : session_(backend, {}), data_(data) {}

    /// Compares the batches of a feed with those of a loader, for whole epochs.
    int compare(Loader& loader, const Batches& batches, DeviceData::Use use, const SampleSet& set,
                std::int64_t epochs) {
        const bool training = use == DeviceData::Use::training;
        DeviceFeed feed(
            batches,
            [&](std::int64_t epoch) { return training ? data_.training_order(epoch) : data_.evaluation_order(set); },
            [&](const std::vector<std::int32_t>& order) {
                session_.set_rows(training ? DeviceData::training_order_name : DeviceData::evaluation_order_name, 0,
                                  std::as_bytes(std::span(order)));
            });
        for (auto size : batches.sizes())
            static_cast<void>(plan(use, size));
        load();
        loader.start(0, 1, epochs);
        feed.start(0, 1, epochs);
        int compared = 0;
        while (const auto* expected = loader.next()) {
            const auto found = feed.next();
            if (!found || found->size() != expected->count)
                return -1;
            auto& [step, gathering] = plan(use, found->size());
            std::vector<float> block(step_block::size);
            block[step_block::first_image] = static_cast<float>(found->first);
            session_.set(step_block::name, block);
            step->run();
            const std::vector<float> labels(expected->labels.begin(), expected->labels.end());
            if (!same_bits(step->read(gathering.images), expected->images) ||
                !same_bits(step->read(gathering.labels), labels))
                return -1;
            ++compared;
        }
        return feed.next() ? -1 : compared;
    }

private:
    using Ready = std::pair<Plan*, Gathering>;

    Ready& plan(DeviceData::Use use, std::int64_t batch) {
        const auto key = std::to_string(static_cast<int>(use)) + " " + std::to_string(batch);
        const auto found = plans_.find(key);
        if (found != plans_.end())
            return found->second;
        Gathering gathering(data_, use, batch);
        auto& made = session_.plan(key, gathering.graph);
        return plans_.emplace(key, Ready{&made, std::move(gathering)}).first->second;
    }
    void load() {
        std::vector<std::uint8_t> pixels(data_.image().bytes());
        for (std::int64_t i = 0; i < data_.images(); ++i) {
            data_.read(i, pixels);
            session_.set_rows(DeviceData::pixels_name, i, std::as_bytes(std::span(pixels)));
        }
        const auto labels = data_.labels();
        session_.set_rows(DeviceData::labels_name, 0, std::as_bytes(std::span(labels)));
        session_.set(DeviceData::values_name, data_.values());
    }

    Session session_;
    const DeviceData& data_;
    std::map<std::string, Ready> plans_;
};

} // namespace

/// A data set in the device's memory gives what the host's loader gives.
class TestDeviceData : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void batches_have_the_bits_of_the_loader_data() {
        QTest::addColumn<QString>("backend");
        for (const auto& status : available_backends())
            if (status.available)
                QTest::newRow(status.name.c_str()) << QString::fromStdString(status.name);
    }
    void batches_have_the_bits_of_the_loader() {
        QFETCH(QString, backend);
        const auto device = make_backend(backend.toStdString(), {});
        const auto dataset = open_dataset("synthetic:3x11x9,4,90");
        auto halves = split(all_of(dataset, Part::train), 0.2, 5);
        const RunSets sets{std::move(halves.first), std::move(halves.second), all_of(dataset, Part::validation)};
        const auto statistics = channel_statistics(sets.train);
        const Augmentation augmentation{.crop = 3, .flip = true};
        const DeviceData data(sets, statistics, augmentation, 5);
        // Two parts: the first two sets share one.
        QCOMPARE(data.images(), static_cast<std::int64_t>(90 + sets.test.size()));

        GatheringSession session(*device, data);
        const Batches training(sets.train.size(), 16, Batches::Use::training);
        QVERIFY(training.sizes().size() > 1);
        Loader loader(sets.train, {.batch = 16, .seed = 5, .augmentation = augmentation, .statistics = statistics});
        QCOMPARE(session.compare(loader, training, DeviceData::Use::training, {}, 3),
                 static_cast<int>(3 * training.count() - 1));

        for (const auto* set : {&sets.validation, &sets.test}) {
            Loader plain(*set, {.batch = 5, .use = Batches::Use::evaluation, .statistics = statistics});
            const Batches evaluation(set->size(), 5, Batches::Use::evaluation);
            QCOMPARE(session.compare(plain, evaluation, DeviceData::Use::evaluation, *set, 1),
                     static_cast<int>(evaluation.count() - 1));
        }
    }

    void rows_that_do_not_fit_are_refused() {
        const auto device = make_backend("cpu", {});
        const auto sets = sets_for_run(open_dataset("synthetic:1x4x4,2,10"), 0.2, 1);
        const DeviceData data(sets, channel_statistics(sets.train), {}, 1);
        Session session(*device, {});
        const Gathering gathering(data, DeviceData::Use::training, 2);
        session.plan("", gathering.graph);
        const std::vector<std::byte> image(16);
        session.set_rows(DeviceData::pixels_name, data.images() - 1, image);
        QVERIFY_THROWS_EXCEPTION(ConfigError, session.set_rows(DeviceData::pixels_name, data.images(), image));
        QVERIFY_THROWS_EXCEPTION(ConfigError, session.set_rows(DeviceData::pixels_name, -1, image));
        QVERIFY_THROWS_EXCEPTION(ConfigError, session.set_rows(DeviceData::values_name, 0, image));
        QVERIFY_THROWS_EXCEPTION(ConfigError, session.set_rows("weight", 0, image));
    }

    void a_run_is_the_same_wherever_its_data_are_data() {
        QTest::addColumn<QStringList>("settings");
        QTest::newRow("plain") << QStringList{};
        QTest::newRow("accumulation, odd batches")
            << QStringList{"accumulation=3", "batch=4", "optimizer.kind=adamw", "optimizer.learning_rate=0.01"};
        for (const auto& status : available_backends())
            if (status.available && !status.devices.empty())
                QTest::newRow(status.name.c_str())
                    << QStringList{QString::fromStdString("backend=" + status.name), "toggles.deterministic=true"};
    }
    void a_run_is_the_same_wherever_its_data_are() {
        QFETCH(QStringList, settings);
        std::vector<std::string> list{"backend=cpu"};
        for (const auto& setting : settings)
            list.push_back(setting.toStdString());
        SmallRun on_host(list), on_device(list);
        on_host.set("data_on_device=off");
        on_device.set("data_on_device=on");
        EventLog host_log, device_log;
        QCOMPARE(on_host.fault_of_training(host_log), std::string());
        QCOMPARE(on_device.fault_of_training(device_log), std::string());
        QCOMPARE(QString::fromStdString(difference(on_host.last(), on_device.last())), QString());
        for (const char* column : {"loss", "accuracy", "learning_rate"})
            QCOMPARE(device_log.column(column), host_log.column(column));
        const auto measured = [](const EventLog& log) {
            std::vector<Json> values;
            for (const auto& event : log.of_type("evaluation"))
                values.push_back({event["loss"], event["accuracy"], event["images"]});
            return values;
        };
        QCOMPARE(measured(device_log), measured(host_log));
        QCOMPARE(host_log.of_type("plan").at(0)["memory"]["data"], Json(0));
        QVERIFY(device_log.of_type("plan").at(0)["memory"]["data"].get<std::size_t>() >= 53 * 64);
    }

    void data_go_back_to_the_host_first_where_memory_is_short() {
        // 40 images of 3x256x256 are 7.5 MiB; the network of the second run alone fits.
        SmallRun run({"data=synthetic:3x256x256,3,40", "data_on_device=on", "batch=2", "epochs=1", "backend=cpu"});
        auto setup = set_up_run(RunConfig::from_json(read_json(run.folder().config())));
        QVERIFY(setup.device_data);
        const auto whole = setup.network->memory();
        QVERIFY(whole.data >= std::size_t{40} * 3 * 256 * 256);
        const auto limit = (whole.total() - whole.data / 2) >> 20;
        run.set("memory_limit_mib=" + std::to_string(limit));
        EventLog log;
        QCOMPARE(run.fault_of_training(log), std::string());
        const auto fallbacks = log.of_type("fallback");
        QCOMPARE(fallbacks.size(), std::size_t{1});
        QCOMPARE(fallbacks[0]["rung"], Json("data"));
    }
};

QTEST_GUILESS_MAIN(TestDeviceData)
#include "tst_device_data.moc"
