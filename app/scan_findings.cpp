// SPDX-License-Identifier: GPL-3.0-or-later
#include "scan_findings.h"

#include "engine_words.h"
#include "format.h"
#include "json_convert.h"
#include "words.h"

#include <QFileInfo>
#include <algorithm>

namespace espalier {

namespace {

constexpr std::size_t most_named = 100; ///< one label shows them: more would hold up the window

const Json& list_at(const Json& json, const char* key) {
    static const Json none = Json::array();
    const auto list = json.find(key);
    return list != json.end() && list->is_array() ? *list : none;
}

/// What all files of the data set begin with, as "/home/ada/flowers/"; of a table, its folder.
QString place_of(const Json& scan) {
    const QString spec = text_at(scan, "data");
    const QString path = spec.section(QLatin1Char(':'), 1);
    return (spec.startsWith(QStringLiteral("csv:")) ? QFileInfo(path).path() : path) + QLatin1Char('/');
}

QString without(const QString& place, const QString& file) {
    return file.startsWith(place) ? file.mid(place.size()) : file;
}

/// "cat/1.jpg is empty (0 bytes)." The engine's sentences begin with the whole path already, or name no file.
QString bad_line(const QString& place, const Json& bad) {
    const QString file = text_at(bad, "file"), reason = text_at(bad, "reason");
    const QString named = QStringLiteral("The image '%1' ").arg(file);
    const bool is_named = reason.startsWith(named);
    return without(place, file) +
           (is_named ? QStringLiteral(" ") + reason.mid(named.size()) : QStringLiteral(": ") + reason);
}

/// A line for each, below a head. `count`: how many there are in all; the list may end before.
template <typename Line>
QString lines_of(const QString& head, const Json& list, std::size_t count, const Line& line) {
    QStringList lines{head};
    const std::size_t named = std::min(most_named, list.size());
    for (std::size_t i = 0; i < named; ++i)
        lines.append(line(list[i]));
    if (count > named)
        lines.append(tr("and %1 more").arg(format_count(static_cast<double>(count - named))));
    return lines.join(QLatin1Char('\n'));
}

QString size_at(const Json& scan, const char* key) {
    const Json& pair = list_at(scan, key);
    return pair.size() == 2 ? tr("%1 × %2").arg(format_count(protocol::to_double(pair[0])),
                                                format_count(protocol::to_double(pair[1])))
                            : QString();
}

QString images_text(const Json& scan) {
    const double images = protocol::number_at(scan, "images");
    const QString width = format_count(protocol::number_at(scan, "width")),
                  height = format_count(protocol::number_at(scan, "height")),
                  colour = protocol::number_at(scan, "channels") == 1 ? tr("grey") : tr("colour");
    return images == 1 ? tr("1 image of %1 × %2, %3").arg(width, height, colour)
                       : tr("%1 images of %2 × %3, %4").arg(format_count(images), width, height, colour);
}

} // namespace

QString scan_refusal(const Json& scan, double most_bad) {
    const QString kind = scan.is_object() ? text_at(scan, "kind") : QString();
    if (kind != u"folder" && kind != u"csv") // no other set has files that a run could leave out
        return {};
    const double bad = protocol::number_at(scan, "bad_images"), good = protocol::number_at(scan, "images");
    if (good <= 0)
        return tr("No image of it can be used.");
    if (bad <= most_bad * (bad + good))
        return {};
    return tr("%1 of the files cannot be read, more than the %2 with which a run begins. Mend them or take them out, "
              "or allow more: Advanced, Share of bad files.")
        .arg(format_percent(bad / (bad + good)), format_percent(most_bad));
}

std::vector<DataPanel::Finding> scan_findings(const Json& scan, double most_bad) {
    const bool any = protocol::number_at(scan, "images") > 0;
    std::vector<DataPanel::Finding> findings{
        any ? DataPanel::Finding{QStringLiteral("check"), Role::good, images_text(scan)}
            : DataPanel::Finding{QStringLiteral("warning"), Role::fault, tr("No image of it can be used.")}};
    const auto tell = [&](const QString& text) { findings.push_back({QStringLiteral("info"), Role::hint, text}); };
    if (const double sizes = protocol::number_at(scan, "sizes"); sizes > 1)
        tell(tr("%1 different sizes, from %2 to %3; all are scaled to one.")
                 .arg(format_count(sizes), size_at(scan, "smallest"), size_at(scan, "largest")));
    const QString refusal = scan_refusal(scan, most_bad);
    if (any && !refusal.isEmpty())
        findings.push_back({QStringLiteral("warning"), Role::fault, refusal});
    const QString place = place_of(scan);
    const Json& bad = list_at(scan, "bad");
    if (bad.size() == 1 && text_at(bad[0], "file") == text_at(scan, "data")) { // the set itself, not one of its files
        findings.push_back({QStringLiteral("warning"), Role::attention, engine_words(text_at(bad[0], "reason"))});
    } else if (!bad.empty()) {
        const auto count = std::max(bad.size(), static_cast<std::size_t>(protocol::number_at(scan, "bad_count")));
        const QString head = tr("%1 cannot be read:").arg(format_count(static_cast<double>(count)));
        findings.push_back({QStringLiteral("warning"), Role::attention,
                            lines_of(head, bad, count, [&](const Json& one) { return bad_line(place, one); })});
    }
    Json torn = Json::array(), twice = Json::array();
    for (const Json& one : list_at(scan, "repeated"))
        (protocol::flag_at(one, "in_two_classes") ? torn : twice).push_back(one);
    const auto pair = [&](const Json& one) {
        return QStringLiteral("%1 = %2").arg(without(place, text_at(one, "file")),
                                             without(place, text_at(one, "same_as")));
    };
    if (!torn.empty())
        findings.push_back({QStringLiteral("warning"), Role::attention,
                            lines_of(tr("The same image in two classes, one of which is wrong:"), torn, torn.size(),
                                     pair)});
    if (!twice.empty())
        tell(lines_of(tr("The same image twice:"), twice, twice.size(), pair));
    for (const Json& warning : list_at(scan, "warnings"))
        if (warning.is_string()) {
            const QString text = to_qstring(warning.get<std::string>());
            if (refusal.isEmpty() || !text.startsWith(QLatin1String("Training leaves the bad files out")))
                tell(engine_words(text));
        }
    return findings;
}

} // namespace espalier
