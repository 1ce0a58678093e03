/* An SD card at the end of an SPI bus, byte by byte: it checks every checksum, stores what is
 * written, and misbehaves as a test tells it to. There is one static card, because the bus has no
 * room for more. */
#ifndef INGOT_TESTS_UNIT_FAKE_SPI_CARD_H
#define INGOT_TESTS_UNIT_FAKE_SPI_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/block_device.h"
#include "board/drivers/sd/sd_spi.h"

enum { N_SECTORS = 4096, NEVER = -1 };

struct fake_card {
    struct spi_bus bus;
    bool present, version_1, by_sector, no_csd, no_ready, crc_on, selected;
    int flip_block;                 /* number of a sent block with a wrong bit; NEVER */
    int token_block;                /* number of a block for which an error token comes */
    int mute_block;                 /* number of a block for which nothing comes */
    bool lose_stop;                 /* CMD12 goes unheard once */
    unsigned stop_busy, store_busy; /* bytes for which it is busy after CMD12, and after a block or
                                     * the token that ends many */
    unsigned op_conds;              /* ACMD41s until the card is ready */
    uint32_t hz;
    bool idle, app, streaming;
    unsigned clocks, blocks_sent, bad_crcs, commands[64], bytes_unselected;
    uint8_t frame[6];
    unsigned n_frame;
    uint8_t out[1024];
    unsigned n_out, at_out;
    uint64_t next_sector;
    uint64_t now;
    /* for writes, set by the test */
    int refuse_block; /* number of a taken block that is answered with `refusal`; NEVER */
    uint8_t refusal;
    bool stuck;     /* the next store keeps it busy for ever */
    uint8_t status; /* the second byte of CMD13 */
    bool no_status;
    /* and as it goes */
    bool writing, writes_many, early; /* early: a token or a command came before the card could take
                                      * it */
    uint8_t block[SECTOR_BYTES + 2];
    unsigned n_block, busy, blocks_taken;
    bool in_block;
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

static void answer_write(unsigned index, uint32_t argument)
{
    uint64_t sector = fake.by_sector ? argument : argument / SECTOR_BYTES;

    put(r1(sector < N_SECTORS ? 0 : 0x40));
    fake.next_sector = sector;
    fake.writing = sector < N_SECTORS;
    fake.writes_many = index == 25;
}

/* Takes a whole block: sends its data response, and gets busy. */
static void store_block(void)
{
    uint16_t crc = sd_spi_crc16(fake.block, SECTOR_BYTES);
    bool fine = crc == (fake.block[SECTOR_BYTES] << 8 | fake.block[SECTOR_BYTES + 1]);
    uint8_t response = fine ? 0x05 : 0x0b;

    if ((int)fake.blocks_taken++ == fake.refuse_block)
        response = fake.refusal;
    fake.in_block = false;
    fake.writing = fake.writes_many;
    fake.n_out = fake.at_out = 0;
    put(0xe0 | response);
    fake.busy = fake.stuck ? ~0u : fake.store_busy;
    if (response == 0x05)
        memcpy(contents[fake.next_sector++], fake.block, SECTOR_BYTES);
}

/* Takes a byte from the host while the card waits for data. */
static void take_data(uint8_t sent)
{
    if (fake.in_block) {
        fake.block[fake.n_block++] = sent;
        if (fake.n_block == sizeof fake.block)
            store_block();
        return;
    }
    if (sent == (fake.writes_many ? 0xfc : 0xfe)) {
        fake.early = fake.early || fake.busy > 0 || fake.at_out < fake.n_out;
        fake.in_block = true;
        fake.n_block = 0;
    } else if (sent == 0xfd && fake.writes_many) {
        fake.early = fake.early || fake.busy > 0;
        fake.writing = false;
        fake.n_out = fake.at_out = 0;
        put(0xff);
        fake.busy = fake.store_busy;
    }
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
    } else if (index == 13 && !fake.no_status) {
        put(r1(0)), put(fake.status);
    } else if (index == 16) {
        put(r1(argument == SECTOR_BYTES ? 0 : 0x40));
    } else if ((index == 9 || index == 10) && !fake.no_csd) {
        put(r1(0));
        put_register(index);
    } else if ((index == 17 || index == 18) && !fake.idle) {
        answer_read(index, argument);
    } else if ((index == 24 || index == 25) && !fake.idle) {
        answer_write(index, argument);
    } else if (index == 12) {
        fake.writing = false;
        fake.n_out = 0; /* the transfer ends here, except for the byte behind the command */
        put(0x55), put(0xff), put(r1(0));
        fake.busy = fake.stop_busy;
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
    fake.early = fake.early || (fake.busy > 0 && index != 12);
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
    if (fake.at_out < fake.n_out) {
        byte = fake.out[fake.at_out++];
    } else if (fake.busy > 0) {
        fake.busy--;
        byte = 0;
    }
    if (fake.in_block || (fake.writing && fake.n_frame == 0 && sent >= 0x80))
        take_data(sent);
    else if (fake.n_frame > 0 || (sent & 0xc0) == 0x40) {
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

#endif
