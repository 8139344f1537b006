// SPDX-License-Identifier: Apache-2.0
#include "base/text_width.h"

#include <QtTest>

using namespace espalier;

class TestTextWidth : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void columns_of_any_script_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("width");
        QTest::newRow("nothing") << QByteArray() << 0;
        QTest::newRow("ASCII") << QByteArray("cat") << 3;
        QTest::newRow("umlauts") << QByteArray("Kätzchen (süß)") << 14;
        QTest::newRow("an umlaut of two signs") << QByteArray("Ka\xcc\x88tzchen") << 8;
        QTest::newRow("Greek, Cyrillic, Arabic") << QByteArray("γάτα кот قطة") << 12;
        QTest::newRow("Chinese") << QByteArray("猫和狗") << 6;
        QTest::newRow("Japanese") << QByteArray("ねこ・ネコ") << 10;
        QTest::newRow("Korean") << QByteArray("고양이") << 6;
        QTest::newRow("an ideograph beyond 16 bits") << QByteArray("\xf0\xa0\x80\x80") << 2;
        QTest::newRow("emoji") << QByteArray("cats \xf0\x9f\x90\x88") << 7;
        QTest::newRow("no UTF-8") << QByteArray("caf\xe9 \xff\xc3") << 7;
    }
    void columns_of_any_script() {
        QFETCH(QByteArray, text);
        QFETCH(int, width);
        QCOMPARE(int(text_width(text.toStdString())), width);
        const auto wider = padded(text.toStdString(), std::size_t(width) + 3);
        QCOMPARE(QByteArray::fromStdString(wider), text + "   ");
        if (width > 0) // nothing is cut
            QCOMPARE(QByteArray::fromStdString(padded(text.toStdString(), std::size_t(width) - 1)), text);
    }
};

QTEST_GUILESS_MAIN(TestTextWidth)
#include "tst_text_width.moc"
