/* Only core 0 calls the firmware, because EFI is not safe for several cores. Our own code runs with
 * interrupts masked: the firmware's timer must not interrupt a kernel, because its handler would
 * not save vector registers. During each call the firmware takes the interrupts that have become
 * pending. */
#ifndef INGOT_BOARD_EFI_EFI_CALL_H
#define INGOT_BOARD_EFI_EFI_CALL_H

#include "board/efi/efi.h"

/* Store both pointers, and stop the boot manager's watchdog. Call this first. */
void efi_call_open(efi_handle image, struct efi_system_table *system);

struct efi_system_table *efi_system(void);
struct efi_boot_services *efi_boot(void);
efi_handle efi_image(void);

/* Call efi_enter before each call of the firmware and efi_leave after it. */
void efi_enter(void);
efi_status efi_leave(efi_status status);
#define EFI_CALL(call) (efi_enter(), efi_leave(call))

static inline bool efi_failed(efi_status status)
{
    return (status & EFI_ERROR_BIT) != 0;
}

/* Get the interface of a protocol from a handle, or (second function) from any handle that has it.
 * Both return NULL if there is none. */
void *efi_protocol_of(efi_handle handle, const struct efi_guid *protocol);
void *efi_protocol(const struct efi_guid *protocol);

/* List every handle with the protocol, in the firmware's memory; return their number. Free the
 * memory with efi_handles_free, even if there are none. */
uint64_t efi_handles(const struct efi_guid *protocol, efi_handle **handles);
void efi_handles_free(efi_handle *handles);

/* True if `path` begins with `start`, as the path of a partition or of a serial port's terminal
 * begins with the path of its device. */
bool efi_path_begins(const struct efi_device_path *path, const struct efi_device_path *start);

/* Find a table of the firmware (ACPI, device tree); NULL if it has no table of that kind. */
const void *efi_table(const struct efi_guid *guid);

#endif
