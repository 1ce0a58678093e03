/* Keeps computed prompts, in blocks. If a prompt begins like an earlier prompt, only its new tokens
 * are computed, even in another sequence or after a restart. Blocks are kept in memory, and in a
 * file if there is one.
 *
 * A block has `distance` tokens: their ids, their keys and values, and for models with a recurrence
 * the state after the last token, called the block's mark. A block follows its parent, which it
 * names by a serial number that is never used twice. So sequences share the blocks of a common
 * beginning, and equal ids after different beginnings are different blocks. Blocks are found by a
 * hash of model, parent and ids; then the ids are compared. The memory is limited: the block that
 * was used longest ago is dropped, and the end of a sequence counts as older than its beginning.
 *
 *   file: the header, a table of one sector for each slot, then the slots: ids, keys and values,
 *         marks, each filled up to whole sectors.
 *
 * A slot's sector in the table has the checksums of the slot's bytes, and is written last. So if
 * the power fails while a slot is written, the slot is not valid.
 *
 * Whoever can read the file sees the conversations, so the file is as private as a saved
 * conversation. Only core 0 calls these functions, between passes. */
#ifndef INGOT_RUNTIME_KEPT_H
#define INGOT_RUNTIME_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/platform.h"
#include "runtime/session/session.h"
#include "runtime/storage/file.h"

enum {
    KEPT_DISTANCE = 64,      /* tokens of a block if all layers keep keys and values */
    KEPT_MARKS_LEAST = 256,  /* least tokens of a block if a layer keeps a recurrent state, whose
                              * copy, the mark, is large */
    KEPT_MARKS_MOST = 1024,  /* most tokens of such a block, reached by doubling */
    KEPT_MARKS_TIMES = 4,    /* blocks get longer until a mark has at most this many times the bytes
                              * of its block's keys and values, or the length is KEPT_MARKS_MOST */
    KEPT_BLOCKS_MOST = 4096, /* blocks in memory, and in the file */
    KEPT_ERROR_MESSAGE_BYTES = 320,
};

struct kept_block {
    uint64_t serial;              /* 0: free */
    uint64_t parent;              /* 0: the block is the first of its sequence */
    uint64_t hash;                /* hash of model, parent and ids */
    uint64_t used;                /* time of the latest use: a higher number is later */
    uint32_t model;               /* session_model_crc */
    uint32_t end;                 /* tokens of the sequence up to the block's end */
    bool has_mark;                /* the block has its mark, or the model needs none */
    bool wanted;                  /* the block is in memory, and has to be written to the file */
    uint32_t keys_crc, marks_crc; /* in the file: checksums of ids, keys and values; of marks */
};

struct kept_setup {
    struct memory_range memory; /* memory for blocks and their lists; 64-byte aligned */
    const struct file *file;    /* NULL: none */
    uint32_t distance;          /* a multiple of KV_TILE; 0: the constants above decide */
};

struct kept {
    uint32_t distance;
    size_t keys_bytes,
        marks_bytes; /* sizes in whole sectors: of ids, keys and values; of marks (0: no marks) */
    struct kept_block *memory; /* (n_memory) */
    uint8_t *slots;            /* (n_memory) */
    uint32_t n_memory;
    struct kept_block *card; /* (n_card) */
    uint32_t n_card;         /* 0: there is no file, or it has failed */
    const struct file *file;
    struct file_read io;
    uint64_t serial; /* the latest serial number */
    uint64_t clock;
    uint64_t n_read, n_written; /* blocks of the file */
    bool of_another; /* the file had prompts of another model or of other types, so it was
                      * emptied */
    char error_message
        [KEPT_ERROR_MESSAGE_BYTES]; /* a message for the user: why nothing is kept, or why the
                                     * file is no longer used; "" if all is well */
};

/* Open for sequences of the model of s. All of them have the types of keys and values of s. Return
 * false if nothing is kept: k->error_message says why, and all calls below do nothing. If the
 * result is true and there is an error_message, the file is not used. The file stays unchanged if
 * it is not a file of kept prompts, if its header is damaged, or if it has another version. A file
 * of zeros is initialized; a file of another model is emptied. */
bool kept_open(struct kept *k, const struct kept_setup *setup, struct session *s);

/* A sequence's passes have to end at multiples of a number of tokens (struct session_group),
 * because states are copied there. Return this number; 0: passes may end anywhere. */
uint32_t kept_step(const struct kept *k);

/* Call after a prompt was put into s: moves the kept blocks with which the prompt begins into the
 * states. Returns how many of the prompt's tokens are then cached, always fewer than all. */
uint32_t kept_take(struct kept *k, struct session *s);

/* Call after a pass: keeps what s has computed, in whole blocks. The first n_prompt tokens are a
 * prompt, which is also written to the file. */
void kept_follow(struct kept *k, struct session *s, uint32_t n_prompt);

/* Return true if a block waits for kept_write. */
bool kept_waits(const struct kept *k);

/* Stop using the file. why: a sentence for k->error_message. */
void kept_leave_file(struct kept *k, const char *why);

/* Call when there is time: writes a block to the file, or returns false if none waits. */
bool kept_write(struct kept *k);

#endif
