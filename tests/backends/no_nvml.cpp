// SPDX-License-Identifier: Apache-2.0
// A library that can be opened and is not NVML.
extern "C" int nothing() { return 0; }
