// SPDX-License-Identifier: Apache-2.0
#include "data/builtin.h"

#include "data/idx.h"

// The four files, put into the program by builtin_files.S; each `_end` stands behind its file's last byte.
extern "C" {
extern const std::uint8_t espalier_builtin_train_images[], espalier_builtin_train_images_end[];
extern const std::uint8_t espalier_builtin_train_labels[], espalier_builtin_train_labels_end[];
extern const std::uint8_t espalier_builtin_validation_images[], espalier_builtin_validation_images_end[];
extern const std::uint8_t espalier_builtin_validation_labels[], espalier_builtin_validation_labels_end[];
}

namespace espalier {
namespace {

std::unique_ptr<ByteSource> embedded(const std::uint8_t* begin, const std::uint8_t* end) {
    return unpacked(bytes_of({begin, end}));
}

} // namespace

std::vector<std::string> fashion_mnist_classes() {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}

std::shared_ptr<const Dataset> open_builtin() {
    DatasetInfo info{.spec = "builtin", .kind = "builtin", .classes = fashion_mnist_classes(), .image = {}};
    auto train = read_idx_pair(
        {embedded(espalier_builtin_train_images, espalier_builtin_train_images_end), "builtin training images",
         embedded(espalier_builtin_train_labels, espalier_builtin_train_labels_end), "builtin training labels"},
        info.classes.size());
    auto validation =
        read_idx_pair({embedded(espalier_builtin_validation_images, espalier_builtin_validation_images_end),
                       "builtin validation images",
                       embedded(espalier_builtin_validation_labels, espalier_builtin_validation_labels_end),
                       "builtin validation labels"},
                      info.classes.size());
    info.image = train.image;
    return std::make_shared<MemoryDataset>(std::move(info), std::move(train), std::move(validation), MemoryPart{});
}

} // namespace espalier
