#include "board/efi/arm64/efi_acpi.h"

#include <stddef.h>
#include <string.h>

enum {
    MOST_BYTES = 1024 * 1024, /* a table that claims more is broken */
    RSDP_REVISION = 15,       /* 5.2.5.3: byte; 2 and later have an XSDT */
    RSDP_XSDT = 24,
    RSDP_BYTES = 36,
    HEADER_LENGTH = 4, /* 5.2.6 */
    HEADER_BYTES = 36,
    FADT_ARM_BOOT = 129, /* 5.2.9.4: bit 0, PSCI is there; bit 1, by HVC */
    MADT_ENTRIES = 44,   /* 5.2.12 */
    GICC = 11,           /* 5.2.12.14: a core */
    GICC_FLAGS = 12,     /* bit 0: it is enabled */
    GICC_MPIDR = 68,
    GICC_BYTES = 76,
};

/* Tables are little-endian, and their fields are not aligned. */
static uint64_t read(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static bool sums_to_zero(const uint8_t *table, size_t bytes)
{
    uint8_t sum = 0;

    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + table[i]);
    return sum == 0;
}

/* The length of a table with this signature; 0: it is another one, or broken. */
static size_t table_bytes(const uint8_t *table, const char *signature)
{
    size_t bytes;

    if (table == NULL || memcmp(table, signature, 4) != 0)
        return 0;
    bytes = (size_t)read(table + HEADER_LENGTH, 4);
    return bytes >= HEADER_BYTES && bytes <= MOST_BYTES && sums_to_zero(table, bytes) ? bytes : 0;
}

/* The XSDT lists the addresses of the others. */
static const uint8_t *find_table(const uint8_t *xsdt, const char *signature, size_t *bytes)
{
    size_t end = table_bytes(xsdt, "XSDT");

    for (size_t at = HEADER_BYTES; at + 8 <= end; at += 8) {
        const uint8_t *table = (const uint8_t *)(uintptr_t)read(xsdt + at, 8);

        *bytes = table_bytes(table, signature);
        if (*bytes != 0)
            return table;
    }
    return NULL;
}

/* The core that asks is the first, wherever it stands in the table. */
static void add_core(struct efi_acpi_cores *cores, uint64_t id)
{
    if (id != cores->ids[0] && cores->n < BOARD_MAX_CORES)
        cores->ids[cores->n++] = id;
}

static void read_madt(struct efi_acpi_cores *cores, const uint8_t *madt, size_t bytes)
{
    size_t at = MADT_ENTRIES;

    while (at + 2 <= bytes && madt[at + 1] >= 2 && at + madt[at + 1] <= bytes) {
        const uint8_t *entry = madt + at;

        if (entry[0] == GICC && entry[1] >= GICC_BYTES && (entry[GICC_FLAGS] & 1) != 0)
            add_core(cores, read(entry + GICC_MPIDR, 8));
        at += entry[1];
    }
}

const char *efi_acpi_read_cores(const void *rsdp, uint64_t self, struct efi_acpi_cores *cores)
{
    const uint8_t *root = rsdp, *xsdt, *fadt, *madt;
    size_t fadt_bytes, madt_bytes;

    *cores = (struct efi_acpi_cores){ .n = 1, .ids = { self } };
    if (root == NULL)
        return "the firmware has neither a device tree nor ACPI";
    if (memcmp(root, "RSD PTR ", 8) != 0 || root[RSDP_REVISION] < 2 ||
        !sums_to_zero(root, RSDP_BYTES))
        return "ACPI's first table (RSDP) is broken";
    xsdt = (const uint8_t *)(uintptr_t)read(root + RSDP_XSDT, 8);
    fadt = find_table(xsdt, "FACP", &fadt_bytes);
    madt = find_table(xsdt, "APIC", &madt_bytes);
    if (fadt == NULL || madt == NULL)
        return "ACPI lacks the table of the machine (FADT) or of its cores (MADT)";
    if (fadt_bytes < FADT_ARM_BOOT + 2 || (fadt[FADT_ARM_BOOT] & 1) == 0)
        return "ACPI names no PSCI";
    cores->hvc = (fadt[FADT_ARM_BOOT] & 2) != 0;
    read_madt(cores, madt, madt_bytes);
    return NULL;
}
