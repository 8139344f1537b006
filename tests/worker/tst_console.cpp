// SPDX-License-Identifier: Apache-2.0
#include "worker/console.h"
#include "worker/protocol.h"

#include <QtTest>

using namespace espalier;

namespace {

Json make(const char* type, Json fields) {
    auto made = protocol::make_event(type);
    made.update(fields);
    return made;
}

struct Shown {
    std::string text;
    Console console;
    explicit Shown(bool terminal) : console([this](std::string_view piece) { text += piece; }, terminal, 80) {
        console.show(make("plan", {{"parameters", 24058},
                                   {"epochs", 2},
                                   {"steps_per_epoch", 10},
                                   {"batch", 64},
                                   {"memory", {{"total", 3 << 20}}},
                                   {"device", "cpu"},
                                   {"notes", {"one"}}}));
    }
    void steps(int first, int count) {
        console.show(make("steps", {{"step", first},
                                    {"loss", std::vector<double>(static_cast<std::size_t>(count), 0.5)},
                                    {"accuracy", std::vector<double>(static_cast<std::size_t>(count), 0.75)},
                                    {"seconds", std::vector<double>(static_cast<std::size_t>(count), 2.0)}}));
    }
};

} // namespace

class TestConsole : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void texts_of_numbers() {
        QCOMPARE(Console::clock_text(59.6), std::string("1:00"));
        QCOMPARE(Console::clock_text(187), std::string("3:07"));
        QCOMPARE(Console::clock_text(3729), std::string("1:02:09"));
        QCOMPARE(Console::clock_text(std::nan("")), std::string("?"));
        QCOMPARE(Console::bytes_text(512), std::string("512 B"));
        QCOMPARE(Console::bytes_text(1.5 * (1 << 30)), std::string("1.5 GiB"));
        QCOMPARE(Console::count_text(1234567), std::string("1,234,567"));
        QCOMPARE(Console::count_text(-123), std::string("-123"));
        QCOMPARE(Console::fixed(1e300, 1).size(), std::size_t{303});
        QCOMPARE(Console::fixed(std::nan(""), 1), std::string("NaN"));
        QCOMPARE(Console::scientific(1.4901161193847656e-07), std::string("1.5e-07"));
        QCOMPARE(Console::scientific(0), std::string("0.0e+00"));
    }

    void a_terminal_gets_a_bar_with_the_time_left() {
        Shown shown(true);
        shown.steps(1, 5);
        const auto bar = shown.text.substr(shown.text.rfind('\r') + 1);
        QVERIFY2(bar.size() <= 79, bar.c_str());
        QVERIFY2(bar.starts_with("1/2 [====="), bar.c_str());
        QVERIFY2(bar.find("25.0 %") != std::string::npos, bar.c_str());
        QVERIFY2(bar.find("ETA 0:30") != std::string::npos, bar.c_str()); // 15 steps of 2 s
        shown.console.show(make("warning", {{"text", "hot"}}));
        QVERIFY(shown.text.ends_with("\rWarning: hot\n")); // not behind the bar
    }

    void a_fallback_says_what_it_changes() {
        Shown shown(false);
        const auto told = [&](const char* rung, const char* from, const char* to) {
            shown.text.clear();
            shown.console.show(
                make("fallback", {{"rung", rung}, {"from", from}, {"to", to}, {"reason", "It had to be."}}));
            return shown.text;
        };
        QCOMPARE(told("safe_mode", "off", "on"), std::string("Fallback: safe mode off -> on. It had to be.\n"));
        QCOMPARE(told("recompute", "off", "on"), std::string("Fallback: recompute off -> on. It had to be.\n"));
        QCOMPARE(told("cpu", "auto", "cpu"), std::string("Fallback: backend auto -> cpu. It had to be.\n"));
        QCOMPARE(told("cuda_graphs", "on", "off"), std::string("Fallback: CUDA graphs on -> off. It had to be.\n"));
        QCOMPARE(told("batch", "8", "4, 2 of them an update"),
                 std::string("Fallback: batch 8 -> 4, 2 of them an update. It had to be.\n"));
    }

    void a_pipe_gets_lines_alone() {
        Shown shown(false);
        shown.steps(1, 5);
        shown.console.show(make("epoch", {{"epoch", 1},
                                          {"step", 10},
                                          {"loss", "NaN"},
                                          {"accuracy", 0.5},
                                          {"seconds", 20},
                                          {"images_per_second", 32}}));
        shown.console.show(make("phase", {{"phase", "finished"}}));
        QVERIFY(shown.text.find('\r') == std::string::npos);
        QVERIFY(shown.text.find("24,058 parameters, 3.0 MiB") != std::string::npos);
        QVERIFY(shown.text.find("Epoch 1/2: loss NaN, accuracy 50.0 %, 32 images/s, 0:20\n") != std::string::npos);
        QVERIFY(shown.text.ends_with("Finished.\n"));
    }
};

QTEST_GUILESS_MAIN(TestConsole)
#include "tst_console.moc"
