// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/byte_source.h"
#include "data/memory_dataset.h"

#include <filesystem>

namespace espalier {

/// One file of the binary CIFAR format (https://www.cs.toronto.edu/~kriz/cifar.html): records of `label_bytes` label
/// bytes, of which the last is the class, and 3072 bytes of a 3x32x32 image. Throws DataError, naming file, index and
/// bytes, if the file is empty, ends within a record, or has a label that is not below `classes`.
[[nodiscard]] MemoryPart read_cifar_file(ByteSource& source, const std::string& name, std::size_t label_bytes,
                                         std::size_t classes);

/// Opens DIR/data_batch_1.bin to data_batch_5.bin and test_batch.bin (info.kind "cifar10"), or DIR/train.bin and
/// test.bin with their fine labels ("cifar100"), or those in the folder that their archives unpack to
/// (cifar-10-batches-bin, cifar-100-binary). Training files that are not there make the set smaller, with a remark; the
/// first must be. Class names come from batches.meta.txt or fine_label_names.txt; without them they are numbers.
[[nodiscard]] std::shared_ptr<const Dataset> open_cifar(const std::filesystem::path& folder, DatasetInfo info);

/// The folder in which those files lie, `folder` or one within it. Throws DataError if the first one is not there.
[[nodiscard]] std::filesystem::path find_cifar(std::filesystem::path folder, const std::string& kind);

} // namespace espalier
