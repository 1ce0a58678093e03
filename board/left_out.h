/* Parts of a machine that were found and ignored, because a bound of ours is lower than their
 * number (docs/HARDWARE.md, "Bounds"). The code that has the bound notes it, and boot's log says it
 * in one line. Core 0. */
#ifndef INGOT_BOARD_LEFT_OUT_H
#define INGOT_BOARD_LEFT_OUT_H

#include <stddef.h>
#include <stdint.h>

enum left_out {
    LEFT_OUT_CORES, /* beyond BOARD_MAX_CORES */
    LEFT_OUT_RAM, /* ranges beyond BOARD_MAX_RAM, or that no page table reaches; with their bytes */
    LEFT_OUT_FIRMWARE_RAM, /* free ranges of UEFI's beside the largest; with their bytes */
    LEFT_OUT_CUT_RAM,      /* ranges beyond what boot.c cuts at a time; with their bytes */
    LEFT_OUT_TREE,         /* a device tree that is too large or too deep; with its bytes */
    LEFT_OUT_DEVICES,      /* block devices beyond BOARD_MAX_BLOCK, or beyond their driver's */
    LEFT_OUT_INTERRUPTS,   /* lines beyond IRQ_MAX_TAKEN: their devices are polled */
    LEFT_OUT_CONTROLLERS,  /* USB controllers beyond those that a board, or usb.c, knows */
    LEFT_OUT_BRIDGES,      /* PCI bridges, with what is behind them */
    LEFT_OUT_NAMESPACES,   /* namespaces of NVMe drives beyond the first */
    LEFT_OUT_REGIONS,      /* redistributors of a GIC: all cores wait by WFE */
    LEFT_OUT_TWINS,        /* ranges that are other RAM once more; with their bytes */
    LEFT_OUT_COUNT
};

/* n more of the kind, of `bytes` together (0: they have none). */
void left_out_note(enum left_out kind, uint32_t n, uint64_t bytes);

/* "4 cores (8 is the most), 3 ranges of RAM (16 is the most) of 196608 bytes": everything noted
 * since the last call, into text (bytes), cut if it is too long; "": nothing was noted. */
void left_out_tell(char *text, size_t bytes);

/* How many of the kind there were since the start, for `diag`, and a name for them. */
uint32_t left_out_number(enum left_out kind);
const char *left_out_name(enum left_out kind);

#endif
