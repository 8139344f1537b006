// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QString>
#include <QXmlStreamReader>
#include <vector>

namespace espalier::test {

/// One text of a .ts file.
struct Translation {
    QString context, source, meaning, text;
    QString type; ///< empty, "unfinished", "obsolete" or "vanished"
};

/// All texts of a .ts file; none if it cannot be read.
inline std::vector<Translation> read_translations(const QString& path) {
    std::vector<Translation> all;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return all;
    QXmlStreamReader reader(&file);
    QString context;
    Translation one;
    while (!reader.atEnd()) {
        if (reader.readNext() == QXmlStreamReader::EndElement && reader.name() == u"message") {
            one.context = context;
            all.push_back(std::exchange(one, {}));
        }
        if (!reader.isStartElement())
            continue;
        if (reader.name() == u"name")
            context = reader.readElementText();
        else if (reader.name() == u"source")
            one.source = reader.readElementText();
        else if (reader.name() == u"comment")
            one.meaning = reader.readElementText();
        else if (reader.name() == u"translation") {
            one.type = reader.attributes().value(QLatin1String("type")).toString();
            one.text = reader.readElementText(QXmlStreamReader::IncludeChildElements);
        }
    }
    return reader.hasError() ? std::vector<Translation>() : all;
}

} // namespace espalier::test
