/* SD over SPI against a card made of bytes, which checks every checksum and can misbehave. */
#include "board/drivers/sd/sd_spi.h"

#include <string.h>

#include "board/drivers/sd/sd_card.h"
#include "tests/unit/board/fakes/fake_spi_card.h"
#include "tests/unit/tap.h"

static struct sd_spi host;
static struct sd_card card;
static struct block_device device;

static void fresh(void)
{
    fake = (struct fake_card){
        .bus = { bus_set_hz, bus_select, bus_exchange, bus_idle },
        .present = true,
        .by_sector = true,
        .flip_block = NEVER,
        .token_block = NEVER,
        .mute_block = NEVER,
        .refuse_block = NEVER,
        .stop_busy = 3,
        .store_busy = 40,
        .op_conds = 3,
    };
}

static const char *open_card(void)
{
    sd_spi_init(&host, &fake.bus, 20000000, ticks, 1000000);
    sd_card_open(&card, &host.host, "SD over SPI at ", 0x1000, &device);
    fake.blocks_sent = 0;
    return device.error_message;
}

/* Returns the status of a read, and checks its data if that is ERR_OK. */
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

/* Returns the status of a write of the data of `seed`, and looks for it in the card if that is
 * ERR_OK. */
static enum err write_sectors(uint64_t sector, uint32_t n, unsigned seed)
{
    static uint8_t buffer[64 * SECTOR_BYTES] __attribute__((aligned(64)));
    struct block_request req = {
        .sector = sector, .n_sectors = n, .buffer = buffer, .write = true
    };
    enum err e;

    for (uint32_t i = 0; i < n * SECTOR_BYTES; i++)
        buffer[i] = (uint8_t)(i * 13 + i / SECTOR_BYTES + seed);
    e = device.submit(&device, &req);
    for (int i = 0; e == ERR_OK && !req.done && i < 1000000; i++)
        (void)device.poll(&device);
    if (e != ERR_OK || !req.done)
        return e != ERR_OK ? e : ERR_BUSY;
    if (req.status == ERR_OK && memcmp(buffer, contents[sector], n * SECTOR_BYTES) != 0)
        return ERR_BAD_CHECKSUM;
    return req.status;
}

static void test_writes(void)
{
    uint8_t before[SECTOR_BYTES];

    fresh();
    (void)open_card();
    memcpy(before, contents[12], sizeof before);
    OK(device.writable && write_sectors(11, 1, 1) == ERR_OK && fake.commands[24] == 1 &&
           fake.commands[13] == 1 && memcmp(before, contents[12], sizeof before) == 0,
       "CMD24 writes one sector, and the card is asked whether it is stored");
    OK(write_sectors(100, 64, 2) == ERR_OK && fake.commands[25] == 1 && fake.commands[12] == 0 &&
           fake.commands[13] == 2 && !fake.writing && fake.busy == 0,
       "one CMD25 writes 64 sectors, and is done when the card is ready again");
    OK(read_sectors(90, 64) == ERR_OK && read_sectors(163, 2) == ERR_OK,
       "the sectors that were written are read");
    OK(write_sectors(N_SECTORS - 2, 2, 3) == ERR_OK &&
           write_sectors(N_SECTORS - 1, 2, 3) == ERR_RANGE,
       "writes reach the last sector, and no further");
    OK(!fake.early && card.n_errors == 0, "no block came while the card was busy");
    fresh();
    fake.no_status = true;
    (void)open_card();
    OK(write_sectors(7, 3, 4) == ERR_OK && write_sectors(17, 1, 4) == ERR_OK &&
           fake.commands[13] == 1,
       "a card that knows no CMD13 is asked once");
}

static void test_write_faults(void)
{
    fresh();
    (void)open_card();
    fake.refuse_block = 3;
    fake.refusal = 0x0b;
    OK(write_sectors(200, 8, 5) == ERR_OK && card.n_errors == 1 && fake.blocks_taken == 12 &&
           fake.commands[12] == 1,
       "a block with a checksum that the card finds wrong is written again");
    fake.refuse_block = (int)fake.blocks_taken + 7;
    fake.refusal = 0x0d;
    OK(write_sectors(300, 8, 6) == ERR_OK && card.n_errors == 2, "a write error is tried again");
    fake.refuse_block = (int)fake.blocks_taken;
    fake.refusal = 0x1f;
    OK(write_sectors(310, 1, 7) == ERR_OK && card.n_errors == 3,
       "a write without a data response is tried again");
    fake.refuse_block = NEVER;
    fake.status = 1 << 2;
    OK(write_sectors(320, 4, 8) == ERR_IO && card.n_errors == 7,
       "a write fails after four tries that end with an error in CMD13");
    fake.status = 0;
    OK(write_sectors(330, 4, 9) == ERR_OK, "the card works again");
    fake.stuck = true;
    OK(write_sectors(340, 2, 10) == ERR_TIMEOUT, "a card that stays busy is given up after a time");
    fake.stuck = false;
    fake.busy = 0;
    fake.writing = false;
    fake.now += 3000000;
    OK(write_sectors(340, 2, 10) == ERR_OK, "a card that was given up is looked for again");
    fake.present = false;
    OK(write_sectors(350, 2, 11) == ERR_REMOVED, "a card that is taken out is reported");
}

static void test_checksums(void)
{
    static const uint8_t cmd0[5] = { 0x40 }, cmd8[5] = { 0x48, 0, 0, 1, 0xaa }, cmd17[5] = { 0x51 };
    uint8_t ones[SECTOR_BYTES];

    memset(ones, 0xff, sizeof ones);
    OK(sd_spi_crc7(cmd0, 5) == 0x95 && sd_spi_crc7(cmd8, 5) == 0x87 &&
           sd_spi_crc7(cmd17, 5) == 0x55,
       "CRC7 of the Physical Layer's examples is right");
    OK(sd_spi_crc16(ones, sizeof ones) == 0x7fa1, "CRC16 of the Physical Layer's example is right");
    OK(sd_spi_crc16((const uint8_t *)"123456789", 9) == 0x31c3, "CRC16 of 123456789 is right");
}

static void test_start(void)
{
    fresh();
    OK(open_card() == NULL && device.n_sectors == N_SECTORS && card.facts.by_sector,
       "an SDHC card starts: %s, %u sectors",
       device.error_message != NULL ? device.error_message : "fine", (unsigned)device.n_sectors);
    OK(fake.bad_crcs == 0 && fake.crc_on, "every command has its CRC, and checking is on");
    OK(fake.hz == 20000000 && card.hz == 20000000, "full speed is the slower of bus and card");
    OK(fake.commands[41] == 3, "the card is asked until it is ready");
    fresh();
    fake.version_1 = true;
    fake.by_sector = false;
    OK(open_card() == NULL && device.n_sectors == N_SECTORS && !card.facts.by_sector &&
           fake.commands[16] == 1,
       "an old card of 2 MiB starts");
    OK(read_sectors(17, 5) == ERR_OK, "an old card takes addresses in bytes");
    fresh();
    fake.no_csd = true;
    OK(open_card() == NULL && device.n_sectors == N_SECTORS,
       "without a CSD the size is measured: %u", (unsigned)device.n_sectors);
    fresh();
    fake.present = false;
    OK(open_card() != NULL, "an empty slot has its error message: %s", device.error_message);
    fresh();
    fake.no_ready = true;
    OK(open_card() != NULL && strstr(device.error_message, "ready") != NULL,
       "a card that is never ready has its error message: %s", device.error_message);
}

static void test_reads(void)
{
    fresh();
    (void)open_card();
    OK(read_sectors(0, 1) == ERR_OK && fake.commands[17] == 1 && fake.commands[12] == 0,
       "one sector is read by CMD17");
    OK(read_sectors(1, 64) == ERR_OK && fake.commands[18] == 1 && fake.commands[12] == 1,
       "one CMD18 reads 64 sectors, and is stopped once");
    OK(read_sectors(N_SECTORS - 3, 3) == ERR_OK, "the last sectors are read");
    OK(read_sectors(N_SECTORS - 2, 3) == ERR_RANGE, "a read beyond the last sectors is refused");
    OK(card.n_errors == 0 && !fake.streaming, "there are no errors so far");
}

static void test_faults(void)
{
    fresh();
    (void)open_card();
    fake.flip_block = 3;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 1,
       "sectors with a wrong bit on the wire are read again");
    fake.flip_block = NEVER;
    fake.token_block = (int)fake.blocks_sent + 2;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 2,
       "sectors are read again after an error token");
    fake.token_block = NEVER;
    fake.mute_block = (int)fake.blocks_sent + 1;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 3, "sectors are read again after silence");
    fake.mute_block = NEVER;
    fake.lose_stop = true;
    OK(read_sectors(8, 8) == ERR_OK && read_sectors(50, 9) == ERR_OK && !fake.streaming,
       "a CMD12 that the card did not hear is sent again");
    fake.present = false;
    OK(read_sectors(8, 8) == ERR_REMOVED, "a card that is taken out is reported");
    fake.present = true;
    fake.streaming = false;
    fake.n_out = fake.at_out = 0;
    OK(read_sectors(8, 8) == ERR_OK, "the card is put back");
}

/* Is busy for longer than any command waits for a card, so whoever stops it must wait. */
static void test_slow_stops(void)
{
    fresh();
    (void)open_card();
    fake.stop_busy = fake.store_busy = 300;
    OK(read_sectors(1, 64) == ERR_OK && read_sectors(70, 2) == ERR_OK &&
           read_sectors(80, 1) == ERR_OK && card.n_errors == 0 && !fake.early,
       "a card that is busy after each stop is waited for (%u errors)", card.n_errors);
    fake.token_block = (int)fake.blocks_sent + 2;
    OK(read_sectors(8, 8) == ERR_OK && card.n_errors == 1 && !fake.early,
       "a busy card is waited for after a stop that ends an error (%u errors)", card.n_errors);
    fake.token_block = NEVER;
    fake.refuse_block = (int)fake.blocks_taken + 1;
    fake.refusal = 0x0d;
    OK(write_sectors(200, 8, 5) == ERR_OK && read_sectors(80, 1) == ERR_OK && card.n_errors == 2 &&
           !fake.early,
       "a busy card is waited for after a stop that ends a write error (%u errors)", card.n_errors);
    OK(write_sectors(300, 8, 6) == ERR_OK && read_sectors(80, 1) == ERR_OK &&
           write_sectors(400, 1, 7) == ERR_OK && read_sectors(80, 1) == ERR_OK &&
           card.n_errors == 2 && !fake.early,
       "a busy card is waited for after a write (%u errors)", card.n_errors);
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
    test_slow_stops();
    test_writes();
    test_write_faults();
    return tap_done();
}
