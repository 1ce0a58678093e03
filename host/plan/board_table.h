/* The boards with an image: the sizes of RAM with which they are sold, and published speeds of their memory
 * and cards. Nothing here was measured with Ingot. The rows are board/NAME/board.def, BOARD(name, members
 * of struct board_facts), with their sources. */
#ifndef INGOT_HOST_BOARD_TABLE_H
#define INGOT_HOST_BOARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOARD_MOST_SIZES = 5 };

struct board_facts {
    const char *name;  /* as BOARD= takes it */
    const char *title; /* as people call it */
    const char *also; /* another board that uses this image, as --board takes it; NULL: none; ... */
    uint32_t also_mib; /* ... with so much RAM */
    uint32_t ram_mib
        [BOARD_MOST_SIZES]; /* the sizes with which it is sold, ascending; 0 ends them. For one
                                         * of QEMU's machines the size that `make run` uses; it takes any
                                         * other */
    uint32_t usual_mib;     /* used if no size is given */
    uint32_t
        cache_kib; /* a core's second level, shared or not; 0: an emulator, which has the configured one */
    uint32_t
        memory_mb; /* MB/s that the bus of its memory can carry at most: transfers per second times
                                         * its width. Programs get less. 0: an emulator, for which nothing is
                                         * published */
    const char *memory; /* the kind of memory, such as "LPDDR4-3200, 32 bits" */
    uint32_t card_kb;   /* kB/s of the bus mode that Ingot's driver uses, by the SD Physical Layer
                                         * Simplified Specification, 4.3.10 and 3.6: high speed 25000, DDR50 50000; 0:
                                         * as above */
    const char *card;   /* that mode */
};

/* All, by name. */
const struct board_facts *board_facts_all(size_t *n);

/* The board of that name, or the one whose `also` it is; NULL: there is none. */
const struct board_facts *board_facts_find(const char *name);

/* The RAM that is assumed under that name, in MiB. */
uint32_t board_facts_usual(const struct board_facts *b, const char *name);

/* Write "512 MiB, 1 GiB", all sizes of a board, to text. */
void board_facts_sizes(const struct board_facts *b, char *text, size_t bytes);

/* True if it is sold with `bytes` of RAM; an emulator takes any size. */
bool board_facts_has(const struct board_facts *b, uint64_t bytes);

#endif
