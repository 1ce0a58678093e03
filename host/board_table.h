/* The boards that there are images for: with which RAM they are sold, and what is published of the
 * speed of their memory and cards. Nothing here was measured with Ingot. */
#ifndef INGOT_HOST_BOARD_TABLE_H
#define INGOT_HOST_BOARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOARD_MOST_SIZES = 5 };

struct board_facts {
    const char *name;                   /* as BOARD= takes it */
    const char *title;                  /* as people call it */
    uint32_t ram_mib[BOARD_MOST_SIZES]; /* as it is sold, rising; 0 ends. Of QEMU's machines what
                                         * `make run` gives them, and any other size will do */
    uint32_t usual_mib;                 /* taken where nobody says which */
    uint32_t
        cache_kib; /* of a core's second level, shared or not; 0: an emulator's, as it is told */
    uint32_t memory_mb; /* megabytes a second: transfers a second, times the width of the bus; 0: an
                           * emulator's, of which nothing is published */
    const char *memory; /* what that is */
    uint32_t card_kb; /* kilobytes a second: the bus mode that Ingot's driver takes; 0: as above */
    const char *card; /* what that is */
};

/* All, in the order in which they are shown. */
const struct board_facts *board_facts_all(size_t *n);

/* NULL: there is none of that name. */
const struct board_facts *board_facts_find(const char *name);

/* "512 MiB, 1 GiB" into text, all sizes of a board. */
void board_facts_sizes(const struct board_facts *b, char *text, size_t bytes);

/* Whether it is sold with `bytes` of RAM; of an emulator any size is. */
bool board_facts_has(const struct board_facts *b, uint64_t bytes);

#endif
