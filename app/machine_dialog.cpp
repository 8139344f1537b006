// SPDX-License-Identifier: GPL-3.0-or-later
#include "machine_dialog.h"

#include "choice_box.h"
#include "connection_end.h"
#include "machine_test.h"
#include "refusal.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QStyle>

namespace espalier {

namespace {

constexpr int least_width = 520, outcome_height = 64;

void set_tone(QLabel* label, const char* tone) {
    label->setProperty("tone", tone);
    label->style()->unpolish(label); // the style sheet looks at properties once
    label->style()->polish(label);
}

} // namespace

MachineDialog::MachineDialog(const MachineSpec& machine, CommandLine here, QWidget* parent)
    : QDialog(parent), here_(std::move(here)), kind_(new ChoiceBox), distribution_(new ChoiceBox),
      name_(new QLineEdit(machine.name)), host_(new QLineEdit), program_(new QLineEdit(machine.program)),
      host_label_(new QLabel(tr("&Host"))), distribution_label_(new QLabel(tr("&Distribution"))), outcome_(new QLabel),
      test_(new QPushButton(tr("&Test"))) {
    setObjectName(QStringLiteral("machineDialog"));
    setWindowTitle(machine.host.isEmpty() ? tr("Add a machine") : tr("Edit a machine"));
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(least_width);
    kind_->setObjectName(QStringLiteral("machineKind"));
    kind_->addItem(tr("A server, over ssh"), static_cast<int>(MachineSpec::Kind::ssh));
    kind_->addItem(tr("Linux on this PC (WSL2)"), static_cast<int>(MachineSpec::Kind::wsl));
    distribution_->setObjectName(QStringLiteral("machineDistribution"));
    distribution_->setEditable(true);
    host_->setObjectName(QStringLiteral("machineHost"));
    host_->setPlaceholderText(tr("ada@lab or lab:2222"));
    name_->setObjectName(QStringLiteral("machineName"));
    name_->setPlaceholderText(tr("as it is called in the list"));
    program_->setObjectName(QStringLiteral("machineProgram"));
    program_->setPlaceholderText(tr("espalier-train, where the path there finds it"));
    outcome_->setObjectName(QStringLiteral("machineOutcome"));
    outcome_->setWordWrap(true);
    outcome_->setMinimumHeight(outcome_height);
    outcome_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    outcome_->setTextFormat(Qt::PlainText);
    outcome_->setTextInteractionFlags(Qt::TextSelectableByMouse); // it may name a command
    test_->setObjectName(QStringLiteral("machineTest"));
    if (machine.kind == MachineSpec::Kind::wsl) {
        kind_->setCurrentIndex(1);
        distribution_->setEditText(machine.host);
    } else {
        host_->setText(machine.host);
    }

    auto* form = new QFormLayout;
    form->setVerticalSpacing(8);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->addRow(tr("&Kind"), kind_);
    form->addRow(host_label_, host_);
    form->addRow(distribution_label_, distribution_);
    form->addRow(tr("&Program there"), program_);
    form->addRow(tr("&Name"), name_);
    host_label_->setBuddy(host_);
    distribution_label_->setBuddy(distribution_);
    auto* buttons = new QDialogButtonBox;
    save_ = buttons->addButton(tr("Save"), QDialogButtonBox::AcceptRole);
    save_->setObjectName(QStringLiteral("machineSave"));
    save_->setProperty("kind", "primary");
    save_->setDefault(true);
    buttons->addButton(tr("Cancel"), QDialogButtonBox::RejectRole)->setObjectName(QStringLiteral("machineCancel"));
    buttons->addButton(test_, QDialogButtonBox::ActionRole);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(16);
    column->addLayout(form);
    column->addWidget(outcome_);
    column->addWidget(buttons);

    connect(kind_, &QComboBox::currentIndexChanged, this, &MachineDialog::change_kind);
    connect(host_, &QLineEdit::textChanged, this, &MachineDialog::edited);
    connect(program_, &QLineEdit::textChanged, this, &MachineDialog::edited);
    connect(distribution_, &QComboBox::editTextChanged, this, &MachineDialog::edited);
    connect(test_, &QPushButton::clicked, this, &MachineDialog::test);
    connect(buttons, &QDialogButtonBox::accepted, this, &MachineDialog::finish);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    change_kind();
}

MachineDialog::~MachineDialog() {
    // Children are destroyed when the fields are gone already, and tell of their end even then.
    if (running_)
        running_->disconnect(this);
    if (!listing_)
        return;
    listing_->disconnect(this);
    listing_->setParent(QCoreApplication::instance()); // or the dialog waits for its end
    connect(listing_, &QProcess::errorOccurred, listing_, &QObject::deleteLater);
    connect(listing_, &QProcess::finished, listing_, &QObject::deleteLater);
    listing_->kill();
}

MachineSpec MachineDialog::spec() const {
    const auto kind = static_cast<MachineSpec::Kind>(kind_->currentData().toInt());
    const QString host = kind == MachineSpec::Kind::wsl ? distribution_->currentText() : host_->text();
    return {kind, name_->text().trimmed(), host.trimmed(), program_->text().trimmed()};
}

void MachineDialog::change_kind() {
    const bool wsl = spec().kind == MachineSpec::Kind::wsl;
    host_->setVisible(!wsl);
    host_label_->setVisible(!wsl);
    distribution_->setVisible(wsl);
    distribution_label_->setVisible(wsl);
    if (wsl && distribution_->count() == 0)
        ask_distributions();
    edited();
}

/// What was tested is no longer what is written here.
void MachineDialog::edited() {
    if (running_)
        running_->deleteLater();
    running_ = nullptr;
    const QString problem = problem_of(spec());
    for (QPushButton* button : {test_, save_})
        set_refusal(button, problem);
    set_tone(outcome_, "secondary");
    outcome_->setText(problem);
}

void MachineDialog::test() {
    set_refusal(test_, tr("It is being tested."));
    set_tone(outcome_, "secondary");
    outcome_->setText(tr("Connecting to %1…").arg(spec().title()));
    running_ = new MachineTest(spec(), here_, this);
    connect(running_, &MachineTest::ended, this, &MachineDialog::show_outcome);
}

void MachineDialog::show_outcome(bool ok, const QString& sentence) {
    running_->deleteLater();
    running_ = nullptr;
    set_refusal(test_, {});
    set_tone(outcome_, ok ? "good" : "fault");
    outcome_->setText(sentence);
    outcome_->setMinimumHeight(std::max(outcome_height, outcome_->heightForWidth(outcome_->width())));
}

void MachineDialog::ask_distributions() {
    auto* process = new QProcess(this);
    listing_ = process;
    const auto say = [this](const QString& text) {
        if (spec().kind == MachineSpec::Kind::wsl && !running_)
            outcome_->setText(text);
    };
    connect(process, &QProcess::errorOccurred, this, [process, say](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            say(tr("There is no WSL on this PC: wsl.exe was not found."));
        process->deleteLater();
    });
    connect(process, &QProcess::finished, this, [this, process, say](int code) {
        const QStringList names = code == 0 ? read_distributions(process->readAllStandardOutput()) : QStringList();
        const QString typed = distribution_->currentText();
        distribution_->addItems(names);
        if (!typed.isEmpty())
            distribution_->setEditText(typed);
        if (names.isEmpty())
            say(tr("There is no distribution yet. Get one in a terminal: %1").arg(QStringLiteral("wsl.exe --install")));
        process->deleteLater();
    });
    process->start(QStringLiteral("wsl.exe"), {QStringLiteral("-l"), QStringLiteral("-q")});
}

void MachineDialog::finish() {
    emit chosen(spec());
    accept();
}

} // namespace espalier
