// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "data/file_listing.h"

namespace espalier {

/// The data set of listed image files, always of three channels.
///
/// Every image is scaled until it just covers the set's size (options.image_size squared, or the size of the first
/// image), shorter side to the size. What is longer is cut: the middle for read(), any place for read_cropped(). Of
/// very long images only the middle twice as long as the size is kept.
///
/// With options.decode all files are decoded now and kept, in memory and (data/image_cache.h) for the next time; files
/// that cannot be decoded are left out, and told by left_out(). Throws DataError if more than options.max_bad_share of
/// them cannot, or none can. Without it each image is decoded when it is read, and a bad one throws then.
[[nodiscard]] std::shared_ptr<const Dataset> open_image_files(DatasetInfo info, FileListing listing,
                                                              const OpenOptions& options);

} // namespace espalier
