// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "schema_check.h"
#include "worker/protocol.h"

#include <QtTest>
#include <cmath>
#include <limits>
#include <random>

using namespace espalier;
using namespace espalier::protocol;

namespace {

struct Received {
    std::vector<Json> messages;
    std::vector<std::string> noise;
    LineReader reader{[this](Json message) { messages.push_back(std::move(message)); },
                      [this](std::string_view text) { noise.emplace_back(text); }};
};

std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const auto& line : lines)
        all += line;
    return all;
}

Json round_trip(const Json& message) {
    Received received;
    received.reader.feed(joined(to_lines(message)));
    return received.messages.size() == 1 && received.noise.empty() ? received.messages.front() : Json();
}

Json steps_event(std::int64_t first, std::size_t count) {
    auto event = make_event("steps");
    event["step"] = first;
    for (std::size_t i = 0; i < count; ++i) {
        event["loss"].push_back(1.0 / static_cast<double>(first + static_cast<std::int64_t>(i)));
        event["accuracy"].push_back(0.123456789012345);
    }
    return event;
}

} // namespace

class TestProtocol : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_message_survives_the_line() {
        const Json message = {{"id", 7}, {"request", "scan"}, {"data", "folder:/ü \"x\"\n\t\\"}, {"n", 1e-300}};
        QCOMPARE(round_trip(message), message);
    }

    void non_finite_numbers_are_names() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        Json event = make_event("steps");
        event["step"] = 1;
        event["loss"] = {0.5, std::nan(""), infinity, -infinity};
        const auto line = to_lines(event).front();
        QVERIFY(line.find("[0.5,\"NaN\",\"Infinity\",\"-Infinity\"]") != std::string::npos);
        const auto back = round_trip(event);
        QVERIFY(std::isnan(to_double(back["loss"][1])));
        QCOMPARE(to_double(back["loss"][2]), infinity);
        QCOMPARE(to_double(back["loss"][3]), -infinity);
        QCOMPARE(number_at({{"x", "NaN"}}, "absent", 3.0), 3.0);
        QVERIFY(std::isnan(number_at({{"x", "NaN"}}, "x", 3.0)));
        QCOMPARE(number_at({{"x", "text"}}, "x", 3.0), 3.0);
    }

    /// However the bytes are cut, the messages are the same.
    void any_split_gives_the_same_messages() {
        std::string bytes;
        for (int i = 0; i < 50; ++i)
            bytes += joined(to_lines({{"id", i}, {"text", std::string(static_cast<std::size_t>(i * 7 % 40), 'x')}}));
        std::mt19937 random(1);
        for (int round = 0; round < 200; ++round) {
            Received received;
            for (std::size_t at = 0; at < bytes.size();) {
                const auto length = std::min<std::size_t>(bytes.size() - at, 1 + random() % 90);
                received.reader.feed(std::string_view(bytes).substr(at, length));
                at += length;
            }
            QCOMPARE(received.messages.size(), std::size_t{50});
            for (int i = 0; i < 50; ++i)
                QCOMPARE(received.messages[static_cast<std::size_t>(i)]["id"], Json(i));
        }
    }

    void carriage_returns_and_empty_lines_are_accepted() {
        Received received;
        received.reader.feed("{\"a\":1}\r\n\r\n\n{\"a\":2}\r\n");
        QCOMPARE(received.messages.size(), std::size_t{2});
        QCOMPARE(received.reader.skipped(), std::size_t{0});
    }

    void the_tail_is_a_line() {
        Received received;
        received.reader.feed("{\"a\":1}\n{\"a\":2}");
        QCOMPARE(received.messages.size(), std::size_t{1});
        received.reader.finish();
        QCOMPARE(received.messages.size(), std::size_t{2});
        received.reader.feed("{\"a\":");
        received.reader.finish();
        QCOMPARE(received.messages.size(), std::size_t{2});
        QCOMPARE(received.reader.skipped(), std::size_t{1});
    }

    void noise_is_counted_kept_and_skipped() {
        Received received;
        received.reader.feed("Loading library...\n42\n[1,2]\n{\"a\":1}\n{\"a\":\n\"text\"\n{\"a\":2}\n");
        QCOMPARE(received.messages.size(), std::size_t{2});
        QCOMPARE(received.reader.skipped(), std::size_t{5});
        QCOMPARE(received.noise.front(), std::string("Loading library..."));
    }

    void a_line_too_long_is_skipped_without_being_kept() {
        Received received;
        const std::string piece(64 * 1024, 'x');
        received.reader.feed("{\"a\":\"");
        for (int i = 0; i < 160; ++i) // 10 MiB
            received.reader.feed(piece);
        received.reader.feed("\"}\n{\"a\":2}\n");
        QCOMPARE(received.reader.skipped(), std::size_t{1});
        QCOMPARE(received.messages.size(), std::size_t{1});
        QVERIFY(received.noise.front().size() <= 4096);
        const auto whole = "{\"a\":\"" + std::string(max_line, 'x') + "\"}\n{\"a\":3}\n";
        received.reader.feed(whole);
        QCOMPARE(received.reader.skipped(), std::size_t{2});
        QCOMPARE(received.messages.back()["a"], Json(3));
    }

    void invalid_utf8_survives() {
        Received received;
        received.reader.feed("{\"text\":\"a\xff\xc3(\xed\xa0\x80z\"}\n");
        QCOMPARE(received.messages.size(), std::size_t{1});
        QCOMPARE(received.messages[0]["text"].get<std::string>(),
                 std::string("a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"));
        const auto line = to_lines({{"id", 1}, {"text", "b\xff"}}).front();
        QVERIFY(line.find("b\xef\xbf\xbd") != std::string::npos);
    }

    void deep_nesting_is_refused() {
        const std::string deep = "{\"a\":" + std::string(200000, '[') + std::string(200000, ']') + "}";
        QVERIFY(!parse_line(deep));
        QVERIFY(parse_line("{\"a\":\"" + std::string(1000, '[') + "\"}"));
    }

    void a_long_answer_comes_in_parts() {
        Reply reply{3, Reply::Kind::answer, {{"kind", "folder"}, {"images", 90000}}};
        for (int i = 0; i < 90000; ++i)
            reply.body["bad"].push_back(
                {{"file", "folder/" + std::to_string(i) + ".jpg"}, {"reason", "half a \"JPEG\""}});
        std::string text;
        for (int i = 0; text.size() < 3 * max_line; ++i)
            text += "\xe6\xa0\x91\n" + std::to_string(i);
        reply.body["base64"] = text;

        const auto lines = to_lines(to_message(reply));
        QVERIFY(lines.size() > 5);
        Json whole = Json::object();
        for (const auto& line : lines) {
            QVERIFY(line.size() < max_line);
            const auto part = to_reply(*parse_line(std::string_view(line).substr(0, line.size() - 1)));
            QVERIFY(part && part->id == 3);
            QCOMPARE(part->kind == Reply::Kind::answer, &line == &lines.back());
            join_part(whole, part->body);
        }
        QCOMPARE(whole.size(), reply.body.size());
        for (const auto& [key, value] : reply.body.items())
            QVERIFY2(whole.at(key) == value, key.c_str());
    }

    void a_long_event_keeps_every_step() {
        const auto event = steps_event(100, 100000);
        const auto lines = to_lines(event);
        QVERIFY(lines.size() > 1);
        std::vector<double> loss;
        std::int64_t next = 100;
        for (const auto& line : lines) {
            QVERIFY(line.size() < max_event);
            const auto piece = *parse_line(std::string_view(line).substr(0, line.size() - 1));
            QCOMPARE(piece["step"], Json(next));
            QCOMPARE(piece["loss"].size(), piece["accuracy"].size());
            next = last_step(piece) + 1;
            for (const auto& value : piece["loss"])
                loss.push_back(to_double(value));
        }
        QCOMPARE(loss.size(), std::size_t{100000});
        QCOMPARE(loss.back(), to_double(event["loss"].back()));
    }

    void other_long_events_are_continued_or_cut() {
        auto plan = make_event("plan");
        plan["parameters"] = 5;
        for (int i = 0; i < 60000; ++i)
            plan["layers"].push_back({{"layer", "blocks." + std::to_string(i)}});
        const auto lines = to_lines(plan);
        std::size_t layers = 0;
        for (const auto& line : lines) {
            const auto piece = *parse_line(std::string_view(line).substr(0, line.size() - 1));
            QCOMPARE(flag_at(piece, "continued"), &line != &lines.front());
            layers += piece["layers"].size();
        }
        QCOMPARE(layers, std::size_t{60000});

        auto warning = make_event("warning");
        warning["text"] = std::string(2 * max_line, 'w');
        const auto cut = to_lines(warning);
        QCOMPARE(cut.size(), std::size_t{1});
        QVERIFY(cut.front().size() < 20000);
    }

    void requests_and_replies_round_trip() {
        const Request request{9, "plan", {{"config", {{"preset", "quick"}}}}};
        const auto back = to_request(round_trip(to_message(request)));
        QCOMPARE(back.id, request.id);
        QCOMPARE(back.name, request.name);
        QCOMPARE(back.arguments, request.arguments);
        QVERIFY_EXCEPTION_THROWN((void)to_request({{"request", "plan"}}), ConfigError);
        QVERIFY_EXCEPTION_THROWN((void)to_request({{"id", "9"}, {"request", "plan"}}), ConfigError);

        const auto reply = to_reply(round_trip(to_message(error_reply(4, "no", 3))));
        QVERIFY(reply && reply->kind == Reply::Kind::error && reply->id == 4);
        QCOMPARE(reply->body, Json({{"text", "no"}, {"code", 3}}));
        QVERIFY(!to_reply(make_event("hello")));
    }

    void only_the_same_major_version_talks() {
        check_version("1.0");
        check_version("1.27");
        check_version("1");
        for (const char* other : {"2.0", "0.9", "", "one", "1x"}) {
            try {
                check_version(other);
                QFAIL(other);
            } catch (const ConfigError& error) {
                QVERIFY(std::string(error.what()).find(version) != std::string::npos);
                QVERIFY(QString(error.what()).contains(QString("\"%1\"").arg(other)));
            }
        }
    }

    /// No run is said to be right in 0 % of the images because none was looked at.
    void there_is_a_best_once_there_was_one() {
        const auto best = best_at({{"best_accuracy", 0.25}, {"best_epoch", 3}});
        QVERIFY(best && best->accuracy == 0.25 && best->epoch == 3);
        QVERIFY(best_at({{"best_accuracy", 0.0}, {"best_epoch", 1}})); // every image told wrong
        for (const auto& none :
             {Json::object(), Json{{"best_accuracy", 0.0}, {"best_epoch", 0}}, Json{{"best_accuracy", 0.5}},
              Json{{"best_accuracy", "NaN"}, {"best_epoch", 1}}, Json{{"best_accuracy", nullptr}, {"best_epoch", 1}}})
            QVERIFY2(!best_at(none), none.dump().c_str());
    }

    void the_schema_tells_good_lines_from_bad() {
        const SchemaCheck schema(ESPALIER_SCHEMA);
        QCOMPARE(schema.event_fault(steps_event(1, 3)), std::string());
        QVERIFY(!schema.event_fault({{"type", "steps"}}).empty());
        auto event = make_event("phase");
        QVERIFY(!schema.event_fault(event).empty());
        event["phase"] = "sleeping";
        QVERIFY(!schema.event_fault(event).empty());
        event["phase"] = "training";
        QCOMPARE(schema.event_fault(event), std::string());
        event["step"] = -1;
        QVERIFY(!schema.event_fault(event).empty());
        QCOMPARE(schema.event_fault(make_event("of tomorrow")), std::string());
        QCOMPARE(schema.fault(to_message(Request{1, "probe", Json::object()}), "request"), std::string());
        QCOMPARE(schema.fault(to_message(error_reply(1, "no", 2)), "reply"), std::string());
    }
};

QTEST_GUILESS_MAIN(TestProtocol)
#include "tst_protocol.moc"
