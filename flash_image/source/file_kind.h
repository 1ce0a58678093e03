/* The kind of a file by its first bytes. A wrong file is refused with a message that names its
 * kind and gives advice, not with an error about its first number. */
#ifndef INGOT_FLASH_IMAGE_FILE_KIND_H
#define INGOT_FLASH_IMAGE_FILE_KIND_H

#include "flash_image/source/source.h"

/* Kinds up to FILE_PIECES are used by some command. */
enum file_kind {
    FILE_UNKNOWN,
    FILE_INGOT,
    FILE_GGUF,
    FILE_SAFETENSORS,
    FILE_JSON,
    FILE_PIECES, /* a SentencePiece tokenizer, as tokenizer.model */
    FILE_LFS_POINTER,
    FILE_HTML,
    FILE_TORCH_ZIP,
    FILE_TORCH_PICKLE,
    FILE_NUMPY,
    FILE_HDF5,
    FILE_ONNX,
    FILE_TFLITE,
    FILE_GGML,
    FILE_ZIP,
    FILE_GZIP,
    FILE_COMPRESSED, /* by xz, zstd, bzip2 or 7-Zip */
    FILE_TAR,
    FILE_PDF,
    FILE_OWN,   /* another file of Ingot: an adapter, a grammar, or a saved file of a board */
    FILE_ZEROS, /* a file of zeros, which reserves space on a card or was never filled */
    FILE_TEXT,  /* any other file without control characters */
    FILE_KINDS
};

/* The purpose of a file. */
enum file_place {
    PLACE_MODEL,       /* the argument of a command; llama2.c's files have no magic and are
                          FILE_UNKNOWN */
    PLACE_GGUF_PART,   /* of a split model */
    PLACE_SAFETENSORS, /* weights of a Hugging Face folder */
    PLACE_JSON,        /* config.json, tokenizer.json, an index */
    PLACE_PIECES,      /* tokenizer.model */
    PLACE_TOKENIZER,   /* --tokenizer, and the file in the folder of a llama2.c checkpoint */
    PLACE_TEMPLATE,    /* chat_template.jinja */
    PLACE_INGOT,       /* for commands that take only an .ingot file */
    PLACE_ADAPTER,     /* for `ingot adapter`: the file from which an adapter is made */
    FILE_PLACES
};

enum file_kind file_kind_of(const uint8_t *data, size_t bytes);

/* If the file's kind is known and wrong in this place, write "is WHAT, not WANTED; CURE" to
 * error_message and return false. Otherwise return true. */
bool file_kind_suits(enum file_place place, const uint8_t *data, size_t bytes, char *error_message,
                     size_t error_message_bytes);

#endif
