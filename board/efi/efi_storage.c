/* The firmware's disks as block devices. Reads go piece by piece: each look at a request moves one piece, so that a
 * core that computes between two looks never waits for longer than that. UEFI 2.10, 13.9. */
#include <string.h>

#include "board/efi/efi_call.h"
#include "board/efi/efi_disk.h"
#include "board/efi/efi_parts.h"
#include "board/min_max.h"

static struct efi_storage {
    struct efi_disk disks[BOARD_MAX_BLOCK];
    unsigned n;
} efi_storage;

/* Whether `path` goes on where `start` ends: a partition's path begins with its disk's. */
static bool path_begins(const struct efi_device_path *path, const struct efi_device_path *start)
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

static bool is_start_disk(efi_handle disk)
{
    const struct efi_loaded_image *image = efi_protocol_of(efi_image(), &efi_loaded_image_guid);
    const struct efi_device_path *mine = image != NULL
                                             ? efi_protocol_of(image->device, &efi_device_path_guid)
                                             : NULL;
    const struct efi_device_path *its = efi_protocol_of(disk, &efi_device_path_guid);

    return mine != NULL && its != NULL && path_begins(mine, its);
}

unsigned efi_storage_find(struct block_device *devices[BOARD_MAX_BLOCK])
{
    efi_handle *handles;
    uint64_t n = efi_handles(&efi_block_guid, &handles);

    for (unsigned turn = 0; turn < 2; turn++)
        for (uint64_t i = 0; i < n && efi_storage.n < BOARD_MAX_BLOCK; i++) {
            struct efi_disk *disk = &efi_storage.disks[efi_storage.n];

            if (is_start_disk(handles[i]) == (turn == 0) &&
                efi_disk_open(disk, handles[i], efi_storage.n))
                devices[efi_storage.n++] = &disk->device;
        }
    efi_handles_free(handles);
    return efi_storage.n;
}
