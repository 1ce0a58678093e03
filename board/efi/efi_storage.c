/* The firmware's disks as block devices. With BlockIO2, reads are in flight while all cores
 * compute. Otherwise each poll moves one piece of a request, so that a core that computes between
 * polls never waits for more than one piece. UEFI 2.10, 13.9 and 13.10. */
#include "board/efi/efi_call.h"
#include "board/efi/efi_disk.h"
#include "board/efi/efi_parts.h"
#include "board/left_out.h"
#include "board/min_max.h"

static struct efi_storage {
    struct efi_disk disks[BOARD_MAX_BLOCK];
    unsigned n;
} efi_storage;

static bool is_start_disk(efi_handle disk)
{
    const struct efi_loaded_image *image = efi_protocol_of(efi_image(), &efi_loaded_image_guid);
    const struct efi_device_path *mine = image != NULL
                                             ? efi_protocol_of(image->device, &efi_device_path_guid)
                                             : NULL;
    const struct efi_device_path *its = efi_protocol_of(disk, &efi_device_path_guid);

    return mine != NULL && its != NULL && efi_path_begins(mine, its);
}

/* EFI_TIMER_ARCH_PROTOCOL: UEFI Platform Initialization 1.7, volume 2, chapter 12. */
struct timer {
    void *register_handler;
    efi_status(EFI_API *set_period)(struct timer *timer, uint64_t hundred_ns);
    efi_status(EFI_API *period)(struct timer *timer, uint64_t *hundred_ns);
};
EFI_GUID(timer_guid, 0x26baccb3, 0x6f42, 0x11d4, 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81);

/* EDK2 looks for finished reads only when its timer ticks, by default every 10 ms. In this time a
 * drive could read much more than is in flight, so let the timer tick each millisecond. Firmware
 * without this protocol keeps its own period. */
static void look_each_millisecond(void)
{
    enum { MILLISECOND = 10000 };
    struct timer *timer = efi_protocol(&timer_guid);
    uint64_t period;

    if (timer != NULL && !efi_failed(EFI_CALL(timer->period(timer, &period))) &&
        period > MILLISECOND)
        (void)EFI_CALL(timer->set_period(timer, MILLISECOND));
}

static bool any_flies(void)
{
    bool any = false;

    for (unsigned i = 0; i < efi_storage.n; i++)
        any = any || efi_storage.disks[i].flights.block != NULL;
    return any;
}

static void add_disk(struct block_device *devices[BOARD_MAX_BLOCK], efi_handle handle, bool started)
{
    struct efi_disk *disk = &efi_storage.disks[efi_storage.n];

    if (efi_storage.n == BOARD_MAX_BLOCK)
        left_out_note(LEFT_OUT_DEVICES, efi_disk_is_one(handle), 0);
    else if (efi_disk_open(disk, handle, efi_storage.n)) {
        disk->device.started = started;
        devices[efi_storage.n++] = &disk->device;
    }
}

unsigned efi_storage_find(struct block_device *devices[BOARD_MAX_BLOCK])
{
    efi_handle *handles;
    uint64_t n = efi_handles(&efi_block_guid, &handles);

    for (unsigned turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < n; i++)
            if (is_start_disk(handles[i]) == (turn == 0))
                add_disk(devices, handles[i], turn == 0);
    efi_handles_free(handles);
    if (any_flies())
        look_each_millisecond();
    return efi_storage.n;
}
