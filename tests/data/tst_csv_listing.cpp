// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "data/csv_listing.h"
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
};

QTEST_GUILESS_MAIN(TestCsvListing)
#include "tst_csv_listing.moc"
