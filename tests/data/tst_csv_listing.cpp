// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/csv_listing.h"
#include "data/photo_folder.h"
#include "data/scan.h"
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
        QVERIFY(has(other->left_out()[2].reason, "line 5 cannot be used: it has 1 field, but 2"));
        QVERIFY(has(other->left_out()[3].reason, "none.png"));
        const auto scanned = scan_dataset("csv:" + (folder.path() / "labels.csv").string()).to_json();
        QCOMPARE(scanned.at("bad_count"), Json(4));
        QCOMPARE(scanned.at("bad_images"), Json(1)); // a share of bad files is of files, not of lines
        QVERIFY(has(message_of<DataError>([&] { (void)open("file,label\n"); }), "no image"));
        QVERIFY(has(message_of<DataError>([&] { (void)open(""); }), "is empty"));
        QVERIFY(has(message_of<DataError>([&] { (void)open("file,label,part\nimages/1.png,a,some\n"); }),
                    "its part is 'some'"));
    }

    /// As programs and people write tables: one of each habit.
    void tables_are_read_however_they_were_written_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("classes"); ///< one a line
        const auto row = [](const char* name, const QByteArray& text, const char* classes = "red fox\nsnow owl") {
            QTest::newRow(name) << text << QByteArray(classes);
        };
        row("plain", "images/1.png,red fox\nimages/2.png,snow owl\n");
        row("spaces around fields", "images/1.png, red fox \n  images/2.png\t, \"snow owl\" \n");
        row("spaces in quotes count", "images/1.png,\" red\"\nimages/2.png,red\n", " red\nred");
        row("lines that end with CR", "images/1.png,red fox\rimages/2.png,snow owl\r");
        row("mixed ends of lines", "\r\nimages/1.png,red fox\r\n \nimages/2.png,snow owl");
        row("a separator that Excel names", "sep=;\r\nimages/1.png;red fox\r\nimages/2.png;snow owl\r\n");
        row("tabs", "images/1.png\tred fox\nimages/2.png\tsnow owl\n");
        row("separators in quotes are none", "\"images/1.png\",\"a;b;c\"\nimages/2.png,d\n", "a;b;c\nd");
        row("a line end in quotes", "images/1.png,\"red\nfox\"\nimages/2.png,red\n", "red\nred\nfox");
        row("a quote in the middle", "images/1.png,5\" nails\nimages/2.png,screws\n", "5\" nails\nscrews");
        row("folders of Windows", "images\\1.png,red fox\n.\\images\\2.png,snow owl\n");
        row("other names of columns", "photo,kind\nimages/1.png,red fox\nimages/2.png,snow owl\n");
        row("names beside the class", "kind,photo,by\nred fox,images/1.png,me\nsnow owl,images/2.png,you\n");
        row("a known class beside others", "id,photo,label\n1,images/1.png,red fox\n2,images/2.png,snow owl\n");
        row("Windows-1252", "images/1.png,caf\xe9\nimages/2.png,caf\xe8\n", "caf\xc3\xa8\ncaf\xc3\xa9");
    }
    void tables_are_read_however_they_were_written() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, classes);
        const PhotoFolder folder;
        folder.png("images/1.png", Qt::red);
        folder.png("images/2.png", Qt::green);
        folder.write("labels.csv", {text.begin(), text.end()});
        const auto set = open_dataset("csv:" + (folder.path() / "labels.csv").string(),
                                      {.image_size = 8, .decode = true, .max_bad_share = 0});
        std::string found;
        for (const auto& name : set->info().classes)
            found += (found.empty() ? "" : "\n") + name;
        QCOMPARE(QByteArray::fromStdString(found), classes);
        QCOMPARE(set->size(Part::train), std::size_t{2});
        QVERIFY(set->left_out().empty());
        QVERIFY(set->label(Part::train, 0) != set->label(Part::train, 1));
        QCOMPARE(has(set->remarks(), "was taken for the file"), text.contains("photo"));
    }

    void a_table_that_cannot_be_understood_says_where_and_why() {
        const PhotoFolder folder;
        const auto refusal = [&](const std::string& text) {
            folder.write("labels.csv", {text.begin(), text.end()});
            return message_of<DataError>([&] { (void)list_csv(folder.path() / "labels.csv"); });
        };
        const auto open_quote = refusal("a.png,cat\nb.png,\"dog\nc.png,cat\n");
        QVERIFY2(has(open_quote, "labels.csv' cannot be used: the quote that begins in line 2 is never closed"),
                 open_quote.c_str());
        QVERIFY(has(refusal({'\xff', '\xfe', 'a', '\0', ',', '\0', 'b', '\0'}), "UTF-16"));
        QVERIFY(has(refusal({'a', '\0', ',', '\0', 'b', '\0'}), "UTF-8 was expected"));
    }

    /// Whatever is no table is named for what it is, also where it has commas in it, and before anything is read.
    void what_is_no_table_is_refused_in_a_moment_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QByteArray>("words");
        const auto png = [] {
            const auto bytes = encoded(plain(9, 9, Qt::red), "PNG");
            return QByteArray(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
        };
        QTest::newRow("nothing") << QByteArray() << QByteArray("is empty");
        QTest::newRow("blank") << QByteArray("\n\n \n") << QByteArray("is empty");
        QTest::newRow("an image") << png() << QByteArray("is no table: it looks like a single image");
        QTest::newRow("a web page") << QByteArray("\n<!DOCTYPE html>\n<meta content=\"a, b\">\n")
                                    << QByteArray("is no table: it looks like a web page (HTML)");
        QTest::newRow("a spreadsheet") << QByteArray("PK\x03\x04\x14\x00,,\n,,", 12)
                                       << QByteArray("is no table: it looks like a ZIP archive");
        QTest::newRow("a PDF") << QByteArray("%PDF-1.7\na,b\n") << QByteArray("is no table: it is a PDF document");
        QTest::newRow("UTF-16") << QByteArray("\xff\xfe"
                                              "a\0,\0b\0",
                                              8)
                                << QByteArray("it is UTF-16 text");
        QTest::newRow("numbers") << QByteArray("1,2\0\0\n", 6)
                                 << QByteArray("is no table: it begins with the bytes 31 2c 32 00");
        QTest::newRow("one column") << QByteArray("a.png\nb.png\n")
                                    << QByteArray("line 1 cannot be used: it has 1 field, but 2 were");
        QTest::newRow("no image") << QByteArray("file,label\n") << QByteArray("names columns, but no image");
        QTest::newRow("no class") << QByteArray("a.png,\n") << QByteArray("it has no label");
        QTest::newRow("no training") << QByteArray("a.png,cat,test\n") << QByteArray("no image for training");
        QTest::newRow("no such images") << QByteArray("a.png,cat\nBMW.png,car\n") << QByteArray("a.png'");
        QTest::newRow("columns the other way") << QByteArray("cat,a.png\n") << QByteArray("the order of the columns");
        QTest::newRow("one endless line") << QByteArray(3 << 20, 'a') << QByteArray("it has 1 field,");
    }
    void what_is_no_table_is_refused_in_a_moment() {
        QFETCH(QByteArray, content);
        QFETCH(QByteArray, words);
        const PhotoFolder folder;
        folder.write("table.csv", {content.begin(), content.end()});
        const auto refusal =
            message_of<DataError>([&] { check_dataset_is_there("csv:" + (folder.path() / "table.csv").string()); });
        QVERIFY2(has(refusal, words.toStdString()), refusal.c_str());
        QVERIFY2(has(refusal, "FILE,CLASS") || has(refusal, "in UTF-8") || has(refusal, "every line"), refusal.c_str());
    }

    /// The first images may be missing, as they may be bad.
    void a_table_with_an_image_in_place_passes() {
        const PhotoFolder folder;
        folder.png("1.png", Qt::red);
        for (const std::string table : {"1.png,a", "none.png,a\n1.png,b\n", "BMW.png,a\n1.png,b\n"}) {
            folder.write("table.csv", {table.begin(), table.end()});
            check_dataset_is_there("csv:" + (folder.path() / "table.csv").string());
        }
    }
};

QTEST_GUILESS_MAIN(TestCsvListing)
#include "tst_csv_listing.moc"
