// SPDX-License-Identifier: Apache-2.0
// misbehaving_worker MODE FOLDER: a worker as bad as workers get, for the supervisor's tests. It trains nothing; it
// keeps the number of its starts in FOLDER/starts.
#include "unkillable.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

namespace {

std::atomic<bool> stop_wanted{false};
std::atomic<bool> input_ended{false};
std::atomic<bool> pause_heard{false}, resume_heard{false};

void say(const std::string& line) { std::cout << line << '\n' << std::flush; }

void say_steps(int first, int last) {
    std::string losses;
    for (int step = first; step <= last; ++step)
        losses += (step > first ? "," : "") + std::string("0.5");
    say(R"({"type":"steps","time":1,"step":)" + std::to_string(first) + R"(,"loss":[)" + losses + "]}");
}

void say_hello() {
    say(R"({"type":"hello","time":1,"protocol":"1.0","build":"test","capabilities":[],"pid":1})");
    say(R"({"type":"phase","time":1,"phase":"training","step":0})");
}

int say_bye(int code) {
    say(R"({"type":"bye","time":1,"code":)" + std::to_string(code) + "}");
    return code;
}

void listen_to_commands() {
    std::thread([] {
        for (std::string line; std::getline(std::cin, line);) {
            pause_heard = pause_heard || line.find("pause") != std::string::npos;
            resume_heard = resume_heard || line.find("resume") != std::string::npos;
            if (line.find("stop") != std::string::npos)
                stop_wanted = true;
            else
                say(R"({"type":"warning","time":1,"text":"heard )" + line.substr(line.find(':') + 2, 5) + "\"}");
        }
        input_ended = true;
    }).detach();
}

int count_start(const std::string& folder) {
    int starts = 0;
    std::ifstream(folder + "/starts") >> starts;
    std::ofstream(folder + "/starts") << ++starts;
    return starts;
}

[[noreturn]] void sleep_for_ever() {
    for (;;)
        std::this_thread::sleep_for(std::chrono::seconds(1));
}

template <class Condition>
void wait_for(Condition condition) {
    while (!condition())
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3)
        return 2;
    const std::string mode = argv[1];
    const int starts = count_start(argv[2]);
    listen_to_commands();

    if (mode == "wrong_version") {
        say(R"({"type":"hello","time":1,"protocol":"2.0","build":"test","capabilities":[],"pid":1})");
        sleep_for_ever();
    }
    say_hello();
    if (mode == "noise") {
        say("Loading a library that greets everybody");
        say("{\"type\":\"steps\"");
        std::cout << "{\"type\":\"warning\",\"time\":1,\"text\":\"a\xff\xfe\"}\r\n";
        say("{\"type\":\"warning\",\"time\":1,\"text\":\"" + std::string(10 << 20, 'x') + "\"}");
        say_steps(1, 10);
        return say_bye(0);
    }
    if (mode == "flood") {
        const std::string line = "a warning that comes with every image" + std::string(200, '.') + "\n";
        for (int i = 0; i < 100000; ++i)
            std::cerr << line;
        say_steps(1, 10);
        return say_bye(0);
    }
    if (mode == "half_line") {
        say_steps(1, 10);
        std::cout << R"({"type":"steps","time":1,"step":11,"lo)" << std::flush;
        return 1;
    }
    if (mode == "exit1") {
        std::cerr << "terminate called after throwing an instance of 'std::runtime_error'\n";
        return 1;
    }
    if (mode == "crash_once") {
        if (starts == 1) {
            say_steps(1, 150);
            std::raise(SIGSEGV);
        }
        say_steps(101, 200);
        return say_bye(0);
    }
    if (mode == "crash_always")
        std::abort();
    if (mode == "crash_off_the_cpu") {
        std::ifstream stream(std::string(argv[2]) + "/config.json");
        const std::string config{std::istreambuf_iterator<char>(stream), {}};
        if (config.find("\"cpu\"") == std::string::npos)
            std::abort();
        say_steps(1, 10);
        return say_bye(0);
    }
    if (mode == "device_fault")
        return say_bye(starts <= 2 ? 4 : 0);
    if (mode == "strange_change" && starts == 1) {
        say(R"({"type":"bye","time":1,"code":1,"next":["a list"]})");
        return 1;
    }
    if (mode == "strange_change")
        return say_bye(0);
    if (mode == "hang_once") {
        say_steps(1, 5);
        if (starts == 1)
            sleep_for_ever();
        say_steps(6, 10);
        return say_bye(0);
    }
    if (mode == "endless_steps") {
        for (int step = 1; !stop_wanted && !input_ended; ++step) {
            say_steps(step, step);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return stop_wanted ? say_bye(6) : say_bye(1);
    }
    if (mode == "bye_and_stay") {
        std::signal(SIGTERM, SIG_IGN);
        say_steps(1, 10);
        say_bye(0);
        sleep_for_ever();
    }
    if (mode == "dies_before_the_pause") {
        wait_for([] { return pause_heard.load(); });
        if (starts == 1)
            std::raise(SIGKILL);
        say(R"({"type":"phase","time":1,"phase":"paused"})");
        wait_for([] { return stop_wanted.load(); });
        return say_bye(6);
    }
    if (mode == "dies_after_the_pause") {
        if (starts > 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(300)); // for a command that must not come
            return say_bye(pause_heard ? 1 : 0);
        }
        wait_for([] { return pause_heard.load(); });
        say(R"({"type":"phase","time":1,"phase":"paused"})");
        wait_for([] { return resume_heard.load(); });
        std::raise(SIGKILL);
    }
    if (mode == "unkillable") {
        const std::string folder = argv[2];
        espalier::test::become_unkillable(
            folder + "/hold", [&](const char* how) { std::ofstream(folder + "/how") << how << std::flush; });
        say_steps(1, 10);
        sleep_for_ever();
    }
    if (mode == "deaf_to_stop") {
        wait_for([] { return input_ended.load(); });
        return 1;
    }
    if (mode == "interrupted_by_the_end_of_input" || mode == "finished_by_the_end_of_input") {
        wait_for([] { return input_ended.load(); });
        const bool finished = mode[0] == 'f';
        say(std::string(R"({"type":"phase","time":1,"phase":")") + (finished ? "finished" : "interrupted") + "\"}");
        return say_bye(finished ? 0 : 1);
    }
    if (mode == "deaf") {
        std::signal(SIGTERM, SIG_IGN);
        sleep_for_ever();
    }
    if (mode == "cannot_save") {
        wait_for([] { return stop_wanted.load(); });
        say(R"({"type":"phase","time":1,"phase":"failed","reason":"The disk is full."})");
        say(R"({"type":"bye","time":1,"code":1,"reason":"The disk is full."})");
        return 1;
    }
    if (mode == "slow_stop") {
        wait_for([] { return stop_wanted.load(); });
        say(R"({"type":"phase","time":1,"phase":"saving"})");
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return say_bye(6);
    }
    return 2;
}
