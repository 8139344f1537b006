// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/byte_source.h"
#include "data/memory_dataset.h"

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

/// The format of MNIST (http://yann.lecun.com/exdb/mnist/): bytes 0, 0, element type, rank; the extents as big-endian
/// 32-bit numbers; then the elements. Only unsigned bytes (type 8) are read.
struct IdxArray {
    std::vector<std::int64_t> extents;
    std::vector<std::uint8_t> values;
};

/// Reads one array of `rank` dimensions. `name` stands in the messages. Throws DataError if the content is something
/// else, of another rank, shorter or longer than its header says (with both numbers), or damaged. Memory is taken as
/// bytes arrive, never because a header asks for it.
[[nodiscard]] IdxArray read_idx(ByteSource& source, const std::string& name, std::size_t rank);

/// A pair of IDX files: images [N, H, W] and labels [N].
struct IdxPair {
    std::unique_ptr<ByteSource> images;
    std::string images_name;
    std::unique_ptr<ByteSource> labels;
    std::string labels_name;
};

/// Reads a pair and checks that the counts agree and that every label is below `classes`; else throws DataError with
/// file and index. With `bad`, images with such labels are noted there and left out instead.
[[nodiscard]] MemoryPart read_idx_pair(IdxPair pair, std::size_t classes, std::vector<BadFile>* bad = nullptr);

/// Opens DIR/train-images-idx3-ubyte, train-labels-idx1-ubyte and, if they are there, t10k-... (the test part); each
/// with or without
/// ".gz" in its name, and with ".idx3" for "-idx3". Class names come from `classes`; if that is empty, from
/// DIR/classes.txt (one a line); else they are "0" to "9". Faults are thrown as DataError, or noted in `bad` if given.
[[nodiscard]] std::shared_ptr<const Dataset> open_idx_folder(const std::filesystem::path& folder, DatasetInfo info,
                                                             std::vector<BadFile>* bad = nullptr);

/// Throws DataError, as open_idx_folder, if the files of the training part are not there. None is opened.
void check_idx_folder(const std::filesystem::path& folder);

} // namespace espalier
