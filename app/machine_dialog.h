// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "machine_spec.h"

#include <QDialog>
#include <QPointer>

class QComboBox;
class QLabel;
class QLineEdit;
class QProcess;
class QPushButton;
class QFormLayout;

namespace espalier {

class MachineTest;

/// Asks for a machine, and can test it before it is kept.
class MachineDialog : public QDialog {
    Q_OBJECT

public:
    MachineDialog(const MachineSpec& machine, CommandLine here, QWidget* parent = nullptr);
    ~MachineDialog() override;

signals:
    void chosen(const MachineSpec& machine);

private:
    [[nodiscard]] MachineSpec spec() const;
    void change_kind();
    void edited();
    void test();
    void show_outcome(bool ok, const QString& sentence);
    void ask_distributions();
    void finish();

    CommandLine here_;
    QComboBox *kind_, *distribution_;
    QLineEdit *name_, *host_, *program_;
    QLabel *host_label_, *distribution_label_, *outcome_;
    QPushButton *test_, *save_;
    MachineTest* running_ = nullptr;
    QPointer<QProcess> listing_; ///< asks what distributions there are
};

} // namespace espalier
