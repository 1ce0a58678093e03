/* Reads in flight by BlockIO2: several at a time, in any order, with errors, refusals, resets and a
 * drive that is unplugged. Small reads, writes and buffers that the firmware's alignment does not
 * take go by BlockIO. */
#include "board/efi/efi_disk.h"

#include "tests/unit/board/fakes/fake_efi.h"

enum { HANDLE = 10, N = 4, LARGE = 64, POLLS = 50, BYTES = LARGE * SECTOR_BYTES };

static struct fake_efi_disk drive;
static struct efi_disk disk;
static _Alignas(4096) uint8_t buffer[N][BYTES];
static struct block_request requests[N];

static void plug(void)
{
    fake_power_up();
    memset(&drive, 0, sizeof drive);
    memset(&disk, 0, sizeof disk);
    memset(buffer, 0, sizeof buffer);
    fake_insert(&drive, 4096, 1);
    fake_add(HANDLE, &efi_block_guid, &drive.block);
    fake_add(HANDLE, &efi_block2_guid, &drive.block2);
    (void)efi_disk_open(&disk, (efi_handle)HANDLE, 0);
    drive.transfers = 0;
}

static enum err start(unsigned i, uint32_t n_sectors, bool write)
{
    requests[i] = (struct block_request){
        .sector = 8 * i, .n_sectors = n_sectors, .buffer = buffer[i], .write = write
    };
    return disk.device.submit(&disk.device, &requests[i]);
}

static enum err start_large(unsigned i)
{
    return start(i, LARGE, false);
}

static void poll(void)
{
    for (unsigned i = 0; i < POLLS; i++)
        (void)disk.device.poll(&disk.device);
}

static bool holds(unsigned i, uint32_t n_sectors)
{
    return memcmp(buffer[i], drive.bytes + 8 * i * SECTOR_BYTES, n_sectors * SECTOR_BYTES) == 0;
}

static bool is_read(unsigned i)
{
    return requests[i].done && requests[i].status == ERR_OK && holds(i, requests[i].n_sectors);
}

/* ---- in flight ------------------------------------------------------------------------------- */

static void test_flights(void)
{
    plug();
    OK(disk.device.wanted_requests > 1, "%u requests are wanted at a time",
       disk.device.wanted_requests);
    OK(start_large(0) == ERR_OK && start_large(1) == ERR_OK && start_large(2) == ERR_OK &&
           drive.n_flights == 3 && drive.transfers == 0,
       "three reads are in flight, none by BlockIO");
    poll();
    OK(!requests[0].done && !requests[1].done && !requests[2].done, "no read has ended");
    fake_land(&drive, EFI_SUCCESS);
    poll();
    OK(is_read(2) && !requests[0].done, "the last one ends first");
    fake_land(&drive, EFI_SUCCESS);
    fake_land(&drive, EFI_SUCCESS);
    poll();
    OK(is_read(0) && is_read(1), "the other requests end after the last one");
    drive.takes = 1;
    OK(start_large(0) == ERR_OK && start_large(1) == ERR_BUSY && !requests[1].done,
       "the second request waits outside if the firmware takes no more");
    fake_land(&drive, EFI_SUCCESS);
    poll();
    OK(is_read(0) && start_large(1) == ERR_OK,
       "the second request begins when the first has ended");
    fake_land(&drive, EFI_SUCCESS);
    poll();
    OK(is_read(1), "the second request is read");
}

static void test_ring(void)
{
    plug();
    OK(start(0, 8, false) == ERR_OK && drive.n_flights == 0, "a small read goes by BlockIO");
    poll();
    OK(is_read(0), "the small read arrives");
    memcpy(buffer[2], drive.bytes + 16 * SECTOR_BYTES, 8 * SECTOR_BYTES);
    OK(start_large(1) == ERR_OK && start(2, 8, true) == ERR_OK && start_large(3) == ERR_OK &&
           drive.n_flights == 1,
       "a request after a write waits for it");
    drive.transfers = 0;
    poll();
    OK(drive.transfers == 0 && drive.flushes == 0,
       "no other transfer happens during a read in flight");
    fake_land(&drive, EFI_SUCCESS);
    poll();
    OK(is_read(1) && requests[2].done && drive.flushes == 1 && is_read(3),
       "the write moves after the read, and before the read that follows it");
    drive.media.io_align = 4096;
    OK(efi_disk_open(&disk, (efi_handle)HANDLE, 0), "buffers have to lie on pages");
    requests[0] = (struct block_request){ .n_sectors = LARGE - 8, .buffer = buffer[0] + 16 };
    OK(disk.device.submit(&disk.device, &requests[0]) == ERR_OK && drive.n_flights == 0,
       "another buffer is not given to BlockIO2");
    poll();
    OK(requests[0].done && requests[0].status == ERR_OK, "the other buffer is read all the same");
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void test_errors(void)
{
    plug();
    (void)start_large(0);
    fake_land(&drive, FAKE_ERROR);
    poll();
    OK(requests[0].done && requests[0].status == ERR_IO, "a read in flight is ended by an error");
    OK(start_large(0) == ERR_OK && drive.n_flights == 0, "the read is repeated by BlockIO");
    poll();
    OK(is_read(0), "the repeated read arrives");
    for (unsigned i = 0; i < 2 * EFI_DISK_DEPTH && drive.n_flights == 0; i++) {
        (void)start_large(0);
        poll();
    }
    OK(drive.n_flights == 1, "reads are in flight again some reads later");
    fake_land(&drive, EFI_SUCCESS);
    poll();
    drive.refuses = EFI_UNSUPPORTED;
    OK(start_large(1) == ERR_OK && fw.events < EFI_FLIGHTS,
       "a read that ReadBlocksEx refuses is not in flight");
    poll();
    OK(is_read(1), "BlockIO does the read that ReadBlocksEx refuses");
    plug();
    fw.no_events = true;
    OK(start_large(0) == ERR_OK, "no read is in flight if CreateEvent fails");
    poll();
    OK(is_read(0), "BlockIO does the read for which there is no event");
}

static void test_reset(void)
{
    plug();
    (void)start_large(0);
    (void)start_large(1);
    OK(disk.device.reset(&disk.device) == ERR_OK && drive.resets == 1 && requests[0].done &&
           requests[0].status == ERR_TIMEOUT && requests[1].done,
       "a reset ends what is in flight");
    OK(start_large(0) == ERR_OK && drive.n_flights == 1, "reads are in flight again after a reset");
    drive.deaf = true;
    OK(disk.device.reset(&disk.device) == ERR_OK && requests[0].done && fw.events == 1,
       "a reset that ends nothing gives up the event, and the buffer is the caller's");
    drive.n_flights = 0;
    OK(start_large(0) == ERR_OK && drive.n_flights == 0, "BlockIO2 is not asked again");
    poll();
    OK(is_read(0), "BlockIO works after a reset that ended nothing");
}

/* ---- media and drives that go ---------------------------------------------------------------- */

static void test_removed(void)
{
    plug();
    (void)start_large(0);
    (void)start_large(1);
    fake_land(&drive, EFI_NO_MEDIA);
    poll();
    OK(requests[1].done && requests[1].status == ERR_REMOVED && !requests[0].done,
       "a read in flight ends if the medium is taken out");
    OK(start_large(1) == ERR_BUSY, "no read is begun until the other one has ended");
    fake_land(&drive, EFI_NO_MEDIA);
    poll();
    OK(requests[0].done && start_large(0) == ERR_OK && drive.n_flights == 1,
       "the same medium is read when it is back");
    fake_remove(HANDLE);
    poll();
    OK(requests[0].done && requests[0].status == ERR_REMOVED && disk.flights.n == 0,
       "the reads of a drive that is unplugged come back");
    drive.n_flights = 0;
    OK(start_large(0) == ERR_REMOVED, "no other read is begun after the unplug");
    fake_add(HANDLE + 1, &efi_block_guid, &drive.block);
    OK(start_large(0) == ERR_OK && disk.flights.block == NULL,
       "a drive that is back works without BlockIO2 if the firmware has none for it");
    poll();
    OK(is_read(0), "BlockIO reads a drive that has no BlockIO2");
}

int main(void)
{
    test_flights();
    test_ring();
    test_errors();
    test_reset();
    test_removed();
    return tap_done();
}
