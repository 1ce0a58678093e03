/* SD over SPI against a card made of bytes, which checks every checksum and can misbehave. */
#include "board/drivers/sd_spi.h"

#include <stdlib.h>
#include <string.h>

#include "board/drivers/sd_card.h"
#include "board/drivers/spi_nor.h"
#include "tests/unit/tap.h"

enum { N_SECTORS = 4096, NEVER = -1 };

struct fake_card {
    struct spi_bus bus;
    bool present, version_1, by_sector, no_csd, no_ready, crc_on, selected;
    int flip_block;      /* of the blocks sent: one bit of this one is wrong; NEVER */
    int token_block;     /* an error token instead of this one */
    int mute_block;      /* silence instead of this one */
    bool lose_stop;      /* CMD12 goes unheard once */
    unsigned op_conds;   /* ACMD41s until the card is ready */
    uint32_t hz;
    bool idle, app, streaming;
    unsigned clocks, blocks_sent, bad_crcs, commands[64], bytes_unselected;
    uint8_t frame[6];
    unsigned n_frame;
    uint8_t out[1024];
    unsigned n_out, at_out;
    uint64_t next_sector;
    uint64_t now;
};

static struct fake_card fake;
static uint8_t contents[N_SECTORS][SECTOR_BYTES];

static void put(uint8_t byte)
{
    fake.out[fake.n_out++] = byte;
}

static void put_block(const uint8_t *data, unsigned bytes)
{
    uint16_t crc = sd_spi_crc16(data, bytes);

    put(0xff);
    if ((int)fake.blocks_sent == fake.mute_block) {
        fake.streaming = false;
        fake.blocks_sent++;
        return;
    }
    if ((int)fake.blocks_sent == fake.token_block) {
        put(0x04); /* card ECC failed */
        fake.streaming = false;
        fake.blocks_sent++;
        return;
    }
    put(0xfe);
    memcpy(fake.out + fake.n_out, data, bytes);
    if ((int)fake.blocks_sent == fake.flip_block)
        fake.out[fake.n_out + bytes / 3] ^= 0x10;
    fake.n_out += bytes;
    put((uint8_t)(crc >> 8));
    put((uint8_t)crc);
    fake.blocks_sent++;
}

static void put_register(unsigned index)
{
    uint8_t csd[16] = { 0 }, cid[16] = "\3SDFAKE";
    uint32_t c_size = N_SECTORS / 1024 - 1;

    csd[3] = 0x32; /* 25 MHz */
    csd[4] = 0x5b;
    csd[5] = 0x59;
    if (fake.by_sector) { /* version 2: sectors / 1024 - 1 in bits 69 to 48 */
        csd[0] = 0x40;
        csd[8] = (uint8_t)(c_size >> 8);
        csd[9] = (uint8_t)c_size;
    } else { /* version 1: (1023 + 1) * 2^(0 + 2) blocks of 512 */
        csd[6] = 1023 >> 10 & 3;
        csd[7] = 1023 >> 2 & 0xff;
        csd[8] = (uint8_t)((1023 & 3) << 6);
    }
    put_block(index == 9 ? csd : cid, 16);
}

static uint8_t r1(uint8_t errors)
{
    return (uint8_t)((fake.idle ? 1 : 0) | errors);
}

static void answer_read(unsigned index, uint32_t argument)
{
    uint64_t sector = fake.by_sector ? argument : argument / SECTOR_BYTES;

    if (sector >= N_SECTORS || (!fake.by_sector && argument % SECTOR_BYTES != 0)) {
        put(r1(0x40));
        return;
    }
    put(r1(0));
    fake.next_sector = sector + 1;
    fake.streaming = index == 18;
    put_block(contents[sector], SECTOR_BYTES);
}

static void answer_op_cond(void)
{
    if (fake.op_conds > 0)
        fake.op_conds--;
    fake.idle = fake.op_conds > 0 || fake.no_ready;
    put(r1(0));
}

static void answer(unsigned index, uint32_t argument)
{
    bool app = fake.app;

    fake.app = false;
    put(0xff); /* N_CR */
    if (index == 0) {
        fake.idle = true;
        fake.crc_on = false;
        put(r1(0));
    } else if (index == 8 && !fake.version_1) {
        put(r1(0)), put(0), put(0), put(1), put(argument & 0xff);
    } else if (index == 55) {
        fake.app = true;
        put(r1(0));
    } else if (index == 41 && app) {
        answer_op_cond();
    } else if (index == 58) {
        put(r1(0)), put(fake.by_sector ? 0xc0 : 0x80), put(0xff), put(0x80), put(0);
    } else if (index == 59) {
        fake.crc_on = argument == 1;
        put(r1(0));
    } else if (index == 13) {
        put(r1(0)), put(0);
    } else if (index == 16) {
        put(r1(argument == SECTOR_BYTES ? 0 : 0x40));
    } else if ((index == 9 || index == 10) && !fake.no_csd) {
        put(r1(0));
        put_register(index);
    } else if ((index == 17 || index == 18) && !fake.idle) {
        answer_read(index, argument);
    } else if (index == 12) {
        fake.n_out = 0; /* what was under way ends here, but for the byte behind the command */
        put(0x55), put(0xff), put(r1(0)), put(0), put(0), put(0);
    } else {
        put(r1(0x04));
    }
}

static void take_frame(void)
{
    unsigned index = fake.frame[0] & 0x3f;
    bool must_match = fake.crc_on || index == 0 || index == 8;
    uint32_t argument = (uint32_t)fake.frame[1] << 24 | (uint32_t)fake.frame[2] << 16 |
                        (uint32_t)fake.frame[3] << 8 | fake.frame[4];

    fake.n_frame = 0;
    if (sd_spi_crc7(fake.frame, 5) != fake.frame[5]) {
        fake.bad_crcs++;
        if (must_match) {
            put(r1(0x08));
            return;
        }
    }
    fake.commands[index]++;
    if (index == 12 && fake.lose_stop) {
        fake.lose_stop = false;
        return;
    }
    if (fake.streaming && index != 12 && index != 0) {
        fake.n_out = fake.at_out = 0;
        put(r1(0x04));
        return;
    }
    if (index == 12 || index == 0)
        fake.streaming = false;
    fake.n_out = fake.at_out = 0;
    answer(index, argument);
}

static uint8_t card_byte(uint8_t sent)
{
    uint8_t byte = 0xff;

    fake.clocks += 8;
    if (!fake.selected || !fake.present) {
        fake.bytes_unselected++;
        return 0xff;
    }
    if (fake.at_out == fake.n_out && fake.streaming) {
        fake.n_out = fake.at_out = 0;
        put_block(contents[fake.next_sector++ % N_SECTORS], SECTOR_BYTES);
    }
    if (fake.at_out < fake.n_out)
        byte = fake.out[fake.at_out++];
    if (fake.n_frame > 0 || (sent & 0xc0) == 0x40) {
        fake.frame[fake.n_frame++] = sent;
        if (fake.n_frame == sizeof fake.frame)
            take_frame();
    }
    return byte;
}

static void bus_set_hz(struct spi_bus *bus, uint32_t hz)
{
    (void)bus;
    fake.hz = hz;
}

static void bus_select(struct spi_bus *bus, bool on)
{
    (void)bus;
    fake.selected = on;
    fake.n_frame = 0;
}

static void bus_exchange(struct spi_bus *bus, const uint8_t *send, uint8_t *receive, size_t bytes)
{
    (void)bus;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = card_byte(send != NULL ? send[i] : 0xff);

        if (receive != NULL)
            receive[i] = byte;
    }
}

static void bus_idle(struct spi_bus *bus, size_t bytes)
{
    bool selected = fake.selected;

    fake.selected = false;
    bus_exchange(bus, NULL, NULL, bytes);
    fake.selected = selected;
}

static uint64_t ticks(void)
{
    return fake.now += 20; /* microseconds */
}

static struct sd_spi host;
static struct sd_card card;
static struct block_device device;

static void fresh(void)
{
    fake = (struct fake_card) {
        .bus = { bus_set_hz, bus_select, bus_exchange, bus_idle }, .present = true,
        .by_sector = true, .flip_block = NEVER, .token_block = NEVER, .mute_block = NEVER,
        .op_conds = 3,
    };
}

static const char *open_card(void)
{
    sd_spi_init(&host, &fake.bus, 20000000, ticks, 1000000);
    sd_card_open(&card, &host.host, "SD over SPI at ", 0x1000, &device);
    fake.blocks_sent = 0;
    return device.problem;
}

/* The status of a read, its data checked where that is ERR_OK. */
static enum err read_sectors(uint64_t sector, uint32_t n)
{
    static uint8_t buffer[64 * SECTOR_BYTES] __attribute__((aligned(64)));
    struct block_request req = { .sector = sector, .n_sectors = n, .buffer = buffer };
    enum err e;

    memset(buffer, 0xaa, sizeof buffer);
    e = device.submit(&device, &req);
    for (int i = 0; e == ERR_OK && !req.done && i < 1000000; i++)
        (void)device.poll(&device);
    if (e != ERR_OK || !req.done)
        return e != ERR_OK ? e : ERR_BUSY;
    if (req.status == ERR_OK && memcmp(buffer, contents[sector], n * SECTOR_BYTES) != 0)
        return ERR_BAD_CHECKSUM;
    return req.status;
}

static void test_checksums(void)
{
    static const uint8_t cmd0[5] = { 0x40 }, cmd8[5] = { 0x48, 0, 0, 1, 0xaa },
                         cmd17[5] = { 0x51 };
    uint8_t ones[SECTOR_BYTES];

    memset(ones, 0xff, sizeof ones);
    OK(sd_spi_crc7(cmd0, 5) == 0x95 && sd_spi_crc7(cmd8, 5) == 0x87 &&
           sd_spi_crc7(cmd17, 5) == 0x55,
       "CRC7 of the Physical Layer's examples");
    OK(sd_spi_crc16(ones, sizeof ones) == 0x7fa1, "CRC16 of the Physical Layer's example");
    OK(sd_spi_crc16((const uint8_t *)"123456789", 9) == 0x31c3, "CRC16 of 123456789");
}

static void test_start(void)
{
    fresh();
    OK(open_card() == NULL && device.n_sectors == N_SECTORS && card.facts.by_sector,
       "an SDHC card starts: %s, %u sectors", device.problem != NULL ? device.problem : "fine",
       (unsigned)device.n_sectors);
    OK(fake.bad_crcs == 0 && fake.crc_on, "every command has its CRC, and checking is on");
    OK(fake.hz == 20000000 && card.hz == 20000000, "full speed is the slower of bus and card");
    OK(fake.commands[41] == 3, "asked until it was ready");
    fresh();
    fake.version_1 = true;
    fake.by_sector = false;
    OK(open_card() == NULL && device.n_sectors == N_SECTORS && !card.facts.by_sector &&
           fake.commands[16] == 1,
       "an old card of 2 MiB starts");
    OK(read_sectors(17, 5) == ERR_OK, "and takes addresses in bytes");
    fresh();
    fake.no_csd = true;
    OK(open_card() == NULL && device.n_sectors == N_SECTORS,
       "without a CSD the size is measured: %u", (unsigned)device.n_sectors);
    fresh();
    fake.present = false;
    OK(open_card() != NULL, "an empty slot: %s", device.problem);
    fresh();
    fake.no_ready = true;
    OK(open_card() != NULL && strstr(device.problem, "ready") != NULL, "never ready: %s",
       device.problem);
}

static void test_reads(void)
{
    fresh();
    (void)open_card();
    OK(read_sectors(0, 1) == ERR_OK && fake.commands[17] == 1 && fake.commands[12] == 0,
       "one sector by CMD17");
    OK(read_sectors(1, 64) == ERR_OK && fake.commands[18] == 1 && fake.commands[12] == 1,
       "64 sectors by one CMD18, stopped once");
    OK(read_sectors(N_SECTORS - 3, 3) == ERR_OK, "up to the last sector");
    OK(read_sectors(N_SECTORS - 2, 3) == ERR_RANGE, "not beyond");
    OK(card.n_errors == 0 && !fake.streaming, "no errors so far");
}

static void test_faults(void)
{
    fresh();
    (void)open_card();
    fake.flip_block = 3;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 1, "a bit wrong on the wire: read again");
    fake.flip_block = NEVER;
    fake.token_block = (int)fake.blocks_sent + 2;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 2, "an error token: read again");
    fake.token_block = NEVER;
    fake.mute_block = (int)fake.blocks_sent + 1;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 3, "silence: read again");
    fake.mute_block = NEVER;
    fake.lose_stop = true;
    OK(read_sectors(8, 8) == ERR_OK && read_sectors(50, 9) == ERR_OK && !fake.streaming,
       "CMD12 unheard: told again");
    fake.present = false;
    OK(read_sectors(8, 8) == ERR_REMOVED, "taken out");
    fake.present = true;
    fake.streaming = false;
    fake.n_out = fake.at_out = 0;
    OK(read_sectors(8, 8) == ERR_OK, "and put back");
}

/* ---- serial NOR ------------------------------------------------------------------------------- */

static struct nor_chip {
    struct spi_bus bus;
    uint8_t id[3], command[6];
    unsigned n;
} chip;

static uint8_t nor_content(uint32_t at)
{
    return (uint8_t)(at * 7 + (at >> 9) + (at >> 24));
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

    chip.bus = (struct spi_bus) { bus_set_hz, nor_select, nor_exchange, nor_idle };
    memcpy(chip.id, "\x9d\x70\x19", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_OK && d.flash &&
           d.n_sectors == 65536 && nor.long_addresses,
       "IS25WP256 by its id: 32 MiB");
    OK(nor_reads(&d, 0, 1) && nor_reads(&d, 40000, 16) && nor_reads(&d, 65535, 1),
       "read with four bytes of address");
    OK(!nor_reads(&d, 65535, 2) && d.submit(&d, &req) == ERR_UNSUPPORTED,
       "not beyond its end, and never written");
    memcpy(chip.id, "\xef\x40\x18", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_OK && !nor.long_addresses &&
           nor_reads(&d, 12345, 3),
       "16 MiB with three bytes of address");
    memcpy(chip.id, "\xff\xff\xff", 3);
    OK(spi_nor_probe(&nor, &chip.bus, 25000000, 0x2000, &d) == ERR_NO_DEVICE, "no chip");
}

int main(void)
{
    for (unsigned s = 0; s < N_SECTORS; s++)
        for (unsigned i = 0; i < SECTOR_BYTES; i++)
            contents[s][i] = (uint8_t)(s * 31 + i * 7 + (i >> 8));
    test_checksums();
    test_start();
    test_reads();
    test_faults();
    test_nor();
    return tap_done();
}
