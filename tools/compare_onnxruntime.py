#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares an exported ONNX file, run by onnxruntime, with the engine's own probabilities.

    espalier-train export RUN --format onnx --out network.onnx
    espalier-train predict RUN image1.png image2.png ... --backend cpu --json > predicted.jsonl
    tools/compare_onnxruntime.py network.onnx predicted.jsonl

Both compute in float32 on the processor. The images must have the network's size and be lossless (PNG), so that neither resizing nor
two decoders' rounding stands between the two. Needs the Python packages onnxruntime, numpy and Pillow. Exit code 0: all probabilities agree within the tolerance; 1: some do not; 2: the files do not fit together.
"""
import argparse
import json
import sys

import numpy
import onnxruntime
from PIL import Image


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("onnx")
    parser.add_argument("predictions", help="lines of `espalier-train predict --json`")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()

    session = onnxruntime.InferenceSession(options.onnx, providers=["CPUExecutionProvider"])
    image_input = session.get_inputs()[0]
    _, channels, height, width = image_input.shape
    metadata = session.get_modelmeta().custom_metadata_map
    names = json.loads(metadata["class_names"])
    classes = session.get_outputs()[0].shape[1]
    names += [str(i) for i in range(len(names), classes)]

    pixels, expected, files = [], [], []
    with open(options.predictions, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            image = Image.open(line["image"])
            if image.format == "JPEG":
                print(f"{line['image']} is a JPEG, which two decoders may read differently. Take lossless images, such as PNG.", file=sys.stderr)
                return 2
            image = image.convert("L" if channels == 1 else "RGB")
            if image.size != (width, height):
                print(f"{line['image']} is {image.size[0]}x{image.size[1]}, but the network takes {width}x{height}.", file=sys.stderr)
                return 2
            pixels.append(numpy.asarray(image, numpy.uint8).reshape(height, width, channels).transpose(2, 0, 1))
            by_name = {one["name"]: one["probability"] for one in line["classes"]}
            expected.append([by_name[name] for name in names])
            files.append(line["image"])
    if not files:
        print("There is no prediction in the file.", file=sys.stderr)
        return 2

    found = session.run(["probabilities"], {image_input.name: numpy.stack(pixels)})[0]
    differences = numpy.abs(found - numpy.asarray(expected)).max(axis=1)
    largest = float(differences.max())
    print(f"{len(files)} images, largest difference {largest:.2g} ({files[int(differences.argmax())]}), "
          f"tolerance {options.tolerance:.2g}")
    return 0 if largest <= options.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
