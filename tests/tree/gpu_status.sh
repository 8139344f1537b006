#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tools/gpu-status says, state by state of a pretended machine, from no card to nothing missing.
set -euo pipefail
script=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

expect() { # what is missing; empty: silence
  local said
  said=$(ESPALIER_ROOT=$root "$script")
  if [ -z "$1" ] && [ -n "$said" ]; then echo "Silence was expected, this came: $said"; exit 1; fi
  if [[ "$said" != *"$1"* ]]; then echo "\"$1\" was expected, this came: $said"; exit 1; fi
  if [ -n "$said" ] && [[ "$said" != *"tools/install-dependencies --gpu"*" GB on disk"* ]]; then
    echo "No command, or no size: $said"; exit 1
  fi
}
device() { # slot, vendor, class
  mkdir -p "$root/sys/bus/pci/devices/$1"
  echo "$2" >"$root/sys/bus/pci/devices/$1/vendor"
  echo "$3" >"$root/sys/bus/pci/devices/$1/class"
}

expect ""
device 0000:00:02.0 0x8086 0x030000 # another maker's card
device 0000:01:00.1 0x10de 0x040300 # a sound device
expect ""
device 0000:01:00.0 0x10de 0x030200
expect "driver is not loaded"
mkdir -p "$root/proc/driver/nvidia"
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12" >"$root/proc/driver/nvidia/version"
expect "driver 535.183.01 is too old"
echo "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build" >"$root/proc/driver/nvidia/version"
expect "CUDA's compiler and cuDNN, about 0.8 GB"
mkdir -p "$root/usr/include/x86_64-linux-gnu" "$root/usr/local/cuda-13.0/bin"
touch "$root/usr/include/x86_64-linux-gnu/cudnn_backend.h"
expect "CUDA's compiler, about 0.3 GB"
touch "$root/usr/local/cuda-13.0/bin/nvcc"
expect ""
rm "$root/usr/include/x86_64-linux-gnu/cudnn_backend.h"
expect "cuDNN, about 0.5 GB"
rm -r "$root/proc"
mkdir -p "$root/usr/lib/wsl/lib" # the driver is that of Windows
touch "$root/usr/lib/wsl/lib/libcuda.so.1"
expect "cuDNN, about 0.5 GB"
