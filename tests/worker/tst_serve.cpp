// SPDX-License-Identifier: Apache-2.0
// The real espalier-train, as a window uses it: requests and their answers. Its runs are in tst_serve_runs.
#include "schema_check.h"
#include "serve_runs.h"

#include <QTemporaryDir>
#include <QtTest>
#include <cstring>

using namespace espalier;

class TestServe : public QObject {
    Q_OBJECT

    QTemporaryDir runs_;
    const SchemaCheck schema_{ESPALIER_SCHEMA};

    /// The request `overview`: tst_overview has the numbers.
    void stretches_are_answered(ServeProcess& serve, const std::string& run, std::int64_t steps) {
        const auto names = serve.hello().at("capabilities");
        QVERIFY(std::find(names.begin(), names.end(), "overview") != names.end());
        const auto ask = [&](Json more) {
            Json arguments{{"path", run}, {"packed", {"loss"}}};
            arguments.update(more);
            return serve.get("overview", arguments);
        };
        const auto form = [&](const Json& overview) {
            const auto fault = schema_.fault(overview, "overview");
            return fault.empty() ? Json{overview.at("first"), overview.at("steps"), overview.at("width")} : Json(fault);
        };
        QCOMPARE(form(ask({{"first", 70'001}, {"last", 71'000}})), Json({70'001, 71'000, 1}));
        QCOMPARE(form(ask({{"first", 100'001}})), Json({100'001, steps, 49}));
        QCOMPARE(form(ask({{"last", 2048}})), Json({1, 2048, 2}));
        QCOMPARE(form(ask(Json::object())), Json({1, steps, 147}));
        QVERIFY(!ask({{"last", 10}}).at("series").contains("accuracy"));
        const auto smooth = ask({{"first", 70'001}, {"last", 71'000}, {"smoothing", 0.9}});
        QCOMPARE(form(smooth), Json({70'001, 71'000, 1}));
        QVERIFY(smooth.at("series").at("loss").contains("smooth"));
        QVERIFY(std::find(names.begin(), names.end(), "overview.smoothing") != names.end());
        const auto refused = [&](Json more, const char* expected) {
            const auto error = ask(std::move(more)).value("error", Json::object());
            const auto text = QString::fromStdString(error.value("text", "no error"));
            return error.value("code", 0) == 2 && text.contains(QLatin1String(expected)) ? QString() : text;
        };
        for (const Json& bad : {Json(0), Json(-1), Json(1.5), Json("1"), Json(1e99), Json()})
            QCOMPARE(refused({{"first", bad}}, "`first` must be a whole number from 1 to"), QString());
        for (const Json& bad : {Json(-0.1), Json(1), Json("0.9"), Json()})
            QCOMPARE(refused({{"first", 1}, {"smoothing", bad}}, "`smoothing` must be a number from 0"), QString());
        QCOMPARE(refused({{"first", 9}, {"last", 8}}, "`last` must be a whole number from 9 to"), QString());
        QCOMPARE(refused({{"first", steps + 1}}, "whose newest one is 150000; this came: 150001"), QString());
        QCOMPARE(refused({{"packed", "loss"}}, "list of texts `packed`"), QString());
        QCOMPARE(refused({{"path", "/nowhere"}}, "There is no run"), QString());
    }

private Q_SLOTS:
    void it_greets_and_answers_by_the_schema() {
        ServeProcess serve(runs_.path());
        QCOMPARE(QString::fromStdString(schema_.event_fault(serve.hello())), QString());
        const std::pair<const char*, Json> requests[] = {
            {"probe", Json::object()},
            {"presets", Json::object()},
            {"runs", Json::object()},
            {"list", {{"path", runs_.path().toStdString()}}},
            {"scan", {{"data", "synthetic:3x8x8,3,30"}}},
            {"thumbnails", {{"data", "builtin"}, {"count", 3}, {"size", 28}}},
            {"plan", {{"config", tiny_config(2)}}},
        };
        for (const auto& [name, arguments] : requests) {
            const auto answer = serve.get(name, arguments);
            QCOMPARE(QString::fromStdString(schema_.fault(answer, std::string("answer.") + name)), QString());
        }
    }

    void what_cannot_be_answered_is_an_error_with_a_code() {
        ServeProcess serve(runs_.path());
        const auto code = [&](const char* request, const Json& arguments) {
            return serve.get(request, arguments).value("error", Json::object()).value("code", 0);
        };
        QCOMPARE(code("dance", {}), 2);
        QCOMPARE(code("scan", {}), 2);
        QCOMPARE(code("plan", {{"config", {{"preset", "quick"}, {"batch", -1}}}}), 2);
        QCOMPARE(code("plan", {{"config", {{"preset", "none"}}}}), 2);
        QCOMPARE(code("list", {{"path", "/nowhere"}}), 3);
        QCOMPARE(code("start", {{"config", {{"preset", "quick"}, {"colour", "red"}}}}), 2);
        QCOMPARE(code("command", {{"path", "/nowhere"}, {"command", "stop"}}), 2);
        QCOMPARE(code("attach", {{"path", "/nowhere"}}), 2);
        QCOMPARE(code("fetch", {{"path", "/etc/hostname"}}), 2);
        serve.process().write("noise\n{\"id\":999,\"request\":\"runs\"}\n");
        QVERIFY(serve.wait_for(999));
    }

    /// What comes back is what was sent, or words; never another number.
    void an_id_comes_back_as_it_was_sent_or_is_refused_data() {
        QTest::addColumn<QByteArray>("id");
        QTest::addColumn<bool>("taken");
        for (const char* id : {"0", "7", "-3", "9007199254740993", "9223372036854775807", "-9223372036854775808"})
            QTest::newRow(id) << QByteArray(id) << true;
        for (const char* id : {"9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e99", "-1e99",
                               "1.5", "3.0", "\"7\"", "\"\"", "null", "true", "{}", "{\"a\":1}", "[7]", ""})
            QTest::newRow(*id ? id : "missing") << QByteArray(id) << false;
    }
    void an_id_comes_back_as_it_was_sent_or_is_refused() {
        QFETCH(QByteArray, id);
        QFETCH(bool, taken);
        QProcess serve;
        serve.start(ESPALIER_TRAIN, {"serve", "--runs", runs_.path()});
        serve.write(id.isEmpty() ? QByteArray("{\"request\":\"runs\"}\n")
                                 : "{\"id\":" + id + ",\"request\":\"runs\"}\n");
        QList<QByteArray> lines;
        while (lines.size() < 2 && serve.waitForReadyRead(patient))
            while (serve.canReadLine())
                lines.append(serve.readLine());
        serve.closeWriteChannel();
        QVERIFY(serve.waitForFinished(patient));
        QCOMPARE(lines.size(), 2); // hello, and one answer
        const auto answer = Json::parse(lines[1].toStdString());
        QCOMPARE(QString::fromStdString(schema_.fault(answer, "reply")), QString());
        if (taken) {
            QVERIFY2(lines[1].contains("\"id\":" + id + "}") || lines[1].contains("\"id\":" + id + ","), lines[1]);
            QVERIFY2(answer.contains("answer"), lines[1]);
        } else {
            QVERIFY2(answer.at("id").is_null(), lines[1]);
            QCOMPARE(answer.at("error").at("code"), Json(2));
        }
    }

    void arguments_out_of_range_are_refused_in_words() {
        ServeProcess serve(runs_.path());
        const auto text = [&](const char* request, Json arguments) {
            return QString::fromStdString(
                serve.get(request, std::move(arguments)).value("error", Json::object()).value("text", ""));
        };
        for (const Json& count :
             {Json(-1), Json(0), Json(1001), Json(1e99), Json(2.5), Json("many"), Json(), Json({1})}) {
            QVERIFY(text("thumbnails", {{"data", "builtin"}, {"count", count}}).contains("from 1 to 1000"));
            QVERIFY(text("thumbnails", {{"data", "builtin"}, {"size", count}}).contains("from 8 to 512"));
        }
        QVERIFY(text("cancel", Json::object()).contains("`target`"));
        QVERIFY(text("cancel", {{"target", 1e99}}).contains("`target`"));
        QVERIFY(text("start", {{"config", tiny_config(1)}, {"name", 7}}).contains("`name`"));
        QVERIFY(text("resume", {{"path", runs_.path().toStdString()}, {"set", 7}}).size() > 0);
        QVERIFY(text("evaluate", {{"checkpoint", "x"}, {"data", "builtin"}, {"backend", 7}}).contains("`backend`"));
    }

    /// However many slow requests wait, one of another name is answered, and all end when they are cancelled.
    void a_pile_of_slow_requests_starves_no_other() {
        ServeProcess serve(runs_.path());
        std::vector<std::int64_t> slow;
        for (int i = 0; i < 40; ++i)
            slow.push_back(serve.ask("scan", {{"data", "synthetic:3x64x64,10,1000000"}}));
        for (const char* quick : {"runs", "probe", "presets"})
            QVERIFY2(serve.get(quick).contains(quick == std::string("probe") ? "devices" : quick), quick);
        QVERIFY(serve.get("thumbnails", {{"data", "synthetic:1x8x8,2,8"}, {"count", 1}}).contains("images"));
        for (const auto id : slow)
            QVERIFY(!serve.answered(id));
        for (const auto id : slow)
            serve.ask("cancel", {{"target", id}});
        for (const auto id : slow)
            QCOMPARE(serve.answer(id).at("error").at("code"), Json(6));
        // The places are free again.
        QVERIFY(serve.get("scan", {{"data", "synthetic:1x8x8,2,8"}}).contains("images"));
    }

    /// A slow request holds up nobody and ends at once when it is cancelled.
    void a_slow_request_can_be_cancelled() {
        ServeProcess serve(runs_.path());
        const auto slow = serve.ask("scan", {{"data", "synthetic:3x64x64,10,1000000"}});
        QVERIFY(serve.get("presets").contains("presets"));
        QVERIFY(!serve.answered(slow));
        QCOMPARE(serve.get("cancel", {{"target", slow}}), Json::object());
        QVERIFY(serve.answered(slow));
        QCOMPARE(serve.answer(slow).at("error").at("code"), Json(6));
    }

    /// Who asks for columns gets an overview and every step; who does not gets the lines, as ever.
    void a_long_past_comes_packed_to_who_asks() {
        const std::filesystem::path run = runs_.filePath("long-past").toStdString();
        std::filesystem::create_directory(run);
        std::ofstream(run / "config.json") << "{}";
        const std::int64_t steps = 150'000;
        {
            EventLog log(run);
            for (std::int64_t first = 1; first <= steps; first += 100) {
                auto event = protocol::make_event("steps");
                event["step"] = first;
                event["epoch"] = static_cast<double>(first) / 1000;
                for (int i = 0; i < 100; ++i) {
                    event["loss"].push_back(0.1234567890123 + static_cast<double>(first + i));
                    event["accuracy"].push_back(0.1234567890123);
                    event["learning_rate"].push_back(0.1234567890123);
                    event["seconds"].push_back(0.0123456789);
                }
                log.append(event);
                if (first % 10'000 == 1) {
                    auto epoch = protocol::make_event("epoch");
                    epoch["step"] = first + 99;
                    epoch["epoch"] = first / 10'000 + 1;
                    epoch["loss"] = 1;
                    log.append(epoch);
                }
            }
            auto bye = protocol::make_event("bye");
            bye["code"] = 0;
            log.append(bye);
        }
        std::filesystem::remove(run / column_file_name); // a run of an older version
        ServeProcess serve(runs_.path());
        const auto names = serve.hello().at("capabilities");
        QVERIFY(std::find(names.begin(), names.end(), "attach.packed") != names.end());
        const auto packed = serve.ask("attach", {{"path", run.string()}, {"packed", {"loss"}}});
        const auto lines = serve.ask("attach", {{"path", run.string()}});
        QCOMPARE(serve.answer(packed), Json::object());
        QCOMPARE(serve.answer(lines), Json::object());

        int overviews = 0, made = 0;
        for (const auto& progress : serve.progress_of(packed)) {
            made += progress.contains("making_columns");
            if (!progress.contains("overview"))
                continue;
            ++overviews;
            QCOMPARE(QString::fromStdString(schema_.fault(progress.at("overview"), "overview")), QString());
        }
        stretches_are_answered(serve, run.string(), steps);
        QCOMPARE(overviews, 1);
        QVERIFY(made > 0);
        for (const auto& progress : serve.progress_of(lines))
            QVERIFY(progress.contains("caught_up"));

        // in order, the same epochs after the same steps
        const auto told = [&](std::int64_t id) {
            std::vector<double> story;
            for (const auto& event : serve.events_of(id)) {
                if (event.contains("packed")) {
                    const auto fault = schema_.fault(event, "packed." + event.at("type").get<std::string>());
                    if (!fault.empty() || event.contains("accuracy"))
                        qFatal("%s", fault.c_str());
                    const auto bytes =
                        QByteArray::fromBase64(QByteArray::fromStdString(event.at("loss").get<std::string>()));
                    const auto size = static_cast<std::size_t>(bytes.size());
                    std::vector<float> losses(size / sizeof(float));
                    std::memcpy(losses.data(), bytes.constData(), size);
                    story.insert(story.end(), losses.begin(), losses.end());
                } else if (protocol::is_event(event, "steps")) {
                    for (const auto& loss : event.at("loss"))
                        story.push_back(loss.get<float>());
                } else {
                    story.push_back(-protocol::number_at(event, "step"));
                }
            }
            return story;
        };
        QVERIFY(told(packed) == told(lines));
        QVERIFY(serve.events_of(packed).size() < serve.events_of(lines).size());
        QVERIFY(std::filesystem::exists(run / column_file_name));
        std::filesystem::remove_all(run);
    }
};

QTEST_GUILESS_MAIN(TestServe)
#include "tst_serve.moc"
