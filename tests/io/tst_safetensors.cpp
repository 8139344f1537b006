// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "io/safetensors.h"

#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <limits>

using namespace espalier;
namespace st = espalier::safetensors;

namespace {

std::string with_length(const std::string& header, const std::string& data = {}) {
    std::uint64_t length = header.size();
    std::string file(reinterpret_cast<const char*>(&length), 8);
    return file + header + data;
}

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    std::filesystem::path write_raw(const std::string& bytes) {
        const auto path = std::filesystem::path(folder_.path().toStdString()) / "raw.safetensors";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

private Q_SLOTS:
    void round_trip() {
        const auto path = std::filesystem::path(folder_.path().toStdString()) / "a.safetensors";
        const std::vector<float> weights{1.5f, -2.0f, std::numeric_limits<float>::denorm_min(), 0.0f, 3e38f, -0.0f};
        const std::vector<std::int32_t> labels{7, -1};
        const std::vector<std::uint8_t> places{1, 2, 255};
        const auto written = st::write(path,
                                       {{"places", st::Type::u8, {3}, std::as_bytes(std::span(places))},
                                        st::Item::of("a.weight", {2, 3}, std::span(weights)),
                                        st::Item::of("labels", {2}, std::span(labels)),
                                        st::Item::of("empty", {0, 4}, std::span<const float>{}),
                                        st::Item::of("scalar", {}, std::span(weights).first(1))},
                                       {{"format", "1"}, {"quote", "\"ä\n\""}});
        QCOMPARE(written, path);
        const st::Reader reader(path);
        QCOMPARE(reader.metadata().at("quote"), std::string("\"ä\n\""));
        QCOMPARE(reader.entries().size(), std::size_t{5});
        QVERIFY(reader.floats("a.weight") == weights);
        QVERIFY(reader.at("a.weight").shape == (std::vector<std::int64_t>{2, 3}));
        QVERIFY(reader.integers("labels") == labels);
        QVERIFY(reader.integers("places") == (std::vector<std::int32_t>{1, 2, 255}));
        QVERIFY(reader.floats("empty").empty());
        QCOMPARE(reader.floats("scalar").size(), std::size_t{1});
        for (const st::Entry& entry : reader.entries()) {
            QVERIFY2(entry.begin % st::size_of(entry.type) == 0, entry.name.c_str());
        }
        QVERIFY_EXCEPTION_THROWN(reader.floats("absent"), CheckpointError);
        QVERIFY_EXCEPTION_THROWN(reader.integers("a.weight"), CheckpointError);
    }

    void converts_every_type() {
        const std::string header =
            R"({"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"l":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},)"
            R"("h":{"dtype":"F16","shape":[6],"data_offsets":[16,28]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[28,32]}})";
        std::string data(32, '\0');
        const double d = 0.25;
        const std::int64_t l = std::int64_t{1} << 40;
        const std::uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7bff, 0x7e00};
        const std::uint16_t brains[] = {0x3f80, 0xc040};
        std::memcpy(&data[0], &d, 8);
        std::memcpy(&data[8], &l, 8);
        std::memcpy(&data[16], halves, 12);
        std::memcpy(&data[28], brains, 4);
        const st::Reader reader(write_raw(with_length(header, data)));
        QCOMPARE(reader.floats("d").at(0), 0.25f);
        QCOMPARE(reader.floats("l").at(0), 1099511627776.0f);
        QVERIFY_EXCEPTION_THROWN(reader.integers("l"), CheckpointError);
        const std::vector<float> h = reader.floats("h");
        QCOMPARE(h[0], 1.0f);
        QCOMPARE(h[1], -2.0f);
        QVERIFY(h[2] == 5.9604644775390625e-8f);
        QVERIFY(std::isinf(h[3]));
        QCOMPARE(h[4], 65504.0f);
        QVERIFY(std::isnan(h[5]));
        QVERIFY((reader.floats("b") == std::vector<float>{1.0f, -3.0f}));
    }

    void refuses_hostile_files_data() {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const std::string& file, const char* reason) {
            QTest::newRow(name) << QByteArray::fromStdString(file) << QString(reason);
        };
        const std::string four(4, '\0');
        const std::string sound = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
        row("empty", "", "too short");
        row("seven bytes", std::string(7, '\1'), "too short");
        row("header of 2^64-1 bytes", std::string(8, '\xff') + sound, "18446744073709551615");
        row("header longer than the file", with_length(sound).substr(0, 20), "cut off");
        row("shape overflow",
            with_length(R"({"a":{"dtype":"F32","shape":[4194305,4194305,211106198978564],"data_offsets":[0,4]}})",
                        four),
            "no memory could hold");
        row("shape of 2^63 bytes",
            with_length(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,4]}})", four),
            "no memory could hold");
        row("large shape, few bytes",
            with_length(R"({"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4]}})", four),
            "4000000000 bytes by its shape");
        row("duplicate tensor",
            with_length(
                R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                four),
            "comes twice");
        row("duplicate metadata", with_length(R"({"__metadata__":{"k":"1","k":"2"}})"), "comes twice");
        row("duplicate field",
            with_length(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four),
            "comes twice");
        row("hole",
            with_length(
                R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                std::string(12, '\0')),
            "hole");
        row("hole at the start", with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", four + four),
            "hole");
        row("overlap",
            with_length(
                R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                std::string(8, '\0')),
            "overlaps");
        row("trailing bytes", with_length(sound, four + "x"), "the file has 5");
        row("missing bytes", with_length(sound, "abc"), "the file has 3");
        row("unknown dtype", with_length(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", four),
            "unknown dtype");
        row("dtype is a number", with_length(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", four),
            "unknown dtype");
        row("negative extent", with_length(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", four),
            "not negative");
        row("fraction", with_length(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", four),
            "whole number");
        row("offset above 2^64",
            with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,99999999999999999999999]}})", four),
            "whole number");
        row("end before begin", with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", four),
            "data_offsets");
        row("three offsets", with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", four),
            "two numbers");
        row("no shape", with_length(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", four), "no dtype");
        row("entry is a list", with_length(R"({"a":[]})"), "no dtype");
        row("not JSON", with_length("{nonsense"), "not JSON");
        row("JSON after JSON", with_length(sound + "{}", four), "not JSON");
        row("a list", with_length("[]"), "begin with {");
        row("deeply nested", with_length("{\"a\":" + std::string(100000, '[')), "nested");
        row("ill-formed UTF-8",
            with_length("{\"\xff\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", four), "not JSON");
        row("metadata is not text", with_length(R"({"__metadata__":{"k":1}})"), "not text");
    }

    void refuses_hostile_files() {
        QFETCH(QByteArray, file);
        QFETCH(QString, reason);
        const auto path = write_raw(file.toStdString());
        try {
            const st::Reader reader(path);
            QFAIL("accepted");
        } catch (const CheckpointError& error) {
            QVERIFY2(QString(error.what()).contains(reason), error.what());
        }
    }

    /// Every single-byte change of a small file is read or refused, never more than that.
    void survives_every_changed_byte() {
        const std::string sound =
            with_length(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", std::string(4, '\0'));
        for (std::size_t i = 0; i < sound.size(); ++i) {
            for (const int change : {1, 2, 4, 8, 16, 32, 64, 128}) {
                std::string damaged = sound;
                damaged[i] = static_cast<char>(damaged[i] ^ change);
                try {
                    const st::Reader reader(write_raw(damaged));
                    for (const st::Entry& entry : reader.entries()) {
                        QVERIFY(reader.bytes(entry.name).size() <= sound.size());
                    }
                } catch (const CheckpointError&) {
                }
            }
        }
    }

    void refuses_to_write_nonsense() {
        const auto path = std::filesystem::path(folder_.path().toStdString()) / "b.safetensors";
        const std::vector<float> one{1.0f};
        QVERIFY_EXCEPTION_THROWN(
            st::write(path, {st::Item::of("a", {1}, std::span(one)), st::Item::of("a", {1}, std::span(one))}, {}),
            ConfigError);
        QVERIFY_EXCEPTION_THROWN(st::write(path, {st::Item::of("a", {2}, std::span(one))}, {}), ConfigError);
        QVERIFY(!std::filesystem::exists(path));
    }

    void reads_the_fixtures() {
        const st::Reader reader(std::filesystem::path(ESPALIER_FIXTURE_DIR) / "ops.safetensors");
        QCOMPARE(reader.metadata().size(), std::size_t{41});
        QVERIFY(reader.at("conv_bias/x").shape == (std::vector<std::int64_t>{3, 5, 8, 6}));
        QCOMPARE(reader.floats("conv_bias/x").size(), std::size_t{720});
        QCOMPARE(reader.integers("cross_entropy_smoothing_0.1/labels").size(), std::size_t{6});
    }
};

QTEST_GUILESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
