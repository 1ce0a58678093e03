/* A RISC-V machine as SBI firmware hands it over: its tree, its clock, its harts. For board.c. */
#ifndef INGOT_BOARD_DRIVERS_SBI_HARTS_H
#define INGOT_BOARD_DRIVERS_SBI_HARTS_H

#include <stdint.h>

#include "board/board.h"
#include "board/device_tree.h"

struct sbi_harts {
    struct device_tree tree;       /* blob NULL: none */
    uint64_t ticks_hz;             /* of the `time` counter */
    uint64_t ids[BOARD_MAX_CORES]; /* by core number: the hart that booted is core 0 */
    unsigned n;
};

/* Read the tree at dtb, NULL where there is none: then ticks_hz is `timebase_hz` and no other hart
 * can be started. Harts that cannot work (device_tree_next_cpu) get no number. */
void sbi_harts_read(struct sbi_harts *harts, const void *dtb, uint64_t timebase_hz);

/* board.start_core. */
enum err sbi_harts_start(const struct sbi_harts *harts, unsigned core, void (*entry)(void *arg),
                         void *arg);

#endif
