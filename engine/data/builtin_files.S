// SPDX-License-Identifier: Apache-2.0
// Puts the files of resources/data into the program as they are. The assembler is told their folder.
#if defined(__APPLE__)
#define SYMBOL(name) _##name
    .const
#elif defined(_WIN32)
#define SYMBOL(name) name
    .section .rdata, "dr"
#else
#define SYMBOL(name) name
    .section .rodata
#endif

#define EMBED(name, file)            \
    .global SYMBOL(name);            \
    .balign 16;                      \
    SYMBOL(name):                    \
    .incbin file;                    \
    .global SYMBOL(name##_end);      \
    SYMBOL(name##_end):              \
    .byte 0

    EMBED(espalier_builtin_train_images, "train-images-idx3-ubyte.gz")
    EMBED(espalier_builtin_train_labels, "train-labels-idx1-ubyte.gz")
    EMBED(espalier_builtin_validation_images, "validation-images-idx3-ubyte.gz")
    EMBED(espalier_builtin_validation_labels, "validation-labels-idx1-ubyte.gz")

#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
