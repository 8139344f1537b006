// SPDX-License-Identifier: Apache-2.0
#include "base/user_folders.h"

#include <QtTest>

using namespace espalier;

class TestUserFolders : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() {
        cache_ = qgetenv("XDG_CACHE_HOME");
        home_ = qgetenv("HOME");
    }
    void cleanup() {
        qputenv("XDG_CACHE_HOME", cache_);
        qputenv("HOME", home_);
    }

    void follows_the_rules_of_xdg() {
#ifdef Q_OS_WIN
        QSKIP("this system has rules of its own");
#else
        qputenv("HOME", "/home/a b");
        qputenv("XDG_CACHE_HOME", "/caches");
        QCOMPARE(cache_folder(), std::filesystem::path("/caches/espalier"));
        qputenv("XDG_CACHE_HOME", "relative");
        QCOMPARE(cache_folder(), std::filesystem::path("/home/a b/.cache/espalier"));
        qunsetenv("XDG_CACHE_HOME");
        QCOMPARE(cache_folder(), std::filesystem::path("/home/a b/.cache/espalier"));
        qunsetenv("HOME");
        QVERIFY(cache_folder().empty());
#endif
    }

private:
    QByteArray cache_, home_;
};

QTEST_APPLESS_MAIN(TestUserFolders)
#include "tst_user_folders.moc"
