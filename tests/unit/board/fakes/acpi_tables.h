/* ACPI's tables as a firmware writes them, for tests of their readers. Section numbers are those of
 * the ACPI Specification 6.4. */
#ifndef INGOT_TESTS_UNIT_ACPI_TABLES_H
#define INGOT_TESTS_UNIT_ACPI_TABLES_H

#include <stdint.h>
#include <string.h>

enum { ACPI_MOST_TABLES = 4, ACPI_HEAD_BYTES = 36 };

/* The first table, which EFI gives, and the list of the others. */
static struct {
    uint8_t rsdp[36], xsdt[ACPI_HEAD_BYTES + 8 * ACPI_MOST_TABLES];
    unsigned n; /* tables in the list */
} acpi;

/* Little-endian. */
static inline void acpi_put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* Sets the byte at `where` so that the sum is 0. */
static inline void acpi_close_sum(uint8_t *table, size_t bytes, size_t where)
{
    uint8_t sum = 0;

    table[where] = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + table[i]);
    table[where] = (uint8_t)-sum;
}

/* Writes the head of a table that is otherwise complete (5.2.6), and lists the table. */
static inline void acpi_add(uint8_t *table, const char *signature, size_t bytes)
{
    memcpy(table, signature, 4);
    acpi_put(table + 4, bytes, 4);
    acpi_close_sum(table, bytes, 9);
    acpi_put(acpi.xsdt + ACPI_HEAD_BYTES + 8 * acpi.n++, (uintptr_t)table, 8);
}

/* Writes the list of all tables and the first table (5.2.5.3). Returns the first table, as EFI
 * gives it. The next table begins a new list. */
static inline const uint8_t *acpi_close(void)
{
    size_t bytes = ACPI_HEAD_BYTES + 8 * acpi.n;

    memcpy(acpi.xsdt, "XSDT", 4);
    acpi_put(acpi.xsdt + 4, bytes, 4);
    acpi_close_sum(acpi.xsdt, bytes, 9);
    acpi.n = 0;
    memcpy(acpi.rsdp, "RSD PTR ", 8);
    acpi.rsdp[15] = 2;
    acpi_put(acpi.rsdp + 24, (uintptr_t)acpi.xsdt, 8);
    acpi_close_sum(acpi.rsdp, sizeof acpi.rsdp, 32);
    return acpi.rsdp;
}

#endif
