// SPDX-License-Identifier: GPL-3.0-or-later
// A number that a person types means the same to the window, or nothing: never another one.
#include "number_text.h"

#include <QTest>

using namespace espalier;

namespace {

const QLocale english(QLocale::English, QLocale::UnitedStates), german(QLocale::German, QLocale::Germany),
    turkish(QLocale::Turkish, QLocale::Turkey), egyptian(QLocale::Arabic, QLocale::Egypt), c = QLocale::c();

} // namespace

class TestNumberText : public QObject {
    Q_OBJECT

private slots:
    void a_comma_before_decimals_is_a_point_everywhere() {
        for (const QLocale& locale : {english, german, turkish, egyptian, c}) {
            for (const auto& [text, value] : std::initializer_list<std::pair<const char*, double>>{
                     {"0.05", 0.05},
                     {"0,05", 0.05},
                     {"0,005", 0.005}, // no thousand begins with 0
                     {"0.005", 0.005},
                     {"0,9999", 0.9999},
                     {".5", 0.5},
                     {",5", 0.5},
                     {"5.", 5},
                     {"1,5", 1.5},
                     {"12", 12},
                     {"-0,25", -0.25},
                     {"1e-3", 1e-3},
                     {"2,5E-4", 2.5e-4},
                     {"\u0660\u066b\u0660\u0665", 0.05}, // in Arabic script
                     {" 0.1\u00a0", 0.1},
                     {"\u22120.1", -0.1},
                     {"1 000.5", 1000.5},
                     {"1,000.5", 1000.5},
                     {"1.000,5", 1000.5},
                     {"1,000,000.5", 1000000.5}}) {
                const auto number = read_real(QString::fromUtf8(text), locale);
                QVERIFY2(number && *number == value, qPrintable(locale.name() + QLatin1Char(' ') + QString(text)));
            }
        }
    }

    void a_comma_between_thousands_is_the_locales() {
        QCOMPARE(read_real(QStringLiteral("1,000"), english), std::optional(1000.0));
        QCOMPARE(read_real(QStringLiteral("+12,000,000"), english), std::optional(12e6));
        QCOMPARE(read_real(QStringLiteral("1,000"), german), std::optional(1.0));
        QCOMPARE(read_real(QStringLiteral("1.000"), german), std::optional(1.0)); // as the form itself writes it
        QCOMPARE(read_real(QStringLiteral("1.000"), english), std::optional(1.0));
        QCOMPARE(read_real(QStringLiteral("1.000.000"), german), std::optional(1e6));
    }

    void what_is_no_number_is_none() {
        for (const QLocale& locale : {english, german, turkish, egyptian, c}) {
            for (const char* text : {"", " ", "nan", "inf", "1,2,3", "1.2.3", "1,00.5", "0x10", "1e", "e5", "1e999",
                                     "0.05 5", "--1", "five", "1,5,000"})
                QVERIFY2(!read_real(QString::fromLatin1(text), locale),
                         qPrintable(locale.name() + QLatin1Char(' ') + QLatin1String(text)));
            for (const char* text :
                 {"", "1,5", "1.5", "2,50", "0.05", "1e3", "1,0000", "1,,000", ",100", "12a", "99999999999999999999"})
                QVERIFY2(!read_whole(QString::fromLatin1(text), locale),
                         qPrintable(locale.name() + QLatin1Char(' ') + QLatin1String(text)));
        }
    }

    void thousands_stand_in_groups_of_three() {
        for (const QLocale& locale : {english, german, turkish, egyptian, c})
            for (const char* text : {"1200", "1 200", "1'200", "1\u2019200", "1\u202f200", "\u0661\u0662\u0660\u0660",
                                     "\u0661\u066c\u0662\u0660\u0660", "+1200"})
                QVERIFY2(read_whole(QString::fromUtf8(text), locale) == 1200,
                         qPrintable(locale.name() + QLatin1Char(' ') + QString::fromUtf8(text)));
        QCOMPARE(read_whole(QStringLiteral("1,200"), english), std::optional<qlonglong>(1200));
        QCOMPARE(read_whole(QStringLiteral("1.200"), german), std::optional<qlonglong>(1200));
        QVERIFY(!read_whole(QStringLiteral("1,200"), german)); // 1.2 there
        QVERIFY(!read_whole(QStringLiteral("1.200"), english));
        for (const QLocale& locale : {english, german, turkish, egyptian}) // as the locale itself writes it
            QCOMPARE(read_whole(locale.toString(qlonglong{9007199254740993}), locale),
                     std::optional<qlonglong>(9007199254740993));
    }

    void lists_take_any_separator() {
        const QStringList list{QStringLiteral("2"), QStringLiteral("3"), QStringLiteral("4")};
        for (const char* text : {"2, 3, 4", "2,3,4", "2; 3;4", "2 3 4", " 2 ,3\t4 ", "2\u060c 3\u060c 4"})
            QCOMPARE(split_numbers(QString::fromUtf8(text)), list);
    }
};

QTEST_GUILESS_MAIN(TestNumberText)
#include "tst_number_text.moc"
