/* ACPI's tables, which the firmware provides instead of a device tree or in addition to it.
 * Sections are those of the ACPI Specification 6.4. */
#ifndef INGOT_BOARD_EFI_EFI_ACPI_TABLE_H
#define INGOT_BOARD_EFI_EFI_ACPI_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { EFI_ACPI_HEADER_BYTES = 36 }; /* header of every table except the first, 5.2.6 */

/* Find the list of the other tables through the table that EFI provides. NULL: rsdp is NULL,
 * damaged, or of ACPI 1.0. */
const uint8_t *efi_acpi_list(const void *rsdp);

/* Find the table with this signature and a valid checksum, and its length. Returns NULL if `list`
 * is NULL, or if there is no such table. */
const uint8_t *efi_acpi_find(const uint8_t *list, const char *signature, size_t *bytes);

/* Read a field: little-endian, unaligned, at most 8 bytes. */
uint64_t efi_acpi_field(const uint8_t *at, unsigned bytes);

#endif
