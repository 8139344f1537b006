// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace espalier {

/// What a run's toggles are, to be read: each with a sentence, and where the engine has changed one by itself, why, and
/// a button that takes it back.
class ToggleList : public QWidget {
    Q_OBJECT

public:
    struct Item {
        QString name; ///< for take_back_requested()
        QString title;
        QString value; ///< "on", "fp16"
        QString sentence;
        QString change; ///< why the engine changed it; empty: it is as it was asked for
        bool can_be_undone = false;

        bool operator==(const Item&) const = default;
    };
    explicit ToggleList(QWidget* parent = nullptr);
    void set_items(const std::vector<Item>& items);

signals:
    void take_back_requested(const QString& name);

private:
    QVBoxLayout* column_;
    QWidget* content_ = nullptr;
    std::vector<Item> items_;
};

} // namespace espalier
