/* Reads the cores of an arm64 machine from ACPI's tables, for firmware that passes no device tree.
 * Sections are those of the ACPI Specification 6.4. */
#ifndef INGOT_BOARD_EFI_ARM64_EFI_ACPI_H
#define INGOT_BOARD_EFI_ARM64_EFI_ACPI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/machine.h"

struct efi_acpi_cores {
    bool hvc; /* true: PSCI is called by HVC; false: by SMC */
    unsigned n;
    uint64_t ids[BOARD_MAX_CORES];  /* MPIDR affinities; [0] is the calling core */
    uint32_t uids[BOARD_MAX_CORES]; /* the cores' numbers in the MADT, which other tables
                                       use */
    /* Efficiency classes from the MADT; if all are equal, sizes of the core's caches from the PPTT,
     * in KiB. A core with a higher number is faster. */
    uint32_t strength[BOARD_MAX_CORES];
};

enum { EFI_ACPI_CAPACITY = 1024 };

/* Read PSCI's conduit from the FADT, the enabled cores from the MADT, and their strength from the
 * MADT or the PPTT. rsdp: the table from EFI, or NULL; self: the calling core's MPIDR affinity.
 * Returns the reason, without a full stop, why only one core can work; NULL: *cores is filled. */
const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores);

/* Set capacity[0 .. n) to relative speeds of the cores; this is a first estimate, which measured
 * shares replace. Strengths give only an order, so the lowest counts as half of the highest. All
 * are 0 if the strengths are equal. */
void efi_acpi_capacities(const struct efi_acpi_cores *cores, uint32_t *capacity);

#endif
