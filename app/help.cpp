// SPDX-License-Identifier: GPL-3.0-or-later
#include "help.h"

#include "theme.h"
#include "words.h"

#include <QAction>
#include <QCoreApplication>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <vector>

namespace espalier {

namespace {

using Line = std::pair<QString, QString>;

void open_box(const char* name, const QString& title, const QString& html, QWidget* window) {
    auto* box = new QMessageBox(window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setObjectName(QLatin1String(name));
    box->setWindowTitle(title);
    box->setText(title);
    box->setTextFormat(Qt::RichText);
    box->setInformativeText(html);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* close = box->addButton(tr("Close"), QMessageBox::RejectRole);
    close->setObjectName(QStringLiteral("closeHelp"));
    box->setDefaultButton(close);
    box->open();
}

/// A menu's entries with keys, those of its submenus among them.
void add_keys(const QMenu& menu, std::vector<Line>& lines) {
    for (const QAction* action : menu.actions()) {
        if (const auto* more = action->menu<QMenu*>()) {
            add_keys(*more, lines);
            continue;
        }
        const QString words = action->text().section(QLatin1Char('\t'), 0, 0);
        const QString key = action->shortcut().isEmpty() ? action->text().section(QLatin1Char('\t'), 1)
                                                         : action->shortcut().toString(QKeySequence::NativeText);
        if (!key.isEmpty())
            lines.emplace_back(key, words);
    }
}

} // namespace

void show_keys(const QMenu& menu, QWidget* window) {
    std::vector<Line> lines;
    add_keys(menu, lines);
    lines.emplace_back(QStringLiteral("F2, Del"), tr("Rename, delete a run of the list"));
    lines.emplace_back(QStringLiteral("+ − ← → Home"), tr("Zoom, move and fit a plot or network that has the focus"));
    lines.emplace_back(QStringLiteral("Shift+← →"), tr("Move the crosshair of a plot"));
    lines.emplace_back(QStringLiteral("Ctrl+← →"), tr("Go to the marker before or behind it, Enter: take it back"));
    lines.emplace_back(QStringLiteral("← →"), tr("Go from phase to phase and event to event of the timeline"));
    lines.emplace_back(QStringLiteral("← →"), tr("Walk through the line at the bottom, once Tab has reached it"));
    lines.emplace_back(QStringLiteral("Ctrl+S, Ctrl+C"), tr("Sort a table by the column of the cell, copy its rows"));
    QString html = QStringLiteral("<table cellspacing='0'>");
    for (const auto& [key, words] : lines)
        html += QStringLiteral("<tr><td style='padding: 2px 24px 2px 0px'><b>%1</b></td><td>%2</td></tr>")
                    .arg(key.toHtmlEscaped(), words.toHtmlEscaped());
    open_box("keysHelp", tr("Keys"), html + QStringLiteral("</table>"), window);
}

void show_about(const QString& engine, QWidget* window) {
    const QStringList lines{
        tr("A studio for training image networks, over an engine of its own."),
        engine.isEmpty() ? tr("Engine: none answers") : tr("Engine: %1").arg(engine.toHtmlEscaped()),
        tr("Qt %1").arg(QLatin1String(qVersion())),
        tr("The window is free software under the GNU General Public License, version 3 or later; the engine is under "
           "the Apache License 2.0. There is no warranty.")};
    open_box("aboutHelp", tr("Espalier %1").arg(QCoreApplication::applicationVersion()).trimmed(),
             QStringLiteral("<p>%1</p>").arg(lines.join(QStringLiteral("</p><p>"))), window);
}

void show_gpu_help(const QString& reason, QWidget* window) {
    QString html = reason.isEmpty() ? QString() : QStringLiteral("<p>%1</p>").arg(reason.toHtmlEscaped());
    const QStringList steps{
        tr("An NVIDIA card of compute capability 7.5 or newer: GTX 16, RTX 20 and all later ones."),
        tr("Its driver, release 580 or newer: on Ubuntu “Additional Drivers” or, in a terminal, %1; then restart.")
            .arg(QStringLiteral("<code>sudo ubuntu-drivers install</code>")),
        tr("The package espalier-cuda of the same version as this program.")};
    html += QStringLiteral("<ol><li>%1</li></ol><p>%2</p>")
                .arg(steps.join(QStringLiteral("</li><li>")),
                     tr("What is found says %1 in a terminal. Without a GPU everything works as well, only slower.")
                         .arg(QStringLiteral("<code>espalier-train probe</code>")));
    open_box("gpuHelp", tr("To train on a GPU"), html, window);
}

} // namespace espalier
