// SPDX-License-Identifier: Apache-2.0
#include "worker/command_queue.h"
#include "worker/event_writer.h"
#include "worker/protocol.h"

#include <QtTest>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace espalier;
using namespace std::chrono_literals;

namespace {

/// A reader that takes lines only while its gate is open.
class SlowReader {
public:
    bool take(std::string_view line) {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [this] { return open_; });
        lines_.emplace_back(line);
        return sound_;
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    void break_channel() {
        const std::lock_guard lock(mutex_);
        sound_ = false;
    }
    [[nodiscard]] std::vector<Json> events(const std::string& type = "") {
        const std::lock_guard lock(mutex_);
        std::vector<Json> found;
        for (const auto& line : lines_)
            if (const auto event = protocol::parse_line(std::string_view(line).substr(0, line.size() - 1));
                event && (type.empty() || event->at("type") == type))
                found.push_back(*event);
        return found;
    }
    [[nodiscard]] EventWriter::Channel channel() {
        return [this](std::string_view line) { return take(line); };
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
    bool sound_ = true;
    std::vector<std::string> lines_;
};

Json steps(std::int64_t first, int count) {
    Json event = make_event("steps");
    event["step"] = first;
    event["epoch"] = 0.0;
    for (const char* column : {"loss", "accuracy", "learning_rate", "seconds"})
        for (int i = 0; i < count; ++i)
            event[column].push_back(static_cast<double>(first + i));
    return event;
}

Json resources(std::int64_t step) {
    Json event = make_event("resources");
    event["step"] = step;
    return event;
}

} // namespace

class TestEventWriter : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_reader_that_sleeps_holds_up_nobody_and_loses_no_step();
    void a_gap_in_the_steps_is_kept();
    void a_heartbeat_tells_step_and_phase();
    void a_reader_that_never_wakes_does_not_keep_the_worker();
    void a_broken_channel_ends_the_writing();
    void commands_come_in_order();
};

void TestEventWriter::a_reader_that_sleeps_holds_up_nobody_and_loses_no_step() {
    SlowReader reader;
    EventWriter writer(reader.channel(), 1h);
    writer.send(make_event("hello"));
    for (int i = 0; i < 20'000; ++i) {
        writer.send(steps(1 + 2 * i, 2));
        if (i % 100 == 0)
            writer.send(resources(i));
    }
    writer.send(make_event("bye"));
    reader.open();
    QVERIFY(writer.close(60s));

    std::int64_t next = 1;
    for (const auto& event : reader.events("steps")) {
        QCOMPARE(event.at("step").get<std::int64_t>(), next);
        for (const auto& loss : event.at("loss"))
            QCOMPARE(loss.get<double>(), static_cast<double>(next++));
    }
    QCOMPARE(next, 40'001);
    // Waiting samples of resources give way to newer ones; steps join. (One of each may have been on its way already.)
    QVERIFY(reader.events("resources").size() <= 2);
    QCOMPARE(reader.events("resources").back().at("step"), Json(19'900));
    QCOMPARE(reader.events().front().at("type"), Json("hello"));
    QCOMPARE(reader.events().back().at("type"), Json("bye"));
}

void TestEventWriter::a_gap_in_the_steps_is_kept() {
    SlowReader reader;
    EventWriter writer(reader.channel(), 1h);
    writer.send(steps(1, 3));
    writer.send(steps(10, 2)); // after a resume, say
    reader.open();
    QVERIFY(writer.close(60s));
    const auto events = reader.events("steps");
    QCOMPARE(events.size(), std::size_t{2});
    QCOMPARE(events[1].at("step"), Json(10));
}

void TestEventWriter::a_heartbeat_tells_step_and_phase() {
    SlowReader reader;
    reader.open();
    EventWriter writer(reader.channel(), 5ms);
    Json phase = make_event("phase");
    phase["phase"] = "training";
    writer.send(phase);
    writer.send(steps(5, 3));
    QTRY_VERIFY(!reader.events("heartbeat").empty() && reader.events("heartbeat").back().at("step") == 7);
    QCOMPARE(reader.events("heartbeat").back().at("phase"), Json("training"));
    QVERIFY(writer.close(60s)); // a writer that just goes leaves its thread behind, and the reader here goes too
}

void TestEventWriter::a_reader_that_never_wakes_does_not_keep_the_worker() {
    // The stuck thread outlives the writer, and so must what it uses.
    const auto reader = std::make_shared<SlowReader>();
    {
        EventWriter writer([reader](std::string_view line) { return reader->take(line); }, 1h);
        writer.send(make_event("hello"));
        QVERIFY(!writer.close(20ms));
    }
    reader->open();
    QTRY_COMPARE(reader->events().size(), std::size_t{1});
}

void TestEventWriter::a_broken_channel_ends_the_writing() {
    SlowReader reader;
    reader.break_channel();
    reader.open();
    EventWriter writer(reader.channel(), 1h);
    for (int i = 0; i < 100; ++i)
        writer.send(make_event("warning"));
    QVERIFY(writer.close(60s));
    QVERIFY(reader.events().size() < 100);
}

void TestEventWriter::commands_come_in_order() {
    CommandQueue queue;
    QVERIFY(!queue.poll());
    std::thread other([&] {
        for (const char* name : {"pause", "resume", "checkpoint", "stop"})
            queue.push(*command_named(name));
    });
    std::vector<Command> taken;
    while (taken.size() < 4)
        if (const auto command = queue.wait(10s))
            taken.push_back(*command);
    other.join();
    QCOMPARE(taken, (std::vector{Command::pause, Command::resume, Command::checkpoint, Command::stop}));
    QVERIFY(!command_named("grow"));
}

QTEST_GUILESS_MAIN(TestEventWriter)
#include "tst_event_writer.moc"
