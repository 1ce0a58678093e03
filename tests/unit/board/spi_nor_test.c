/* Serial NOR flash against a chip made of bytes. */
#include "board/drivers/block/spi_nor.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct nor_chip {
    struct spi_bus bus;
    uint8_t id[3], command[6];
    unsigned n;
} chip;

static uint8_t nor_content(uint32_t at)
{
    return (uint8_t)(at * 7 + (at >> 9) + (at >> 24));
}

static void nor_set_hz(struct spi_bus *bus, uint32_t hz)
{
    (void)bus;
    (void)hz;
}

static void nor_select(struct spi_bus *bus, bool on)
{
    (void)bus;
    (void)on;
    chip.n = 0;
}

static void nor_exchange(struct spi_bus *bus, const uint8_t *send, uint8_t *receive, size_t bytes)
{
    (void)bus;
    for (size_t i = 0; i < bytes; i++, chip.n++) {
        unsigned head = chip.command[0] == 0x0c ? 6 : 5;
        uint32_t at = 0;

        if (chip.n < sizeof chip.command)
            chip.command[chip.n] = send != NULL ? send[i] : 0xff;
        if (receive == NULL)
            continue;
        for (unsigned k = 1; k < head - 1; k++)
            at = at << 8 | chip.command[k];
        receive[i] = chip.command[0] == 0x9f ? chip.id[(chip.n - 1) % 3]
                                             : nor_content(at + chip.n - head);
    }
}

static void nor_idle(struct spi_bus *bus, size_t bytes)
{
    (void)bus;
    (void)bytes;
}

static bool nor_reads(struct block_device *d, uint64_t sector, uint32_t n)
{
    static uint8_t buffer[16 * SECTOR_BYTES];
    struct block_request req = { .sector = sector, .n_sectors = n, .buffer = buffer };

    if (d->submit(d, &req) != ERR_OK)
        return false;
    while (!req.done)
        (void)d->poll(d);
    for (uint32_t i = 0; i < n * SECTOR_BYTES; i++)
        if (buffer[i] != nor_content((uint32_t)(sector * SECTOR_BYTES) + i))
            return false;
    return req.status == ERR_OK;
}

static void test_nor(void)
{
    struct block_device d;
    struct spi_nor nor;
    struct block_request req = { .sector = 0, .n_sectors = 1, .write = true };

    chip.bus = (struct spi_bus){ nor_set_hz, nor_select, nor_exchange, nor_idle };
    memcpy(chip.id, "\x9d\x70\x19", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_OK && d.flash &&
           d.n_sectors == 65536 && nor.long_addresses,
       "IS25WP256 is known by its id, with 32 MiB");
    OK(nor_reads(&d, 0, 1) && nor_reads(&d, 40000, 16) && nor_reads(&d, 65535, 1),
       "sectors are read with four bytes of address");
    OK(!nor_reads(&d, 65535, 2) && d.submit(&d, &req) == ERR_UNSUPPORTED,
       "a read beyond the end fails, and so does a write");
    memcpy(chip.id, "\xef\x40\x18", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_OK && !nor.long_addresses &&
           nor_reads(&d, 12345, 3),
       "16 MiB need three bytes of address");
    memcpy(chip.id, "\xff\xff\xff", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_NO_DEVICE,
       "there is no device without a chip");
}

int main(void)
{
    test_nor();
    return tap_done();
}
