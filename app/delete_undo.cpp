// SPDX-License-Identifier: GPL-3.0-or-later
#include "delete_undo.h"

#include <QPushButton>

namespace espalier {

namespace {
constexpr int offered_ms = 10000;
}

DeleteUndo::DeleteUndo(RunStore* store, QWidget* parent) : StateBand(parent), store_(store) {
    setObjectName(QStringLiteral("deleteUndo"));
    hide();
    over_.setSingleShot(true);
    over_.setInterval(offered_ms);
    connect(&over_, &QTimer::timeout, this, &QWidget::hide);
    connect(store, &RunStore::trashed, this, &DeleteUndo::offer);
}

void DeleteUndo::offer(const QString& name, const QString& trash) {
    clear_actions();
    set_message(Tone::info, tr("Deleted %1").arg(name),
                tr("Its folder stays in %1 for a week.").arg(trash.section(QLatin1Char('/'), 0, -2)));
    auto* undo = add_action(tr("Undo"), QStringLiteral("revert"), true);
    undo->setObjectName(QStringLiteral("undoDelete"));
    connect(undo, &QPushButton::clicked, this, [this, trash] {
        over_.stop();
        hide();
        store_->restore(trash);
    });
    show();
    over_.start();
}

} // namespace espalier
