// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"
#include "base/error.h"
#include "io/checkpoint_folder.h"
#include "io/exports.h"
#include "io/run_folder.h"
#include "io/safetensors.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>

using namespace espalier;
namespace fs = std::filesystem;

namespace {

NetworkSpec network() {
    return NetworkSpec::from_json({{"network", "quick"}, {"channels", 1}, {"height", 8}, {"width", 8}, {"classes", 3}});
}

CheckpointInfo info_at(std::int64_t step) {
    CheckpointInfo info;
    info.network = network();
    info.step = step;
    info.run_state = {{"epoch", 2}, {"best", 0.5}};
    info.class_names = {"T-shirt", "Größe \"7\"", "袋"};
    info.mean = {0.2860405969887955};
    info.deviation = {0.35302424451492237};
    return info;
}

/// A store with optimizer state, different for each step.
ParameterStore store_at(std::int64_t step) {
    ParameterStore store;
    store.add_missing(build_forward(network(), 2, NormMode::training).graph, static_cast<std::uint64_t>(step));
    for (ParameterStore::Entry& entry : store.entries()) {
        if (entry.trained) {
            entry.slots["momentum"] = std::vector<float>(entry.values.size(), static_cast<float>(step));
        }
    }
    return store;
}

void verify_equal(const ParameterStore& a, const ParameterStore& b) {
    QCOMPARE(a.entries().size(), b.entries().size());
    for (std::size_t i = 0; i < a.entries().size(); ++i) {
        const ParameterStore::Entry& x = a.entries()[i];
        const ParameterStore::Entry& y = b.entries()[i];
        QCOMPARE(x.name, y.name);
        QVERIFY(x.shape == y.shape && x.trained == y.trained && x.values == y.values && x.slots == y.slots);
    }
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
}

/// Ends the process, as kill -9 would, at the n-th step of a save; a write is cut in half first.
class DyingOperations : public FileOperations {
public:
    explicit DyingOperations(int steps) : steps_(steps) {}

    std::FILE* open_for_writing(const fs::path& path) override {
        die_if_due();
        return FileOperations::open_for_writing(path);
    }
    std::size_t write(std::FILE* file, const void* data, std::size_t bytes) override {
        if (--steps_ < 0) {
            FileOperations::write(file, data, bytes / 2);
            std::fflush(file);
            ::_exit(9);
        }
        return FileOperations::write(file, data, bytes);
    }
    bool sync(std::FILE* file) override {
        die_if_due();
        return FileOperations::sync(file);
    }
    std::error_code rename(const fs::path& from, const fs::path& to) override {
        die_if_due();
        return FileOperations::rename(from, to);
    }
    void sync_folder(const fs::path& folder) override {
        die_if_due();
        FileOperations::sync_folder(folder);
    }

private:
    void die_if_due() {
        if (--steps_ < 0) {
            ::_exit(9);
        }
    }
    int steps_;
};

class HeldFile : public FileOperations {
public:
    explicit HeldFile(std::string name) : name_(std::move(name)) {}
    std::error_code rename(const fs::path& from, const fs::path& to) override {
        return to.filename() == name_ ? std::make_error_code(std::errc::permission_denied)
                                      : FileOperations::rename(from, to);
    }

private:
    std::string name_;
};

} // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> temporary_;
    fs::path folder_;

    void expect_refused(const fs::path& file, const char* text) {
        try {
            (void)load_checkpoint(file);
            QFAIL("loaded");
        } catch (const CheckpointError& error) {
            QVERIFY2(QString(error.what()).contains(text), error.what());
        }
    }

private Q_SLOTS:
    void init() {
        temporary_ = std::make_unique<QTemporaryDir>();
        folder_ = temporary_->path().toStdString();
    }

    void holds_everything() {
        const ParameterStore store = store_at(150);
        QCOMPARE(save_checkpoint(folder_ / "a.safetensors", info_at(150), store), folder_ / "a.safetensors");
        const Checkpoint loaded = load_checkpoint(folder_ / "a.safetensors");
        verify_equal(loaded.store, store);
        const CheckpointInfo wanted = info_at(150);
        QVERIFY(loaded.info.network.to_json() == wanted.network.to_json());
        QVERIFY(loaded.info.run_state == wanted.run_state);
        QVERIFY(loaded.info.class_names == wanted.class_names);
        QVERIFY(loaded.info.mean == wanted.mean && loaded.info.deviation == wanted.deviation);
        QCOMPARE(loaded.info.step, std::int64_t{150});
        QVERIFY(loaded.info.build.starts_with("espalier "));
        QCOMPARE(read_checkpoint_info(folder_ / "a.safetensors").step, std::int64_t{150});
        const safetensors::Reader raw(folder_ / "a.safetensors");
        QVERIFY(raw.has("blocks.0.conv.weight") && raw.has("optimizer/momentum/blocks.0.conv.weight"));
    }

    /// The same values give the same bytes: runs can be compared by their files.
    void is_deterministic() {
        const auto bytes = [&](const char* name) {
            save_checkpoint(folder_ / name, info_at(3), store_at(3));
            std::ifstream file(folder_ / name, std::ios::binary);
            return std::string(std::istreambuf_iterator<char>(file), {});
        };
        QVERIFY(bytes("a.safetensors") == bytes("b.safetensors"));
    }

    void refuses_what_it_cannot_read() {
        const fs::path good = folder_ / "good.safetensors";
        save_checkpoint(good, info_at(1), store_at(1));
        expect_refused(folder_ / "absent.safetensors", "cannot be opened");

        const std::vector<float> one{1};
        const fs::path plain = folder_ / "plain.safetensors";
        safetensors::write(plain, {safetensors::Item::of("w", {1}, std::span(one))}, {});
        expect_refused(plain, "not one that a run of Espalier wrote");

        const auto rewritten = [&](const std::string& from, const std::string& to) {
            std::ifstream in(good, std::ios::binary);
            std::string bytes(std::istreambuf_iterator<char>(in), {});
            const std::size_t at = bytes.find(from);
            if (at == std::string::npos || from.size() != to.size()) {
                throw std::logic_error("the text to damage is not there");
            }
            const fs::path path = folder_ / "changed.safetensors";
            std::ofstream(path, std::ios::binary) << bytes.replace(at, from.size(), to);
            return path;
        };
        expect_refused(rewritten(R"("format_version":"1")", R"("format_version":"7")"), "Install a newer Espalier");
        expect_refused(rewritten(R"("format_version":"1")", R"("format_version":"x")"), "damaged");
        expect_refused(rewritten(R"(\"network\":\"quick\")", R"(\"network\":\"quack\")"), "no network \"quack\"");
        expect_refused(rewritten(R"("step":"1")", R"("stop":"1")"), "does not say its step");
        expect_refused(rewritten("optimizer/momentum/classifier.bias", "optimizer/momentum/classifier.boss"),
                       "no parameter");
    }

    void finds_damage_that_keeps_the_size() {
        const fs::path path = folder_ / "a.safetensors";
        save_checkpoint(path, info_at(1), store_at(1));
        std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(-100, std::ios::end);
        file.put('x');
        file.close();
        expect_refused(path, "checksum");
    }

    void keeps_the_newest_and_best() {
        CheckpointFolder checkpoints(folder_ / "checkpoints");
        for (const std::int64_t step : {10, 20, 30, 40}) {
            const auto saved = checkpoints.save(info_at(step), store_at(step), step == 10, 2);
            QVERIFY(saved.warnings.empty());
            QVERIFY(saved.bytes == fs::file_size(saved.file));
            QVERIFY((saved.kinds == (step == 10 ? std::vector<std::string>{"step", "last", "best"}
                                                : std::vector<std::string>{"step", "last"})));
        }
        QVERIFY((names_in(folder_ / "checkpoints") == std::vector<std::string>{"best.safetensors", "last.safetensors",
                                                                               "step-00000030.safetensors",
                                                                               "step-00000040.safetensors"}));
        QCOMPARE(load_checkpoint(checkpoints.best()).info.step, std::int64_t{10});
        QCOMPARE(load_checkpoint(checkpoints.last()).info.step, std::int64_t{40});
        // The same step again, now as best.
        checkpoints.save(info_at(40), store_at(41), true, 2);
        verify_equal(load_checkpoint(checkpoints.best()).store, store_at(41));
        QCOMPARE(names_in(folder_ / "checkpoints").size(), std::size_t{4});
    }

    void the_newest_sound_one_is_loaded() {
        CheckpointFolder checkpoints(folder_);
        QVERIFY(!checkpoints.load_newest().checkpoint);
        for (const std::int64_t step : {9, 100, 20}) { // numbers, not texts, are compared
            checkpoints.save(info_at(step), store_at(step), false, 5);
        }
        QCOMPARE(checkpoints.load_newest().checkpoint->info.step, std::int64_t{100});
        fs::resize_file(folder_ / "step-00000100.safetensors",
                        fs::file_size(folder_ / "step-00000100.safetensors") - 1);
        std::ofstream(folder_ / "step-00000300.safetensors.17-0.partial") << "half";
        std::ofstream(folder_ / "step-00000200.safetensors") << "";
        const auto found = checkpoints.load_newest();
        QCOMPARE(found.checkpoint->info.step, std::int64_t{20});
        QCOMPARE(found.problems.size(), std::size_t{3});
        checkpoints.save(info_at(400), store_at(400), false, 5);
        QVERIFY(!fs::exists(folder_ / "step-00000300.safetensors.17-0.partial"));
    }

    void last_serves_when_the_steps_are_gone() {
        CheckpointFolder checkpoints(folder_);
        const auto saved = checkpoints.save(info_at(7), store_at(7), false, 2);
        fs::remove(saved.file);
        QCOMPARE(checkpoints.load_newest().checkpoint->info.step, std::int64_t{7});
    }

    /// Whatever the moment of death, the newest complete checkpoint is loaded, and the next save works.
    void killed_at_each_step_of_a_save() {
        int deaths = 0;
        for (int steps = 0;; ++steps) {
            const fs::path run = folder_ / std::to_string(steps);
            CheckpointFolder(run).save(info_at(100), store_at(100), true, 2);
            const pid_t child = ::fork();
            QVERIFY(child >= 0);
            if (child == 0) {
                DyingOperations operations(steps);
                CheckpointFolder(run, operations).save(info_at(150), store_at(150), true, 2);
                ::_exit(0);
            }
            int status = 0;
            QCOMPARE(::waitpid(child, &status, 0), child);
            QVERIFY(WIFEXITED(status));

            const auto found = CheckpointFolder(run).load_newest();
            QVERIFY(found.checkpoint);
            const std::int64_t step = found.checkpoint->info.step;
            QVERIFY(step == 100 || step == 150);
            verify_equal(found.checkpoint->store, store_at(step));
            const bool partial_left = std::ranges::any_of(
                names_in(run), [](const std::string& name) { return AtomicFile::is_temporary(name); });
            QCOMPARE(!found.problems.empty(), partial_left);
            (void)load_checkpoint(CheckpointFolder(run).best()); // throws if it is not whole
            (void)load_checkpoint(CheckpointFolder(run).last());

            CheckpointFolder(run).save(info_at(200), store_at(200), false, 2);
            QCOMPARE(CheckpointFolder(run).load_newest().checkpoint->info.step, std::int64_t{200});
            QVERIFY(CheckpointFolder(run).load_newest().problems.empty());
            if (WEXITSTATUS(status) == 0) {
                QCOMPARE(step, std::int64_t{150});
                break;
            }
            ++deaths;
        }
        QVERIFY2(deaths > 20, "the save was not interrupted at each of its steps");
    }

    void the_folder_of_a_run_that_was_removed_is_not_made_anew() {
        CheckpointFolder checkpoints(folder_ / "run" / "checkpoints");
        try {
            (void)checkpoints.save(info_at(1), store_at(1), false, 2);
            QFAIL("written");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("was it removed?"), error.what());
        }
        QVERIFY(!fs::exists(folder_ / "run"));
    }

    void a_held_file_gets_a_name_beside_and_a_warning() {
        CheckpointFolder(folder_).save(info_at(5), store_at(5), false, 2);
        HeldFile held("step-00000005.safetensors");
        const auto saved = CheckpointFolder(folder_, held).save(info_at(5), store_at(6), false, 3);
        QCOMPARE(saved.file.filename().string(), std::string("step-00000005~1.safetensors"));
        QCOMPARE(saved.warnings.size(), std::size_t{1});
        verify_equal(CheckpointFolder(folder_).load_newest().checkpoint->store, store_at(6));

        HeldFile last("last.safetensors");
        const auto next = CheckpointFolder(folder_, last).save(info_at(8), store_at(8), false, 3);
        QCOMPARE(next.warnings.size(), std::size_t{1});
        QVERIFY((next.kinds == std::vector<std::string>{"step"}));
        QCOMPARE(CheckpointFolder(folder_).load_newest().checkpoint->info.step, std::int64_t{8});
    }

    void exports_the_network_alone() {
        const Checkpoint checkpoint{info_at(1), store_at(1)};
        export_safetensors(checkpoint, folder_ / "out.safetensors");
        const safetensors::Reader reader(folder_ / "out.safetensors");
        QCOMPARE(reader.entries().size(), checkpoint.store.entries().size());
        QVERIFY(reader.floats("classifier.weight") == checkpoint.store.at("classifier.weight").values);
        QVERIFY_EXCEPTION_THROWN((void)genotype_of(checkpoint), ConfigError);
    }

    void exports_the_genotype_of_a_search() {
        Checkpoint checkpoint;
        checkpoint.info.network = NetworkSpec::from_json({{"network", "supernet"},
                                                          {"init_channels", 2},
                                                          {"layers", 3},
                                                          {"nodes", 1},
                                                          {"ops", {"none", "max_pool_3x3", "skip_connect"}}});
        checkpoint.store.add({"alpha_normal", {2, 3}, true, {0, 1, 0, 0, 0, 1}, {}});
        checkpoint.store.add({"alpha_reduce", {2, 3}, true, {0, 0, 1, 0, 1, 0}, {}});
        export_genotype(checkpoint, folder_ / "genotype.json");
        QVERIFY(
            read_json(folder_ / "genotype.json") ==
            Json::parse(
                R"({"normal": [["max_pool_3x3", 0], ["skip_connect", 1]], "reduce": [["skip_connect", 0], ["max_pool_3x3", 1]]})"));
    }
};

QTEST_GUILESS_MAIN(TestCheckpoint)
#include "tst_checkpoint.moc"
