/* A section is the data that a feature keeps in its own file. The functions below count, move and
 * check the data; saved_chat.h writes, reads and verifies the file for all features. */
#ifndef INGOT_RUNTIME_SAVED_SECTION_H
#define INGOT_RUNTIME_SAVED_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

struct saved_chat_state;
struct saved_chat_header;

/* The header's counts. A file is loaded only with the same dim. */
struct saved_counts {
    uint32_t dim, examples, notes;
};

/* Writes memory to a file, or fills it from a file. */
typedef enum err saved_move_fn(void *context, void *memory, size_t bytes);

/* The functions of a section; `data` is the feature's own (saved_chat_state.data). */
struct saved_section {
    const char *magic;   /* the first 8 bytes of the file */
    const char *command; /* the command that writes the file */
    const char *what;    /* the contents: "what was learnt" */
    const char *needs;   /* subject and verb before "more room": "lessons need" */

    /* Gets the present counts, and the highest possible counts. */
    void (*count)(const void *data, struct saved_counts *now, struct saved_counts *most);
    /* The size of a payload with these counts. */
    uint64_t (*payload_bytes)(const void *data, const struct saved_counts *counts);
    /* Move everything, always in the same order. If `loads` is true, fill memory from the file;
     * trust the result only after is_sound. ERR_BAD_MODEL: impossible counts. After an error, also
     * of move, a load is incomplete: call clear_all. */
    enum err (*move_all)(void *data, bool loads, saved_move_fn *move, void *context);
    bool (*has_nothing)(const void *data); /* true: there is nothing to save. is_sound is true if
                                            * the data are valid */
    bool (*is_sound)(const void *data, uint32_t vocab);
    void (*clear_all)(void *data);
    /* Return true, with a message in text (bytes), if the counts of file `name` exceed `most`, the
     * highest counts with this start's memory, but would fit after a start with more memory.
     * lacks_room is NULL if the highest counts do not depend on memory. */
    bool (*lacks_room)(const struct saved_counts *counts, const struct saved_counts *most,
                       const char *name, char *text, size_t bytes);
};

/* saved_chat*.c uses these functions for a file's header h. _describe and _describe_most write the
 * present counts and the highest counts to h. _fits, _lacks_room and _agrees return true if the
 * counts of h are possible, need more room (lacks_room), or equal the present counts. _bytes
 * returns the bytes of the payload. */
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
