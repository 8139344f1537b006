// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/photo_folder.h"
#include "texts.h"

#include <QTest>

using namespace espalier;
using namespace espalier::test;

class TestCsvListing : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void a_table_names_images_and_classes() {
        const PhotoFolder folder;
        folder.png("images/1.png", Qt::red);
        folder.png("images/2, two.png", Qt::green);
        folder.png("images/3.png", Qt::blue);
        const auto open = [&](const std::string& text) {
            folder.write("labels.csv", {text.begin(), text.end()});
            return open_dataset("csv:" + (folder.path() / "labels.csv").string(),
                                {.image_size = 8, .decode = true, .max_bad_share = 1});
        };
        // Named columns in any order, quotes, a byte order mark, line ends of Windows.
        const auto set = open("\xef\xbb\xbfid,Label,Split,FILE\r\n7,10,train,images/1.png\r\n"
                              "8,9,TEST,\"images/2, two.png\"\r\n\r\n9,9,train,images/3.png");
        QCOMPARE(set->info().classes, (std::vector<std::string>{"9", "10"}));
        QCOMPARE(set->size(Part::train), std::size_t{2});
        QCOMPARE(set->size(Part::test), std::size_t{1});
        QCOMPARE(set->label(Part::train, 0), 1);
        QCOMPARE(int(read(*set, Part::test, 0)[64]), 255);
        // Without names of columns; semicolons; bad lines are left out and named.
        const auto other = open("images/1.png;\"a \"\"b\"\"\"\nimages/none.png;c\n;d\nimages/3.png;\nx\n");
        QCOMPARE(other->info().classes, (std::vector<std::string>{"a \"b\"", "c"}));
        QCOMPARE(other->size(Part::train), std::size_t{1});
        QCOMPARE(other->left_out().size(), std::size_t{4});
        QVERIFY(has(other->left_out()[0].reason, "line 3 cannot be used: it names no file"));
        QVERIFY(has(other->left_out()[1].reason, "line 4 cannot be used: it has no label"));
        QVERIFY(has(other->left_out()[2].reason, "line 5 cannot be used: it has 1 fields, but 2"));
        QVERIFY(has(other->left_out()[3].reason, "none.png"));
        QVERIFY(has(message_of<DataError>([&] { (void)open("file,label\n"); }), "no image"));
        QVERIFY(has(message_of<DataError>([&] { (void)open(""); }), "is empty"));
        QVERIFY(has(message_of<DataError>([&] { (void)open("file,label,part\nimages/1.png,a,some\n"); }),
                    "its part is 'some'"));
    }
};

QTEST_GUILESS_MAIN(TestCsvListing)
#include "tst_csv_listing.moc"
