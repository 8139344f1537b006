#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the built-in data set in resources/data from Fashion-MNIST.

    tools/make_builtin_data.py [SOURCE] [TARGET]

SOURCE holds train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz; the default is where Debian's package
dataset-fashion-mnist puts them. Of each of the ten classes, 400 images become training and 200 others validation images. Both
come from Fashion-MNIST's training part: its test part stays unseen. The choice and the order follow from SHA-256 of the
seed and the image's index, so that any version of Python makes the same pixels and labels.
"""
import gzip
import hashlib
import pathlib
import struct
import sys

SEED = "espalier builtin 1"
CLASSES = 10
TRAINING, VALIDATION = 400, 200  # images of each class


def read_idx(path):
    data = gzip.decompress(path.read_bytes())
    rank = data[3]
    extents = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return extents, data[4 + 4 * rank:]


def write_idx(path, extents, body):
    header = struct.pack(">4B", 0, 0, 8, len(extents)) + struct.pack(f">{len(extents)}I", *extents)
    path.write_bytes(gzip.compress(header + body, compresslevel=9, mtime=0))


def rank_of(index):
    return hashlib.sha256(f"{SEED}:{index}".encode()).digest()


def main():
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    here = pathlib.Path(__file__).resolve().parent
    source = arguments[0] if arguments else pathlib.Path("/usr/share/datasets/fashion-mnist")
    target = arguments[1] if len(arguments) > 1 else here.parent / "resources" / "data"

    (count, height, width), pixels = read_idx(source / "train-images-idx3-ubyte.gz")
    (label_count,), labels = read_idx(source / "train-labels-idx1-ubyte.gz")
    assert count == label_count and len(pixels) == count * height * width and len(labels) == count

    order = sorted(range(count), key=rank_of)
    parts = {"train": [], "validation": []}
    for label in range(CLASSES):
        of_class = [index for index in order if labels[index] == label]
        parts["train"] += of_class[:TRAINING]
        parts["validation"] += of_class[TRAINING:TRAINING + VALIDATION]

    target.mkdir(parents=True, exist_ok=True)
    for part, indices in parts.items():
        indices.sort(key=rank_of)
        size = height * width
        body = b"".join(pixels[index * size:(index + 1) * size] for index in indices)
        write_idx(target / f"{part}-images-idx3-ubyte.gz", (len(indices), height, width), body)
        write_idx(target / f"{part}-labels-idx1-ubyte.gz", (len(indices),), bytes(labels[index] for index in indices))
        print(f"{part}: {len(indices)} images")


if __name__ == "__main__":
    main()
