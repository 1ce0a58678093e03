/* The kind of a file by its first bytes: so that one in another's place is refused by what it is, with
 * what to do, and not by the first number in it that makes no sense. */
#ifndef INGOT_FLASH_IMAGE_FILE_KIND_H
#define INGOT_FLASH_IMAGE_FILE_KIND_H

#include "flash_image/source/source.h"

/* Those up to FILE_PIECES have a place here. */
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
    FILE_OWN,   /* Ingot's own but for models: an adapter, a grammar, what a board saves */
    FILE_ZEROS, /* a file that a card was given room for, or that was not filled */
    FILE_TEXT,  /* any other without control characters */
    FILE_KINDS
};

/* The uses of a file. */
enum file_place {
    PLACE_MODEL,       /* the argument of a command; llama2.c's files have no first bytes of their
                        * own and are FILE_UNKNOWN */
    PLACE_GGUF_PART,   /* of a split model */
    PLACE_SAFETENSORS, /* weights of a Hugging Face folder */
    PLACE_JSON,        /* config.json, tokenizer.json, an index */
    PLACE_PIECES,      /* tokenizer.model */
    PLACE_TOKENIZER,   /* --tokenizer, and what lies beside a llama2.c checkpoint */
    PLACE_TEMPLATE,    /* chat_template.jinja */
    PLACE_INGOT,       /* of commands that take an .ingot file alone */
    PLACE_ADAPTER,     /* of `ingot adapter`: the file that an adapter is made of */
    FILE_PLACES
};

enum file_kind file_kind_of(const uint8_t *data, size_t bytes);

/* "is WHAT, not WANTED; CURE" into error_message, and false, where the file is of a kind that is known and
 * wrong in this place. True: right, or of no kind that is known. */
bool file_kind_suits(enum file_place place, const uint8_t *data, size_t bytes, char *error_message,
                     size_t error_message_bytes);

#endif
