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
    uint64_t ids[BOARD_MAX_CORES]; /* MPIDR affinities; [0] is the core that asks */
    uint8_t classes
        [BOARD_MAX_CORES]; /* the MADT's efficiency classes: a core of a higher one is faster */
};

enum { EFI_ACPI_CAPACITY = 1024 };

/* Read PSCI's conduit from the FADT and the enabled cores from the MADT. rsdp: the table that EFI gives, or NULL; self: the
 * calling core's MPIDR affinity. Returns why only one core can work, an error message without a full stop; NULL: *cores is
 * filled. */
const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores);

/* capacity[0 .. n): how fast cores are beside each other, as a first guess that measured shares replace: the classes tell an order
 * and no rates, so that the lowest one counts half of the highest. All are 0 if the classes are equal. */
void efi_acpi_capacities(const struct efi_acpi_cores *cores, uint32_t *capacity);

#endif
