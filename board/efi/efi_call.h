/* The way to the firmware and back. Core 0 alone goes it: nothing of EFI is safe for several cores. Our own code runs
 * with interrupts masked, so that the firmware's timer never interrupts a kernel, whose vector registers it would not
 * save; each call lets the firmware have the interrupts that have come up meanwhile. */
#ifndef INGOT_BOARD_EFI_EFI_CALL_H
#define INGOT_BOARD_EFI_EFI_CALL_H

#include "board/efi/efi.h"

/* First of all: keep both; the watchdog of the boot manager is stopped. */
void efi_call_open(efi_handle image, struct efi_system_table *system);

struct efi_system_table *efi_system(void);
struct efi_boot_services *efi_boot(void);
efi_handle efi_image(void);

/* Around a call of the firmware. */
void efi_enter(void);
efi_status efi_leave(efi_status status);
#define EFI_CALL(call) (efi_enter(), efi_leave(call))

static inline bool efi_failed(efi_status status)
{
    return (status & EFI_ERROR_BIT) != 0;
}

/* The interface of a protocol: of a handle, or of anybody who has it. NULL: there is none. */
void *efi_protocol_of(efi_handle handle, const struct efi_guid *protocol);
void *efi_protocol(const struct efi_guid *protocol);

/* Every handle with the protocol, in memory of the firmware's; returns how many. With
 * efi_handles_free to free the memory, even if there are none. */
uint64_t efi_handles(const struct efi_guid *protocol, efi_handle **handles);
void efi_handles_free(efi_handle *handles);

/* A table of the firmware (ACPI, device tree); NULL: it has none of that kind. */
const void *efi_table(const struct efi_guid *guid);

#endif
