/* The boards for which there is an image: their RAM sizes, and published speeds of their memory and
 * cards. Nothing here was measured with Ingot. Each row, BOARD(name, members of struct
 * board_facts), is in board/NAME/board.def with its sources. */
#ifndef INGOT_HOST_BOARD_TABLE_H
#define INGOT_HOST_BOARD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BOARD_MOST_SIZES = 5 };

struct board_facts {
    const char *name;  /* name for BOARD= */
    const char *title; /* name as people call it */
    const char *also;  /* another board that uses this image, by its name for --board; NULL: none */
    uint32_t also_mib; /* RAM of that other board in MiB */
    uint32_t ram_mib
        [BOARD_MOST_SIZES]; /* RAM sizes that are sold, ascending, then 0. For a QEMU machine: the
                             * size that `make run` uses; QEMU takes any size */
    uint32_t usual_mib;     /* used if no size is given */
    uint32_t
        cache_kib; /* size of a core's second-level cache, shared or not; 0: an emulator, which has
                    * no fixed one */
    uint32_t memory_mb; /* Peak rate of its memory bus in MB/s: transfers per second times width.
                                           Programs get less. 0: an emulator, which has no published
                                           rate */
    const char *memory; /* the kind of memory, such as "LPDDR4-3200, 32 bits" */
    uint32_t
        card_kb; /* rate in kB/s of the card's bus mode that Ingot's driver uses (SD Physical Layer Simplified
                                           Specification, 4.3.10 and 3.6): high speed 25000, DDR50 50000,
                                           SDR104 at 200 MHz 100000; 0: an emulator */
    const char *card; /* that mode */
};

/* Return all boards, by name. */
const struct board_facts *board_facts_all(size_t *n);

/* Find the board whose `name` or `also` is this name; NULL if there is none. */
const struct board_facts *board_facts_find(const char *name);

/* Return the RAM in MiB that the board is assumed to have if it is called by this name. */
uint32_t board_facts_usual(const struct board_facts *b, const char *name);

/* Write all RAM sizes of a board to text, such as "512 MiB, 1 GiB". */
void board_facts_sizes(const struct board_facts *b, char *text, size_t bytes);

/* True if the board is sold with `bytes` of RAM; an emulator takes any size. */
bool board_facts_has(const struct board_facts *b, uint64_t bytes);

#endif
