/* An SD card as a test wants it: states and registers of the Physical Layer specification, contents
 * by rule, and faults on request. It is the card behind the wires of fake hosts and controllers. */
#ifndef INGOT_TESTS_UNIT_FAKE_SD_H
#define INGOT_TESTS_UNIT_FAKE_SD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/drivers/sd/sd_host.h"

enum { FAKE_IDLE, FAKE_READY, FAKE_IDENT, FAKE_STANDBY, FAKE_TRANSFER, FAKE_SENDING };
enum { FAKE_SD_LOG = 256, FAKE_SD_SECTORS = 1 << 16, FAKE_SD_WRITTEN = 64 };

struct fake_sd {
    /* as the test sets it */
    bool is_version_1; /* version of the specification: no CMD8, addresses in bytes */
    bool is_silent;    /* answers nothing */
    bool is_emmc;
    bool is_locked; /* with a password */
    bool knows_1v8;
    bool knows_count; /* CMD23 */
    bool is_1_bit;
    uint32_t modes;       /* group 1 of CMD6: bit n says that mode n is known */
    unsigned asks;        /* ACMD41s until it is ready */
    unsigned garbled;     /* transfers whose data gets a wrong CRC */
    unsigned late;        /* transfers that never deliver */
    unsigned ecc;         /* transfers that end with CARD_ECC_FAILED in the response */
    unsigned unstored;    /* writes whose blocks are not stored; the next answer says so, once */
    uint32_t why;         /* ... by this bit of the card status; 0: by ERROR */
    unsigned programming; /* CMD13s after a write that answer "not ready" */
    uint32_t serial;      /* in the CID */
    uint64_t n_sectors;
    /* what it does */
    unsigned state, width, mode;
    bool at_1v8, lines_1v8; /* voltages of its signals: the card's, and the board's */
    uint8_t ext_csd[512];   /* eMMC */
    bool is_app;
    uint32_t counted; /* by CMD23 */
    uint32_t latched; /* errors of the card status that nobody has read yet */
    unsigned n_log;
    uint8_t log[FAKE_SD_LOG];               /* commands so far; those behind CMD55 have bit 7 */
    uint8_t written[FAKE_SD_WRITTEN * 512]; /* the first sectors, when something was written */
    bool has_written;
};

static inline void fake_sd_init(struct fake_sd *c)
{
    memset(c, 0, sizeof *c);
    c->asks = 3;
    c->knows_count = true;
    c->modes = 3;
    c->n_sectors = FAKE_SD_SECTORS;
    c->serial = 1;
}

/* Its supply was away, which is the only way back to 3.3 V. */
static inline void fake_sd_power_off(struct fake_sd *c)
{
    c->state = FAKE_IDLE;
    c->width = 1;
    c->mode = 0;
    c->is_app = c->at_1v8 = false;
}

static inline uint8_t fake_sd_byte(uint64_t sector, unsigned at)
{
    return (uint8_t)(sector * 31 + at * 7 + at / 256);
}

static inline unsigned fake_sd_count(const struct fake_sd *c, unsigned index)
{
    unsigned n = 0;

    for (unsigned i = 0; i < c->n_log; i++)
        n += c->log[i] == index;
    return n;
}

static inline void fake_sd_put(uint32_t reg[4], unsigned low, unsigned bits, uint32_t value)
{
    for (unsigned i = 0; i < bits; i++)
        reg[(low + i) / 32] |= (value >> i & 1) << (low + i) % 32;
}

static inline void fake_sd_csd(const struct fake_sd *c, uint32_t csd[4])
{
    memset(csd, 0, 16);
    fake_sd_put(csd, 96, 8, 0x32); /* 25 MHz */
    fake_sd_put(csd, 84, 12, c->is_version_1 ? 0x1b5 : 0x5b5);
    if (c->is_version_1) { /* C_SIZE, C_SIZE_MULT 4, READ_BL_LEN 10: 64 KiB times C_SIZE + 1 */
        fake_sd_put(csd, 62, 12, (uint32_t)(c->n_sectors / 128 - 1));
        fake_sd_put(csd, 47, 3, 4);
        fake_sd_put(csd, 80, 4, 10);
    } else {
        fake_sd_put(csd, 126, 2, 1);
        fake_sd_put(csd, 48, 22, (uint32_t)(c->n_sectors / 1024 - 1));
    }
}

/* R1, and what failed. */
static inline uint32_t fake_sd_status(const struct fake_sd *c)
{
    return c->state << 9 | 1u << 8 | (c->is_locked ? 1u << 25 : 0) | (c->is_app ? 1u << 5 : 0);
}

/* eMMC: JESD84-B51. */
static inline bool fake_emmc_command(struct fake_sd *c, unsigned index, uint32_t argument,
                                     uint32_t reply[4])
{
    switch (index) {
    case 0:
        c->state = FAKE_IDLE;
        c->width = 1;
        c->ext_csd[185] = 0;
        return false;
    case 1:
        reply[0] = 0x00ff8080 | 1u << 30 | (c->asks == 0 ? 1u << 31 : 0);
        c->asks -= c->asks > 0;
        return true;
    case 2:
        c->state = FAKE_IDENT;
        reply[1] = c->serial << 8;
        return true;
    case 3: c->state = FAKE_STANDBY; return argument == 1 << 16;
    case 9:
        memset(reply, 0, 16);
        fake_sd_put(reply, 122, 4, 4);
        fake_sd_put(reply, 96, 8, 0x32);
        fake_sd_put(reply, 80, 4, 9);
        fake_sd_put(reply, 62, 12, 0xfff);
        fake_sd_put(reply, 47, 3, 7);
        return c->state == FAKE_STANDBY;
    case 7: c->state = FAKE_TRANSFER; return argument == 1 << 16;
    case 6: c->ext_csd[argument >> 16 & 255] = (uint8_t)(argument >> 8); return true;
    case 8: return c->state == FAKE_TRANSFER;
    case 12:
    case 13:
    case 17:
    case 18: return true;
    default: return false;
    }
}

/* Answers a command; false: silence. fake_sd_data moves data. */
static inline bool fake_sd_command(struct fake_sd *c, unsigned index, uint32_t argument,
                                   uint32_t reply[4])
{
    bool app = c->is_app;

    if (c->n_log < FAKE_SD_LOG)
        c->log[c->n_log++] = (uint8_t)(index | (app ? 0x80 : 0));
    if (c->is_silent || (!c->is_emmc && c->at_1v8 != c->lines_1v8))
        return false;
    memset(reply, 0, 16);
    reply[0] = fake_sd_status(c);
    if (c->is_emmc)
        return fake_emmc_command(c, index, argument, reply);
    c->is_app = index == 55;
    switch (index | (app ? 0x80u : 0)) {
    case 0:
        c->state = FAKE_IDLE;
        c->width = 1;
        c->mode = 0;
        return false;
    case 8: reply[0] = argument & 0xfff; return !c->is_version_1;
    case 0x80 | 41:
        reply[0] = 0x00ff8000 | (c->asks == 0 ? 1u << 31 : 0) | (c->is_version_1 ? 0 : 1u << 30) |
                   (c->knows_1v8 && !c->at_1v8 ? argument & 1u << 24 : 0);
        c->state = c->asks == 0 ? FAKE_READY : FAKE_IDLE;
        c->asks -= c->asks > 0;
        return true;
    case 11: c->at_1v8 = c->knows_1v8 && c->state == FAKE_READY; return c->at_1v8;
    case 2:
        c->state = FAKE_IDENT;
        reply[1] = c->serial << 8;
        return true;
    case 3:
        c->state = FAKE_STANDBY;
        reply[0] = 0x12340000 | (reply[0] & 0x1fff);
        return true;
    case 9: fake_sd_csd(c, reply); return argument == 0x12340000 && c->state == FAKE_STANDBY;
    case 7: c->state = FAKE_TRANSFER; return argument == 0x12340000;
    case 0x80 | 6: c->width = argument == 2 ? 4 : 1; return true;
    case 6:
        if (argument >> 31 && c->modes >> (argument & 15) & 1)
            c->mode = argument & 15;
        return !c->is_version_1;
    case 12:
        c->state = FAKE_TRANSFER;
        reply[0] |= c->latched;
        c->latched = 0;
        return true;
    case 13:
        if (c->programming > 0) {
            c->programming--;
            reply[0] = 7 << 9;
        }
        reply[0] |= c->latched;
        c->latched = 0;
        return true;
    case 16: return argument == 512;
    case 23: c->counted = argument; return c->knows_count;
    case 17:
    case 18:
    case 24:
    case 25:
        if (argument / (c->is_version_1 ? 512 : 1) >= c->n_sectors)
            reply[0] |= 1u << 31;
        reply[0] |= c->ecc > 0 ? 1u << 21 : 0;
        c->ecc -= c->ecc > 0;
        c->state = index == 18 && c->counted == 0 ? FAKE_SENDING : FAKE_TRANSFER;
        c->counted = 0;
        return true;
    case 19:
    case 55:
    case 0x80 | 51: return true;
    default: return false;
    }
}

/* Moves the data of a command, with the fault that was requested. */
static inline enum sd_fault fake_sd_data(struct fake_sd *c, unsigned index, uint32_t argument,
                                         bool app, uint8_t *data, uint32_t bytes)
{
    uint64_t sector = argument / (c->is_version_1 ? 512 : 1);

    if (c->late > 0) {
        c->late--;
        return SD_FAULT_DATA_TIMEOUT;
    }
    if (c->garbled > 0) {
        c->garbled--;
        return SD_FAULT_DATA;
    }
    if ((index == 24 || index == 25) && c->unstored > 0) {
        c->unstored--;
        c->latched = c->why != 0 ? c->why : 1u << 19; /* ERROR */
        return SD_FAULT_NONE;
    }
    if (index == 24 || index == 25) {
        memcpy(c->written + sector * 512, data, bytes);
        c->has_written = true;
        return SD_FAULT_NONE;
    }
    memset(data, 0, bytes);
    if (app && index == 51) { /* SCR: version 2, widths 1 and 4, CMD23 */
        data[0] = 2;
        data[1] = c->is_1_bit ? 1 : 5;
        data[3] = c->knows_count ? 2 : 0;
    } else if (index == 8) {
        memcpy(data, c->ext_csd, bytes);
    } else if (index == 6) {
        data[12] = (uint8_t)(c->modes >> 8);
        data[13] = (uint8_t)c->modes;
        data[16] = (uint8_t)c->mode;
    } else {
        for (uint32_t i = 0; i < bytes; i++)
            data[i] = c->has_written ? c->written[sector * 512 + i]
                                     : fake_sd_byte(sector + i / 512, i % 512);
    }
    return SD_FAULT_NONE;
}

#endif
