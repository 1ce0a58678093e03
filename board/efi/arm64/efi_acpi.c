#include "board/efi/arm64/efi_acpi.h"

#include "board/efi/efi_acpi_table.h"
#include "board/left_out.h"
#include "board/min_max.h"

enum {
    FADT_ARM_BOOT = 129, /* 5.2.9.4: bit 0, PSCI is there; bit 1, by HVC */
    MADT_ENTRIES = 44,   /* 5.2.12 */
    GICC = 11,           /* 5.2.12.14: a core */
    GICC_FLAGS = 12,     /* bit 0: it is enabled */
    GICC_MPIDR = 68,
    GICC_BYTES = 76,
    GICC_CLASS =
        76, /* from ACPI 6.0 on: a higher class is faster, and takes more power for its work */
    GICC_CLASS_BYTES = 80
};

/* The core that asks is the first, wherever it stands in the table. */
static void add_core(struct efi_acpi_cores *cores, uint64_t id, uint8_t class)
{
    if (id == cores->ids[0]) {
        cores->classes[0] = class;
    } else if (cores->n < BOARD_MAX_CORES) {
        cores->classes[cores->n] = class;
        cores->ids[cores->n++] = id;
    } else {
        left_out_note(LEFT_OUT_CORES, 1, 0);
    }
}

static void read_madt(struct efi_acpi_cores *cores, const uint8_t *madt, size_t bytes)
{
    size_t at = MADT_ENTRIES;

    while (at + 2 <= bytes && madt[at + 1] >= 2 && at + madt[at + 1] <= bytes) {
        const uint8_t *entry = madt + at;

        if (entry[0] == GICC && entry[1] >= GICC_BYTES && (entry[GICC_FLAGS] & 1) != 0)
            add_core(cores, efi_acpi_field(entry + GICC_MPIDR, 8),
                     entry[1] >= GICC_CLASS_BYTES ? entry[GICC_CLASS] : 0);
        at += entry[1];
    }
}

const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores)
{
    const uint8_t *list = efi_acpi_list(rsdp), *fadt, *madt;
    size_t fadt_bytes, madt_bytes;

    *cores = (struct efi_acpi_cores){ .n = 1, .ids = { self } };
    if (rsdp == NULL)
        return "the firmware has neither a device tree nor ACPI";
    if (list == NULL)
        return "ACPI's first table (RSDP) is broken";
    fadt = efi_acpi_find(list, "FACP", &fadt_bytes);
    madt = efi_acpi_find(list, "APIC", &madt_bytes);
    if (fadt == NULL || madt == NULL)
        return "ACPI lacks the table of the machine (FADT) or of its cores (MADT)";
    if (fadt_bytes < FADT_ARM_BOOT + 2 || (fadt[FADT_ARM_BOOT] & 1) == 0)
        return "ACPI names no PSCI";
    cores->hvc = (fadt[FADT_ARM_BOOT] & 2) != 0;
    read_madt(cores, madt, madt_bytes);
    return NULL;
}

void efi_acpi_capacities(const struct efi_acpi_cores *cores, uint32_t *capacity)
{
    const uint32_t half = EFI_ACPI_CAPACITY / 2;
    uint32_t least = cores->classes[0], most = least;

    for (unsigned i = 1; i < cores->n; i++) {
        least = min_u32(least, cores->classes[i]);
        most = max_u32(most, cores->classes[i]);
    }
    for (unsigned i = 0; i < cores->n; i++)
        capacity[i] = least == most ? 0u
                                    : half + half * (cores->classes[i] - least) / (most - least);
}
