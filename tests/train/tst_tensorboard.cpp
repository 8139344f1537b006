// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files, read by a reader that is written from the format's description alone.
#include "io/tensorboard_events.h"
#include "train/tensorboard_log.h"
#include "train_support.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

using namespace espalier;
using namespace espalier::test;

namespace {

/// CRC-32C by long division, bit after bit.
std::uint32_t crc32c(const std::string& bytes) {
    std::uint32_t remainder = 0xffffffff;
    for (const unsigned char byte : bytes) {
        remainder ^= byte;
        for (int i = 0; i < 8; ++i)
            remainder = (remainder >> 1) ^ ((remainder & 1) ? 0x82f63b78 : 0);
    }
    return ~remainder;
}

std::uint64_t little_endian(const std::string& bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes.at(at + i))} << (8 * i);
    return value;
}

std::uint32_t unmasked(std::uint64_t masked) {
    const auto rotated = static_cast<std::uint32_t>(masked - 0xa282ead8u);
    return rotated >> 17 | rotated << 15;
}

/// The messages of a file; throws where a frame is wrong.
std::vector<std::string> records(const std::string& bytes) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < bytes.size();) {
        const auto length = little_endian(bytes, at, 8);
        if (crc32c(bytes.substr(at, 8)) != unmasked(little_endian(bytes, at + 8, 4)))
            throw std::runtime_error("wrong CRC of a length");
        const auto message = bytes.substr(at + 12, length);
        if (message.size() != length || crc32c(message) != unmasked(little_endian(bytes, at + 12 + length, 4)))
            throw std::runtime_error("wrong CRC of a message");
        found.push_back(message);
        at += 16 + length;
    }
    return found;
}

struct Field {
    int number = 0, type = 0;
    std::uint64_t value = 0; ///< of types 0, 1 and 5
    std::string bytes;       ///< of type 2
};

std::vector<Field> fields(const std::string& message) {
    std::vector<Field> found;
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(message.at(at++));
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80)
                return value;
        }
    };
    while (at < message.size()) {
        const auto key = varint();
        Field field{.number = static_cast<int>(key >> 3), .type = static_cast<int>(key & 7)};
        if (field.type == 0)
            field.value = varint();
        else if (field.type == 2) {
            const auto size = varint();
            field.bytes = message.substr(at, size);
            at += size;
        } else {
            const std::size_t size = field.type == 1 ? 8 : 4;
            field.value = little_endian(message, at, size);
            at += size;
        }
        found.push_back(field);
    }
    return found;
}

struct Read {
    std::string version;                                         ///< of the first message
    std::int64_t session_start = 0;                              ///< step of a SessionLog START
    std::map<std::string, std::map<std::int64_t, float>> values; ///< by tag and step
    double time = 0;
};

Read read(const std::string& bytes) {
    Read all;
    bool first = true;
    for (const auto& message : records(bytes)) {
        std::int64_t step = 0;
        for (const auto& field : fields(message)) {
            if (field.number == 1)
                all.time = std::bit_cast<double>(field.value);
            else if (field.number == 2)
                step = static_cast<std::int64_t>(field.value);
            else if (field.number == 3 && first)
                all.version = field.bytes;
            else if (field.number == 7 && fields(field.bytes).at(0).value == 1)
                all.session_start = step;
            else if (field.number == 5)
                for (const auto& value : fields(field.bytes)) {
                    const auto parts = fields(value.bytes);
                    if (parts.at(0).number != 1 || parts.at(1).number != 2 || parts.at(1).type != 5)
                        throw std::runtime_error("no tag and simple_value");
                    all.values[parts[0].bytes][step] = std::bit_cast<float>(static_cast<std::uint32_t>(parts[1].value));
                }
        }
        first = false;
    }
    return all;
}

std::vector<Read> files_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path());
    std::ranges::sort(names);
    std::vector<Read> found;
    for (const auto& name : names) {
        if (!name.filename().string().starts_with("events.out.tfevents."))
            throw std::runtime_error("TensorBoard would not find " + name.string());
        std::ostringstream text;
        text << std::ifstream(name, std::ios::binary).rdbuf();
        found.push_back(read(text.str()));
    }
    return found;
}

Json steps_event(std::int64_t first, std::size_t count) {
    auto event = make_event("steps");
    event["step"] = first;
    for (std::size_t i = 0; i < count; ++i) {
        event["loss"].push_back(static_cast<double>(first) + static_cast<double>(i));
        event["accuracy"].push_back(0.5);
        event["learning_rate"].push_back(0.1);
    }
    return event;
}

} // namespace

class TestTensorBoard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void the_reader_knows_the_check_value() { QCOMPARE(crc32c("123456789"), 0xe3069283u); }

    void messages_have_the_fields_of_the_format() {
        using namespace tensorboard;
        const std::vector<Scalar> scalars = {{"loss/train", 0.25}, {"ü", -1e30}, {"nan", std::nan("")}};
        const auto bytes = record(version_event(1e9)) + record(session_start(1e9, 301)) +
                           record(scalar_event(1764334800.125, 300, scalars)) +
                           record(scalar_event(1764334800.125, std::int64_t{1} << 40, scalars));
        const auto found = read(bytes);
        QCOMPARE(found.version, std::string("brain.Event:2"));
        QCOMPARE(found.session_start, std::int64_t{301});
        QCOMPARE(found.time, 1764334800.125);
        QCOMPARE(found.values.at("loss/train").at(300), 0.25F);
        QCOMPARE(found.values.at("ü").at(std::int64_t{1} << 40), -1e30F);
        QVERIFY(std::isnan(found.values.at("nan").at(300)));
        for (const std::size_t at : {0, 9, 14, 30}) { // the reader sees damage
            auto hurt = bytes;
            hurt[at] ^= 1;
            QVERIFY_EXCEPTION_THROWN(read(hurt), std::exception);
        }
    }

    void a_run_leaves_what_its_events_say() {
        SmallRun run;
        EventLog log;
        QCOMPARE(run.fault_of_training(log), std::string());
        const auto files = files_of(run.folder().tensorboard());
        QCOMPARE(files.size(), std::size_t{1});
        const auto& values = files[0].values;
        QCOMPARE(files[0].session_start, std::int64_t{1});
        const auto steps = log.steps();
        const auto loss = log.column("loss"), accuracy = log.column("accuracy"), rate = log.column("learning_rate");
        QCOMPARE(values.at("loss/train").size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(values.at("loss/train").at(steps[i]), static_cast<float>(loss[i].get<double>()));
            QCOMPARE(values.at("accuracy/train").at(steps[i]), static_cast<float>(accuracy[i].get<double>()));
            QCOMPARE(values.at("learning_rate").at(steps[i]), static_cast<float>(rate[i].get<double>()));
        }
        for (const auto& event : log.of_type("evaluation")) {
            const auto set = event.at("set").get<std::string>();
            QCOMPARE(values.at("accuracy/" + set).at(event.at("step")), event.at("accuracy").get<float>());
            QCOMPARE(values.at("loss/" + set).at(event.at("step")), event.at("loss").get<float>());
        }
        QVERIFY(!values.at("memory").empty());
        QVERIFY(!values.at("gflops").empty());
    }

    void a_resumed_run_goes_on_in_a_new_file() {
        SmallRun run;
        EventLog first, second;
        QCOMPARE(run.train(first, CommandAt(9, Command::stop)).phase, std::string("stopped"));
        QCOMPARE(run.fault_of_training(second), std::string());
        const auto files = files_of(run.folder().tensorboard());
        QCOMPARE(files.size(), std::size_t{2});
        const auto& before = files[0].values.at("loss/train");
        const auto& after = files[1].values.at("loss/train");
        QCOMPARE(before.rbegin()->first + 1, after.begin()->first);
        QCOMPARE(files[1].session_start, after.begin()->first); // TensorBoard drops what the first may have beyond
        QCOMPARE(after.rbegin()->first, second.steps().back());
    }

    /// It died before its first checkpoint: the next one begins anew, and TensorBoard has to forget the first one's
    /// steps.
    void a_run_that_begins_again_says_so() {
        QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString()) / "tensorboard";
        for (int start = 0; start < 2; ++start) {
            TensorBoardLog log(path);
            auto back = make_event("superseded");
            back["from_step"] = 0;
            log.take(back);
            log.take(steps_event(1, 5));
        }
        const auto files = files_of(path);
        QCOMPARE(files.size(), std::size_t{2});
        QCOMPARE(files[1].session_start, std::int64_t{1});
        QCOMPARE(files[1].values.at("loss/train").size(), std::size_t{5});
    }

    void it_can_be_turned_off() {
        SmallRun run({"tensorboard=false"});
        EventLog log;
        QCOMPARE(run.fault_of_training(log), std::string());
        QVERIFY(!std::filesystem::exists(run.folder().tensorboard()));
    }

    void long_runs_are_thinned_and_evaluations_are_not() {
        QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString()) / "tensorboard";
        {
            TensorBoardLog log(path);
            auto plan = make_event("plan");
            plan["steps_per_epoch"] = 35'000;
            plan["epochs"] = 2; // every 7th step
            log.take(plan);
            for (std::int64_t step = 1; step <= 70'000; step += 1000)
                log.take(steps_event(step, 1000));
            for (std::int64_t step = 1; step < 20; ++step) {
                auto evaluation = make_event("evaluation");
                evaluation.update({{"step", step}, {"set", "validation"}, {"loss", "NaN"}, {"accuracy", 0.5}});
                log.take(evaluation);
            }
        }
        const auto files = files_of(path);
        QCOMPARE(files.size(), std::size_t{1});
        const auto& loss = files[0].values.at("loss/train");
        QCOMPARE(loss.size(), std::size_t{TensorBoardLog::most_steps});
        for (const auto& [step, value] : loss) {
            QCOMPARE(step % 7, std::int64_t{0});
            QCOMPARE(value, static_cast<float>(step));
        }
        QCOMPARE(files[0].values.at("accuracy/validation").size(), std::size_t{19});
        QVERIFY(std::isnan(files[0].values.at("loss/validation").at(3)));
    }

    void a_place_that_cannot_be_written_is_told_once_and_the_run_goes_on() {
        SmallRun run;
        std::ofstream(run.folder().tensorboard()) << "a file in its place";
        EventLog log;
        QCOMPARE(run.fault_of_training(log), std::string());
        int told = 0;
        for (const auto& event : log.of_type("warning"))
            told += event.at("text").get<std::string>().find("tensorboard") != std::string::npos;
        QCOMPARE(told, 1);
    }
};

QTEST_GUILESS_MAIN(TestTensorBoard)
#include "tst_tensorboard.moc"
