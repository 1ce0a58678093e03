/* All errors of Ingot. 0 means success, a negative number is a named error. err.c has a message for
 * each error, which tells a user what to do. */
#ifndef INGOT_BOARD_ERR_H
#define INGOT_BOARD_ERR_H

#include <stdbool.h>

enum err {
    ERR_OK = 0,
    ERR_BUSY = -1,           /* queue full, or not finished: poll and try again */
    ERR_NO_DEVICE = -2,      /* no card, no flash, or no such device */
    ERR_IO = -3,             /* the device reported a failed transfer */
    ERR_TIMEOUT = -4,        /* the device did not answer in time */
    ERR_RANGE = -5,          /* a read beyond the end of the device or file */
    ERR_NOT_FOUND = -6,      /* no such file on the card */
    ERR_NO_FILESYSTEM = -7,  /* there is no MBR with a FAT32 partition */
    ERR_BAD_FILESYSTEM = -8, /* FAT32 present and damaged */
    ERR_TOO_FRAGMENTED = -9, /* the file has more extents than the table can hold */
    ERR_BAD_MAGIC = -10,     /* not an .ingot file */
    ERR_BAD_VERSION = -11,   /* the .ingot file has a version that this build cannot read */
    ERR_BAD_HEADER = -12,    /* a field of the header is out of bounds */
    ERR_BAD_CHECKSUM = -13,  /* CRC-32C of a section or extent does not match */
    ERR_TRUNCATED = -14,     /* the file is shorter than its header says */
    ERR_UNSUPPORTED = -15,   /* the file is well-formed, but of a kind that is not supported */
    ERR_NO_SPACE = -16,      /* something does not fit into the arena */
    ERR_TOO_LONG = -17,      /* a prompt exceeds the context, or a line its buffer */
    ERR_BAD_ARGUMENT = -18,  /* unknown or malformed option */
    ERR_ABORTED = -19,       /* the user pressed Ctrl-C */
    ERR_BAD_TOKENIZER = -20, /* the tokenizer section is malformed, or has no token for a text */
    ERR_BAD_MODEL = -21,     /* a model file of another format (GGUF, llama2.c) is malformed */
    ERR_REMOVED = -22,       /* the card was taken out, or another one is in its place */
    ERR_NOT_SIGNED = -23,    /* the image has a key, but the file has no valid signature made with
                                it */
    ERR_COUNT = 24
};

/* Return ERR_OK if `well` is true, else e. */
static inline enum err err_unless(bool well, enum err e)
{
    if (well)
        return ERR_OK;
    return e;
}

/* One line of text for e, without a full stop or newline. Never NULL. */
const char *err_text(enum err e);

#endif
