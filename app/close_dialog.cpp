// SPDX-License-Identifier: GPL-3.0-or-later
#include "close_dialog.h"

#include <QCoreApplication>
#include <QMessageBox>
#include <QPushButton>

namespace espalier {

CloseChoice ask_before_closing(QWidget* parent, int runs) {
    const auto tr = [](const char* text, int n = -1) {
        return QCoreApplication::translate("espalier::CloseDialog", text, nullptr, n);
    };
    QMessageBox box(parent);
    box.setObjectName(QStringLiteral("closeDialog"));
    box.setWindowTitle(tr("A run is still training"));
    box.setText(runs == 1 ? tr("A run is still training.") : tr("%n runs are still training.", runs));
    box.setInformativeText(tr("It can go on without the window and will be here again at the next start."));
    auto* keep = box.addButton(tr("Keep training"), QMessageBox::AcceptRole);
    auto* stop = box.addButton(tr("Save and stop"), QMessageBox::DestructiveRole);
    box.addButton(tr("Cancel"), QMessageBox::RejectRole);
    keep->setProperty("kind", "primary");
    keep->setObjectName(QStringLiteral("keepTraining"));
    stop->setObjectName(QStringLiteral("saveAndStop"));
    box.setDefaultButton(keep);
    box.exec();
    if (box.clickedButton() == keep)
        return CloseChoice::keep_training;
    return box.clickedButton() == stop ? CloseChoice::save_and_stop : CloseChoice::cancel;
}

} // namespace espalier
