#include "board/efi/efi_acpi_table.h"

#include <stdbool.h>
#include <string.h>

enum {
    MOST_BYTES = 1024 * 1024, /* a table that claims to be longer is damaged */
    RSDP_REVISION = 15,       /* 5.2.5.3: a byte; revision 2 and later have an XSDT */
    RSDP_XSDT = 24,
    RSDP_BYTES = 36,
    HEADER_LENGTH = 4, /* 5.2.6 */
};

uint64_t efi_acpi_field(const uint8_t *at, unsigned bytes)
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

/* Return the table's length; 0 if the table has another signature, or is damaged. */
static size_t table_bytes(const uint8_t *table, const char *signature)
{
    size_t bytes;

    if (table == NULL || memcmp(table, signature, 4) != 0)
        return 0;
    bytes = (size_t)efi_acpi_field(table + HEADER_LENGTH, 4);
    return bytes >= EFI_ACPI_HEADER_BYTES && bytes <= MOST_BYTES && sums_to_zero(table, bytes)
               ? bytes
               : 0;
}

const uint8_t *efi_acpi_list(const void *rsdp)
{
    const uint8_t *root = rsdp;

    if (root == NULL || memcmp(root, "RSD PTR ", 8) != 0 || root[RSDP_REVISION] < 2 ||
        !sums_to_zero(root, RSDP_BYTES))
        return NULL;
    return (const uint8_t *)(uintptr_t)efi_acpi_field(root + RSDP_XSDT, 8);
}

const uint8_t *efi_acpi_find(const uint8_t *list, const char *signature, size_t *bytes)
{
    size_t end = table_bytes(list, "XSDT");

    for (size_t at = EFI_ACPI_HEADER_BYTES; at + 8 <= end; at += 8) {
        const uint8_t *table = (const uint8_t *)(uintptr_t)efi_acpi_field(list + at, 8);

        *bytes = table_bytes(table, signature);
        if (*bytes != 0)
            return table;
    }
    return NULL;
}
