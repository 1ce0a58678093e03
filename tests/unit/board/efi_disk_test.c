/* Disks of a firmware of EFI: reads in pieces, blocks larger than sectors, errors, and media that
 * are taken out. */
#include "board/efi/efi_disk.h"

#include "board/left_out.h"
#include "tests/unit/board/fakes/fake_efi.h"

enum { HANDLE = 10, OTHER_HANDLE = 11, POLLS = 100 };

static struct fake_efi_disk stick, other;
static struct efi_disk disk;
static _Alignas(4096) uint8_t buffer[64 * 1024 + 64];

static bool plug(uint32_t block_bytes)
{
    fake_power_up();
    memset(&stick, 0, sizeof stick);
    memset(&disk, 0, sizeof disk);
    fake_insert(&stick, block_bytes, 1);
    fake_add(HANDLE, &efi_block_guid, &stick);
    return efi_disk_open(&disk, (efi_handle)HANDLE, 0);
}

static enum err transfer(uint64_t sector, uint32_t n, size_t at, bool write)
{
    struct block_request r = {
        .sector = sector, .n_sectors = n, .buffer = buffer + at, .write = write
    };
    enum err e = disk.device.submit(&disk.device, &r);

    for (unsigned i = 0; e == ERR_OK && i < POLLS && !r.done; i++)
        e = disk.device.poll(&disk.device);
    if (e != ERR_OK)
        return e;
    return r.done ? r.status : ERR_BUSY;
}

static bool holds(uint64_t sector, uint32_t n, size_t at)
{
    return memcmp(buffer + at, stick.bytes + sector * SECTOR_BYTES, (size_t)n * SECTOR_BYTES) == 0;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void test_transfers(void)
{
    OK(plug(512) && strcmp(disk.device.name, "EFI disk 1") == 0 &&
           disk.device.n_sectors == FAKE_BLOCKS,
       "the disk opens: %s", disk.device.name);
    OK(transfer(3, 5, 0, false) == ERR_OK && holds(3, 5, 0), "sectors arrive");
    OK(plug(512) && (stick.media.io_align = 4096, efi_disk_open(&disk, (efi_handle)HANDLE, 0)) &&
           transfer(3, 5, 16, false) == ERR_OK && holds(3, 5, 16) && stick.misaligned == 0,
       "a buffer that the firmware would refuse is not given to it");
    OK(plug(4096) && disk.device.n_sectors == 8 * FAKE_BLOCKS &&
           transfer(5, 9, 0, false) == ERR_OK && holds(5, 9, 0),
       "sectors are moved across blocks of 4 KiB");
    memset(buffer, 0xa5, SECTOR_BYTES);
    OK(transfer(9, 1, 0, true) == ERR_OK && holds(9, 1, 0) && stick.flushes == 1 &&
           stick.bytes[8 * SECTOR_BYTES + 1] == (uint8_t)(1 ^ (8 * SECTOR_BYTES + 1) >> 8),
       "one sector of a block is written, its neighbour stays, and the disk is flushed");
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void test_errors(void)
{
    (void)plug(512);
    stick.fails = 1;
    stick.status = FAKE_ERROR;
    OK(transfer(3, 1, 0, false) == ERR_IO && transfer(3, 1, 0, false) == ERR_OK && holds(3, 1, 0),
       "a request fails if ReadBlocks fails once, and the next one works");
    stick.fails = 1000;
    OK(transfer(3, 1, 0, false) == ERR_IO &&
           strcmp(block_device_reason(&disk.device, ERR_IO),
                  "the firmware reports an error of the device") == 0,
       "ReadBlocks that always fails is reported: %s", block_device_reason(&disk.device, ERR_IO));
    stick.status = EFI_WRITE_PROTECTED;
    OK(transfer(3, 1, 0, true) == ERR_IO &&
           strstr(block_device_reason(&disk.device, ERR_IO), "write-protected") != NULL,
       "a write that the medium refuses is reported: %s",
       block_device_reason(&disk.device, ERR_IO));
    (void)plug(512);
    stick.fails = 1000;
    stick.status = FAKE_ERROR;
    OK(efi_disk_open(&disk, (efi_handle)HANDLE, 0) && transfer(1, 1, 0, false) == ERR_IO,
       "a disk that cannot be read when it is opened stays listed");
    stick.media.present = false;
    OK(!efi_disk_open(&disk, (efi_handle)HANDLE, 0), "a drive without a medium is left out");
    OK(!efi_disk_open(&disk, (efi_handle)OTHER_HANDLE, 0), "a handle without a disk is left out");
}

/* ---- media that are taken out ---------------------------------------------------------------- */

static void test_removed(void)
{
    unsigned before;

    (void)plug(512);
    stick.media.present = false;
    OK(transfer(3, 1, 0, false) == ERR_REMOVED, "a disk that was taken out has the error: %s",
       err_text(ERR_REMOVED));
    OK(transfer(3, 1, 0, false) == ERR_REMOVED, "the next read reports the disk as taken out, too");
    fake_insert(&stick, 512, 2);
    OK(transfer(3, 1, 0, false) == ERR_REMOVED,
       "another medium in place of the disk is not taken for it");
    fake_insert(&stick, 512, 1);
    OK(transfer(3, 1, 0, false) == ERR_OK && holds(3, 1, 0),
       "a disk that is put back is read again");
    fake_insert(&stick, 512, 1);
    OK(transfer(3, 1, 0, false) == ERR_REMOVED && transfer(3, 1, 0, false) == ERR_OK,
       "a disk that was out and in again is read after one error");
    OK(fw.pools == 0, "all memory is returned to the firmware");
    fake_remove(HANDLE);
    before = stick.transfers;
    OK(transfer(3, 1, 0, false) == ERR_REMOVED && stick.transfers == before,
       "nothing of the interface of an unplugged drive is called");
    memset(&other, 0, sizeof other);
    fake_insert(&other, 512, 1);
    fake_add(OTHER_HANDLE, &efi_block_guid, &other);
    OK(transfer(3, 1, 0, false) == ERR_OK && holds(3, 1, 0) && stick.transfers == before,
       "a disk that is plugged in again is read through its new handle");
}

/* ---- the order of disks ---------------------------------------------------------------------- */

static void test_order(void)
{
    static const uint8_t first[] = { 1, 1, 5, 0, 1, 0x7f, 0xff, 4, 0 };
    static const uint8_t second[] = { 1, 1, 5, 0, 2, 0x7f, 0xff, 4, 0 };
    static const uint8_t partition[] = { 1, 1, 5, 0, 2, 4, 1, 4, 0, 0x7f, 0xff, 4, 0 };
    static struct efi_loaded_image image = { .device = (efi_handle)12 };
    struct block_device *devices[BOARD_MAX_BLOCK] = { NULL };

    (void)plug(512);
    fake_insert(&other, 512, 3);
    fake_add(OTHER_HANDLE, &efi_block_guid, &other);
    fake_add(HANDLE, &efi_device_path_guid, (void *)(uintptr_t)first);
    fake_add(OTHER_HANDLE, &efi_device_path_guid, (void *)(uintptr_t)second);
    fake_add(12, &efi_device_path_guid, (void *)(uintptr_t)partition);
    fake_add(1, &efi_loaded_image_guid, &image);
    OK(efi_storage_find(devices) == 2 &&
           ((struct efi_disk *)devices[0]->driver)->block == &other.block && devices[0]->started &&
           !devices[1]->started,
       "the disk that the program came from is the first");
}

/* Ten whole disks, of which eight find room; the program came from the first. */
static void test_many(void)
{
    enum { DISKS = 7, FIRST_OF_THEM = 20 };
    static struct fake_efi_disk more[DISKS];
    struct block_device *devices[BOARD_MAX_BLOCK] = { NULL };
    uint32_t before = left_out_number(LEFT_OUT_DEVICES);

    for (unsigned i = 0; i < DISKS; i++) {
        fake_insert(&more[i], 512, (uint8_t)(4 + i));
        fake_add(FIRST_OF_THEM + i, &efi_block_guid, &more[i]);
    }
    more[DISKS - 1].media.partition = true;
    (void)efi_storage_find(devices);
    OK(left_out_number(LEFT_OUT_DEVICES) == before + 2 && devices[BOARD_MAX_BLOCK - 1] != NULL,
       "two of ten disks have no slot, and are counted");
}

int main(void)
{
    test_transfers();
    test_errors();
    test_removed();
    test_order();
    test_many();
    return tap_done();
}
