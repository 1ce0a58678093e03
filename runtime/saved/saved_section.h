/* A section is what a feature keeps in a file of its own: how it is counted, moved and believed. Writing, reading and the
 * checks of a card are saved_chat.h's, the same for all. */
#ifndef INGOT_RUNTIME_SAVED_SECTION_H
#define INGOT_RUNTIME_SAVED_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

struct saved_chat_state;
struct saved_chat_header;

/* The header's. dim must be the same where it is loaded. */
struct saved_counts {
    uint32_t dim, examples, notes;
};

/* Passes memory on, or fills it. */
typedef enum err saved_move_fn(void *context, void *memory, size_t bytes);

/* data: the feature's own, saved_chat_state.data. */
struct saved_section {
    const char *magic;   /* 8 bytes, the file's first */
    const char *command; /* that writes the file */
    const char *what;    /* it holds: "what was learnt" */
    const char *needs;   /* room: "lessons need" */

    /* Counts of now, and the most that there may be. */
    void (*count)(const void *data, struct saved_counts *now, struct saved_counts *most);
    /* The size of a payload with these counts. */
    uint64_t (*payload_bytes)(const void *data, const struct saved_counts *counts);
    /* All of it in one order. loads: memory is filled, and nothing of it is believed before is_sound. ERR_BAD_MODEL: counts that
     * cannot be; errors of move, after which a load is a mix: clear. */
    enum err (*move_all)(void *data, bool loads, saved_move_fn *move, void *context);
    bool (*has_nothing)(const void *data); /* that could be saved */
    bool (*is_sound)(const void *data, uint32_t vocab);
    void (*clear_all)(void *data);
    /* Whether the counts of file `name` need more room than this start has (most), and a start with more memory can have it:
     * then text (bytes) says so. NULL: all starts have the same room. */
    bool (*lacks_room)(const struct saved_counts *counts, const struct saved_counts *most,
                       const char *name, char *text, size_t bytes);
};

/* The same by the header of a file, for saved_chat*.c: its counts to h, those of now or the most; whether the counts of h are
 * possible, need more room than there is (lacks_room), and are those in memory now; bytes of a payload with them. */
void saved_section_describe(const struct saved_chat_state *state, struct saved_chat_header *h);
void saved_section_describe_most(const struct saved_chat_state *state, struct saved_chat_header *h);
bool saved_section_fits(const struct saved_chat_state *state, const struct saved_chat_header *h);
bool saved_section_lacks_room(const struct saved_chat_state *state,
                              const struct saved_chat_header *h, const char *name, char *text,
                              size_t bytes);
bool saved_section_agrees(const struct saved_chat_state *state, const struct saved_chat_header *h);
uint64_t saved_section_bytes(const struct saved_chat_state *state,
                             const struct saved_chat_header *h);

#endif
