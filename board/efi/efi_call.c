#include "board/efi/efi_call.h"

#include <string.h>

#include "board/isa.h"

static struct efi_state {
    efi_handle image;
    struct efi_system_table *system;
    bool interrupts; /* the firmware had interrupts on when it started us */
} efi_state;

void efi_call_open(efi_handle image, struct efi_system_table *system)
{
    efi_state.image = image;
    efi_state.system = system;
    efi_state.interrupts = core_interrupts_mask();
    /* The watchdog would restart the machine after five minutes (UEFI 2.10, 7.5). */
    (void)EFI_CALL(system->boot->set_watchdog(0, 0, 0, NULL));
}

struct efi_system_table *efi_system(void)
{
    return efi_state.system;
}

struct efi_boot_services *efi_boot(void)
{
    return efi_state.system->boot;
}

efi_handle efi_image(void)
{
    return efi_state.image;
}

void efi_enter(void)
{
    core_interrupts_restore(efi_state.interrupts);
}

efi_status efi_leave(efi_status status)
{
    (void)core_interrupts_mask();
    return status;
}

void *efi_protocol_of(efi_handle handle, const struct efi_guid *protocol)
{
    void *found = NULL;

    if (handle == NULL ||
        efi_failed(EFI_CALL(efi_boot()->handle_protocol(handle, protocol, &found))))
        return NULL;
    return found;
}

void *efi_protocol(const struct efi_guid *protocol)
{
    void *found = NULL;

    if (efi_failed(EFI_CALL(efi_boot()->locate_protocol(protocol, NULL, &found))))
        return NULL;
    return found;
}

uint64_t efi_handles(const struct efi_guid *protocol, efi_handle **handles)
{
    uint64_t n = 0;
    efi_handle *found = NULL;
    efi_status status = EFI_CALL(
        efi_boot()->locate_handles(EFI_LOCATE_BY_PROTOCOL, protocol, NULL, &n, &found));

    *handles = efi_failed(status) ? NULL : found;
    return efi_failed(status) ? 0 : n;
}

void efi_handles_free(efi_handle *handles)
{
    if (handles != NULL)
        (void)EFI_CALL(efi_boot()->free_pool(handles));
}

bool efi_path_begins(const struct efi_device_path *path, const struct efi_device_path *start)
{
    const uint8_t *a = (const uint8_t *)path, *b = (const uint8_t *)start;

    for (;;) {
        size_t bytes = (size_t)(b[2] | b[3] << 8);

        if (b[0] == EFI_PATH_END)
            return true;
        if (bytes < sizeof *path || memcmp(a, b, bytes) != 0)
            return false;
        a += bytes;
        b += bytes;
    }
}

const void *efi_table(const struct efi_guid *guid)
{
    const struct efi_system_table *system = efi_state.system;

    for (uint64_t i = 0; i < system->n_configurations; i++)
        if (memcmp(&system->configurations[i].guid, guid, sizeof *guid) == 0)
            return system->configurations[i].table;
    return NULL;
}
