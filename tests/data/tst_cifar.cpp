// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/cifar.h"
#include "data/idx_files.h"
#include "data/refused_spec.h"

#include <QTemporaryDir>
#include <QTest>

using namespace espalier;
using namespace espalier::test;

namespace {

Bytes records(const std::vector<Bytes>& labels, std::uint32_t seed = 1) {
    Bytes file;
    for (const auto& label : labels) {
        const auto pixels = noise(3072, seed++);
        file.insert(file.end(), label.begin(), label.end());
        file.insert(file.end(), pixels.begin(), pixels.end());
    }
    return file;
}

} // namespace

class TestCifar : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    std::filesystem::path path_;

private Q_SLOTS:
    void init() {
        static int number = 0;
        path_ = dir_.filePath(QString::number(number++)).toStdString();
        std::filesystem::create_directory(path_);
    }

    void cifar10_is_read() {
        write(path_ / "data_batch_1.bin", records({{3}, {9}}));
        write(path_ / "data_batch_2.bin", gzip(records({{0}}, 7))); // content counts, not the name
        write(path_ / "test_batch.bin", records({{5}}, 9));
        write(path_ / "batches.meta.txt", bytes_of_text("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\r\nhorse\n"
                                                        "ship\ntruck\n\n"));
        const auto set = open_dataset("cifar10:" + path_.string());
        QCOMPARE(set->image(), (ImageShape{3, 32, 32}));
        QCOMPARE(set->classes(), std::size_t{10});
        QCOMPARE(set->info().classes[6], std::string("frog"));
        QCOMPARE(set->size(Part::train), std::size_t{3});
        QCOMPARE(set->size(Part::test), std::size_t{1});
        QCOMPARE(set->label(Part::train, 1), 9);
        QCOMPARE(set->label(Part::train, 2), 0);
        QCOMPARE(set->label(Part::test, 0), 5);
        Bytes image(3072);
        set->read(Part::train, 2, image);
        QCOMPARE(image, noise(3072, 7));
    }

    void cifar100_takes_the_fine_labels() {
        const auto folder = path_ / "cifar-100-binary";
        std::filesystem::create_directory(folder);
        write(folder / "train.bin", records({{19, 99}, {3, 0}}));
        const auto set = open_dataset("cifar100:" + path_.string());
        QCOMPARE(set->classes(), std::size_t{100});
        QCOMPARE(set->info().classes[99], std::string("99"));
        QCOMPARE(set->label(Part::train, 0), 99);
        QCOMPARE(set->label(Part::train, 1), 0);
        Bytes image(3072);
        set->read(Part::train, 0, image);
        QCOMPARE(image, noise(3072, 1));
    }

    void damage_is_named_with_file_and_place() {
        const auto spec = "cifar10:" + path_.string();
        QVERIFY(refusal_of("cifar10:/nowhere").find("no folder '/nowhere'") != std::string::npos);
        QVERIFY(refusal_of(spec).find("holds no 'data_batch_1.bin'") != std::string::npos);
        write(path_ / "data_batch_1.bin", {});
        QVERIFY(refusal_of(spec).find("is empty (0 bytes)") != std::string::npos);
        auto cut = records({{3}, {4}});
        cut.resize(cut.size() - 100);
        write(path_ / "data_batch_1.bin", cut);
        QVERIFY(refusal_of(spec).find("within image 1: 2973 of its 3073 bytes") != std::string::npos);
        write(path_ / "data_batch_1.bin", records({{3}, {10}}));
        QVERIFY(refusal_of(spec).find("label 10 at index 1") != std::string::npos);
        auto packed = gzip(records({{3}, {4}}));
        packed.resize(packed.size() / 2);
        write(path_ / "data_batch_1.bin", packed);
        QVERIFY(refusal_of(spec).find("gzip data is cut off") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestCifar)
#include "tst_cifar.moc"
