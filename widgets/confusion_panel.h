// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;

namespace espalier {

class ConfusionMatrix;
struct ConfusionCounts;

/// A card with a confusion matrix, what its cells say, and the one at which the mouse or the keys are. As long as the
/// counts are not known it says so, with the button that works them out.
class ConfusionPanel : public QFrame {
    Q_OBJECT

public:
    enum class Stage {
        unknown,     ///< words, and a button to evaluate
        asking,      ///< words, and a button to cancel; neither, if there are no words
        unavailable, ///< words alone
        known        ///< the matrix
    };

    explicit ConfusionPanel(QWidget* parent = nullptr);
    void set_stage(Stage stage, const QString& words = {});
    void set_counts(ConfusionCounts counts);
    [[nodiscard]] const ConfusionCounts& counts() const;

signals:
    void evaluate_clicked();
    void cancel_clicked();
    void cell_chosen(int truth, int predicted);

private:
    QWidget* make_unknown();
    QWidget* make_known();
    void point_at(int truth, int predicted);

    QStackedWidget* pages_;
    QLabel* words_;
    QPushButton* evaluate_;
    QPushButton* cancel_;
    ConfusionMatrix* matrix_;
    QComboBox* scale_;
    QLabel* pointed_;
};

} // namespace espalier
