/* Parts of a machine that were found but ignored, because there are more than a bound of ours
 * allows (docs/HARDWARE.md, "Bounds"). The code that has a bound calls left_out_note, and boot's
 * log reports all notes in one line. Core 0 only. */
#ifndef INGOT_BOARD_LEFT_OUT_H
#define INGOT_BOARD_LEFT_OUT_H

#include <stddef.h>
#include <stdint.h>

enum left_out {
    LEFT_OUT_CORES, /* beyond BOARD_MAX_CORES */
    LEFT_OUT_RAM,   /* ranges of RAM beyond BOARD_MAX_RAM or the page tables; with their bytes */
    LEFT_OUT_FIRMWARE_RAM, /* free ranges of UEFI's memory except the largest; with their bytes */
    LEFT_OUT_CUT_RAM,      /* free ranges that boot.c's table has no room for; with their bytes */
    LEFT_OUT_TREE,         /* device tree that is too large or too deep; with its bytes */
    LEFT_OUT_DEVICES,      /* block devices beyond BOARD_MAX_BLOCK or their driver's bound */
    LEFT_OUT_INTERRUPTS,   /* lines beyond IRQ_MAX_TAKEN, whose devices are polled */
    LEFT_OUT_CONTROLLERS,  /* USB controllers beyond the bound of a board or of usb.c */
    LEFT_OUT_BRIDGES,      /* PCI bridges, with the devices behind them */
    LEFT_OUT_NAMESPACES,   /* namespaces of NVMe drives beyond the first */
    LEFT_OUT_REGIONS,      /* redistributors of a GIC; if any, all cores wait by WFE */
    LEFT_OUT_TWINS,        /* ranges of RAM that another range shows, too; with their bytes */
    LEFT_OUT_COUNT
};

/* Note n more parts of this kind, with `bytes` in total (0 for parts that have no size). */
void left_out_note(enum left_out kind, uint32_t n, uint64_t bytes);

/* Write all notes since the last call into text (`bytes` bytes), cut if too long: "4 cores (8 is
 * the most), 3 ranges of RAM (16 is the most) of 196608 bytes"; "" if there are none. */
void left_out_tell(char *text, size_t bytes);

/* For `diag`: the number of parts of this kind since the start, and the kind's name. */
uint32_t left_out_number(enum left_out kind);
const char *left_out_name(enum left_out kind);

#endif
