/* Cores of an arm64 machine as ACPI's tables name them, for firmware that passes no device tree. Sections are those of the
 * ACPI Specification 6.4. */
#ifndef INGOT_BOARD_EFI_ARM64_EFI_ACPI_H
#define INGOT_BOARD_EFI_ARM64_EFI_ACPI_H

#include <stdbool.h>
#include <stdint.h>

#include "board/machine.h"

struct efi_acpi_cores {
    bool hvc; /* PSCI is called by HVC, else by SMC */
    unsigned n;
    uint64_t ids[BOARD_MAX_CORES];  /* MPIDR affinities; [0] is the core that asks */
    uint32_t uids[BOARD_MAX_CORES]; /* the MADT's numbers, by which other tables name the cores */
    /* The MADT's efficiency classes; if these are equal, KiB of the caches that the PPTT gives the core. A core with a higher
     * number is faster. */
    uint32_t strength[BOARD_MAX_CORES];
};

enum { EFI_ACPI_CAPACITY = 1024 };

/* Read PSCI's conduit from the FADT, the enabled cores from the MADT, and their strength from the MADT or the PPTT. rsdp: the table
 * that EFI gives, or NULL; self: the calling core's MPIDR affinity. Returns why only one core can work, an error message without a full
 * stop; NULL: *cores is filled. */
const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores);

/* capacity[0 .. n): relative speeds of cores, as a first guess that measured shares replace:
 * strengths give an order but no rates, so the lowest one counts as half of the highest. All are 0
 * if the strengths are equal. */
void efi_acpi_capacities(const struct efi_acpi_cores *cores, uint32_t *capacity);

#endif
