/* An SD controller whose DMA ends below the end of memory, from the storage down to its registers: data
 * beyond that still comes by DMA, through a bounce, and no core moves a byte of it at the port. */
#include <string.h>

#include "runtime/storage/storage.h"
#include "tests/unit/board/fakes/fake_sdhci.h"

/* In this world the driver's descriptors and the bounce are below the end of DMA, and models beyond
 * it. */
enum { BOUNCE_AT = 256 << 10, END = BOUNCE_AT + BOUNCE_BYTES };

static struct storage storage;
static struct memory_range models;

static uint64_t platform_now(void *context)
{
    (void)context;
    return fake_ticks();
}

static unsigned find(void *context, struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)context;
    devices[0] = &d->device;
    return 1;
}

static struct platform platform = { .clock = { .ticks = platform_now, .hz = 1000000 },
                                    .storage = { .find = find } };

static void open_storage(uint32_t caps, unsigned version)
{
    struct storage_setup over = { .platform = &platform, .memory = &models };
    struct sdhci_setup setup = plain_setup();

    power_up(caps, 0, version);
    setup.window.end = (uintptr_t)world + END;
    (void)open_with(&setup);
    platform.memory.spare[0] = (struct memory_range){ world + BOUNCE_AT, BOUNCE_BYTES };
    models = (struct memory_range){ world + END, WORLD_BYTES - END };
    storage_open(&storage, &over);
}

static enum err carry(uint64_t sector, uint32_t n, uint8_t *at, bool write)
{
    struct block_device *device = storage.devices[0];
    struct block_request r = { .sector = sector, .n_sectors = n, .buffer = at, .write = write };
    enum err e = device->submit(device, &r);

    for (unsigned i = 0; e == ERR_OK && !r.done && i < 1000000; i++)
        (void)device->poll(device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

static bool is_there(uint64_t sector, uint32_t n, const uint8_t *at)
{
    for (uint32_t i = 0; i < n * 512; i++)
        if (at[i] != fake_sd_byte(sector + i / 512, i % 512))
            return false;
    return true;
}

static void test_way(const char *name, uint32_t caps, unsigned version, enum sdhci_path path)
{
    enum { ODD = 301 }; /* sectors; a multiple of nothing */
    uint32_t before;
    uint8_t *to;

    open_storage(caps, version);
    before = d->s.host.moved; /* registers of the card */
    to = models.base + 64;
    OK(d->device.dma_end == (uintptr_t)world + END, "%s: the device says where its DMA ends", name);
    OK(carry(10, ODD, to, false) == ERR_OK && is_there(10, ODD, to) && d->s.path == path,
       "%s: %d sectors beyond the end of DMA come by DMA", name, ODD);
    OK(d->s.host.moved == before && storage.bounces[0].copied == ODD * 512,
       "%s: no core moved a sector at the port, and each byte was copied once", name);
    OK(carry(77, 16, to, true) == ERR_OK && fake.has_written && d->s.path == path &&
           memcmp(fake.written + 77 * 512, to, 16 * 512) == 0 && d->s.host.moved == before,
       "%s: sectors are written through the bounce buffer as well", name);
}

/* As on a Pi: cores see at 0 what the bus has at 0xc0000000, and nothing beyond 1 GiB. The driver
 * takes the part that its descriptors can hold. */
static void test_ends(void)
{
    struct sdhci_setup setup = plain_setup();

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, 0, 1);
    setup.window.offset = 0xc0000000;
    setup.window.end = (uint64_t)8 << 30;
    (void)sdhci_open(&d->s, &setup);
    OK(d->s.host.dma_end == (uint64_t)1 << 30, "an alias on a bus of 32 bits ends at 1 GiB");
    setup.window.offset = 0;
    (void)sdhci_open(&d->s, &setup);
    OK(d->s.host.dma_end == (uint64_t)4 << 30, "the bus's own addresses end at 4 GiB");
    setup.window.end = 0xfc000000;
    (void)sdhci_open(&d->s, &setup);
    OK(d->s.host.dma_end == 0xfc000000, "DMA ends where the device tree says");
    setup.quirks = SDHCI_NO_DMA;
    (void)sdhci_open(&d->s, &setup);
    OK(d->s.host.dma_end == 0, "DMA has no end if a core moves the data");
}

/* The card's driver repeats a transfer that fails, over the same half. */
static void test_error(void)
{
    open_storage(PLAIN_CAPS | CAPABLE_ADMA2, 1);
    f.inject = 1u << 21; /* data CRC */
    OK(carry(5, 40, models.base, false) == ERR_OK && is_there(5, 40, models.base) &&
           d->card.n_errors == 1,
       "the right bytes come through after a broken transfer");
    (void)storage.devices[0]->reset(storage.devices[0]);
    OK(carry(6, 40, models.base, false) == ERR_OK && is_there(6, 40, models.base),
       "the right bytes come after a reset");
}

int main(void)
{
    test_way("ADMA2", PLAIN_CAPS | CAPABLE_ADMA2, 1, SDHCI_ADMA);
    test_way("SDMA", PLAIN_CAPS, 1, SDHCI_SDMA);
    test_ends();
    test_error();
    return tap_done();
}
