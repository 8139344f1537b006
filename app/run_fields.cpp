// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_fields.h"

#include "toggle_words.h"
#include "words.h"

#include <algorithm>

namespace espalier {

namespace {

/// The toggles behind the fields of the training, each with its sentence; those that few need are folded away.
std::vector<FormField> with_toggles(std::vector<FormField> fields) {
    const auto first_advanced = std::ranges::find(fields, true, &FormField::advanced);
    std::vector<FormField> usual, rare;
    for (const Toggle& toggle : toggles()) {
        FormField field;
        field.path = QStringLiteral("toggles.") + toggle.name;
        field.label = toggle.title;
        field.sentence = toggle.sentence;
        field.kind = FormField::Kind::toggle;
        if (toggle.name == u"precision") {
            field.kind = FormField::Kind::choice;
            field.choices = {{"auto", tr("Automatic")},
                             {"fp16", "fp16"},
                             {"bf16", "bf16"},
                             {"tf32", "tf32"},
                             {"fp32", tr("fp32 (strict)")}};
        }
        field.advanced = toggle.name == u"deterministic" || toggle.name == u"reference_separable";
        field.section = field.advanced ? tr("Execution") : tr("Safety and precision");
        (field.advanced ? rare : usual).push_back(std::move(field));
    }
    fields.insert(first_advanced, usual.begin(), usual.end());
    fields.insert(fields.end(), rare.begin(), rare.end()); // behind the other fields of the execution
    return fields;
}

} // namespace

const std::vector<FormField>& run_fields() {
    using Kind = FormField::Kind;
    static const std::vector<FormField> plain{
        {"data",
         tr("Data"),
         tr("Data set"),
         Kind::open_choice,
         0,
         0,
         {{"builtin", tr("Built-in clothing images")}, {"fashion-mnist", tr("Fashion-MNIST, whole")}},
         tr("A built-in set; folder:FOLDER with a folder of images for each class; csv:FILE, cifar10:FOLDER, "
            "idx:FOLDER")},
        {"image_size",
         tr("Data"),
         tr("Image size"),
         Kind::integer,
         0,
         1024,
         {},
         tr("Pixels that image files are scaled to, shorter side; 0: the size of the first one")},
        {"network.base_width",
         tr("Network"),
         tr("Width"),
         Kind::integer,
         1,
         1024,
         {},
         tr("Channels of the first stage; each later stage doubles them")},
        {"network.stages",
         tr("Network"),
         tr("Blocks of each stage"),
         Kind::integers,
         1,
         64,
         {},
         tr("A number for each stage, with commas between")},
        {"backend",
         tr("Training"),
         tr("Device"),
         Kind::choice,
         0,
         0,
         {{"auto", tr("Automatic: the best there is")}},
         tr("What trains it")},
        {"epochs", tr("Training"), tr("Epochs"), Kind::integer, 1, 100000, {}, tr("How often every image is seen")},
        {"batch", tr("Training"), tr("Batch"), Kind::integer, 1, 65536, {}, tr("Images of one step")},
        {"optimizer.learning_rate", tr("Training"), tr("Learning rate"), Kind::real, 1e-8, 100},
        {"class_weights",
         tr("Training"),
         tr("Class weights"),
         Kind::choice,
         0,
         0,
         {{"none", tr("None")}, {"balanced", tr("Balanced")}},
         tr("How much an image of each class counts in the loss"),
         false,
         tr("Balanced lets rare classes count as much as frequent ones.")},
        {"seed", tr("Training"), tr("Seed"), Kind::integer, 0, 9e15, {}, tr("The same seed gives the same run")},
        {"max_bad_share",
         tr("Data"),
         tr("Share of bad files"),
         Kind::real,
         0,
         1,
         {},
         tr("So many of the image files may be bad, and are left out; 0.1: every tenth. With more a run is refused"),
         true},
        {"optimizer.kind",
         tr("Optimizer"),
         tr("Optimizer"),
         Kind::choice,
         0,
         0,
         {{"sgd", tr("SGD with momentum")}, {"adam", tr("Adam")}, {"adamw", tr("AdamW")}},
         {},
         true},
        {"optimizer.momentum", tr("Optimizer"), tr("Momentum"), Kind::real, 0, 0.9999, {}, {}, true},
        {"optimizer.weight_decay", tr("Optimizer"), tr("Weight decay"), Kind::real, 0, 1, {}, {}, true},
        {"optimizer.clip_norm",
         tr("Optimizer"),
         tr("Gradient clip"),
         Kind::real,
         0,
         1e6,
         {},
         tr("Largest norm of the gradient; 0: none"),
         true},
        {"schedule.kind",
         tr("Schedule"),
         tr("Schedule"),
         Kind::choice,
         0,
         0,
         {{"cosine", tr("Cosine")}, {"step", tr("Steps")}, {"constant", tr("Constant")}},
         {},
         true},
        {"schedule.warmup_epochs",
         tr("Schedule"),
         tr("Warm-up epochs"),
         Kind::real,
         0,
         1000,
         {},
         tr("The rate rises from 0 for so long"),
         true},
        {"label_smoothing", tr("Regularisation"), tr("Label smoothing"), Kind::real, 0, 0.9, {}, {}, true},
        {"augmentation.crop",
         tr("Regularisation"),
         tr("Random crop"),
         Kind::integer,
         0,
         64,
         {},
         tr("Pixels of padding before a crop back to size; 0: none"),
         true},
        {"augmentation.flip", tr("Regularisation"), tr("Random flip"), Kind::toggle, 0, 0, {}, {}, true},
        {"accumulation",
         tr("Execution"),
         tr("Accumulation"),
         Kind::integer,
         1,
         1024,
         {},
         tr("Batches whose gradients make one step"),
         true},
        {"patience",
         tr("Execution"),
         tr("Patience"),
         Kind::integer,
         0,
         10000,
         {},
         tr("Stop after so many evaluations without a better one; 0: never"),
         true},
        {"threads", tr("Execution"), tr("Threads"), Kind::integer, 0, 1024, {}, tr("0: all of the processor"), true},
    };
    static const std::vector<FormField> fields = with_toggles(plain);
    return fields;
}

const QMap<QString, QVariant>& field_defaults() {
    static const QMap<QString, QVariant> defaults{
        {"data", "builtin"},
        {"image_size", 0},
        {"max_bad_share", 0.1},
        {"backend", "auto"},
        {"epochs", 10},
        {"batch", 64},
        {"class_weights", "none"},
        {"seed", 1},
        {"optimizer.learning_rate", 0.1},
        {"optimizer.kind", "sgd"},
        {"optimizer.momentum", 0.9},
        {"optimizer.weight_decay", 5e-4},
        {"optimizer.clip_norm", 0.0},
        {"schedule.kind", "cosine"},
        {"schedule.warmup_epochs", 0.0},
        {"label_smoothing", 0.0},
        {"augmentation.crop", 0},
        {"augmentation.flip", false},
        {"accumulation", 1},
        {"patience", 0},
        {"threads", 0},
        {"toggles.safe_mode", false},
        {"toggles.precision", "auto"},
        {"toggles.fused", true},
        {"toggles.cuda_graphs", true},
        {"toggles.reference_separable", false},
        {"toggles.recompute", false},
        {"toggles.deterministic", false},
    };
    return defaults;
}

} // namespace espalier
