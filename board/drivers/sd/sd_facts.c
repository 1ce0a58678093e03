/* Sections are those of the Physical Layer Simplified Specification 6.00, for eMMC those of
 * JESD84-B51. */
#include "board/drivers/sd/sd_facts.h"

#include <string.h>

#include <stddef.h>

uint32_t sd_facts_bits(const uint32_t reg[4], unsigned low, unsigned n_bits)
{
    unsigned word = low / 32, shift = low % 32;
    uint64_t two = reg[word];

    if (word < 3)
        two |= (uint64_t)reg[word + 1] << 32;
    return (uint32_t)(two >> shift & (((uint64_t)1 << n_bits) - 1));
}

void sd_facts_words(uint32_t reg[4], const uint8_t bytes[16])
{
    for (unsigned i = 0; i < 4; i++) {
        const uint8_t *b = bytes + 12 - 4 * i;

        reg[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
}

/* Values in tenths, from table 5-6, and for eMMC from table 17, which differs in two values. */
uint32_t sd_facts_tran_speed(uint32_t byte, bool emmc)
{
    static const uint8_t tenths[16] = { 0,  10, 12, 13, 15, 20, 25, 30,
                                        35, 40, 45, 50, 55, 60, 70, 80 };
    static const uint32_t units[4] = { 10000, 100000, 1000000, 10000000 };
    uint32_t value = tenths[byte >> 3 & 15];

    if (emmc && (value == 25 || value == 50))
        value += value / 25; /* 26 and 52 instead of 25 and 50 */
    if ((byte & 7) >= 4)
        return 0;
    return value * units[byte & 7];
}

/* C_SIZE, C_SIZE_MULT and READ_BL_LEN, which have the same positions in version 1 and in eMMC
 * (5.3.2). */
static uint64_t small_sectors(const uint32_t csd[4])
{
    uint32_t block_log = sd_facts_bits(csd, 80, 4);
    uint64_t blocks = (uint64_t)(sd_facts_bits(csd, 62, 12) + 1) << (sd_facts_bits(csd, 47, 3) + 2);

    if (block_log < 9 || block_log > 11)
        return 0;
    return blocks << (block_log - 9);
}

enum err sd_facts_csd(struct sd_facts *facts, const uint32_t csd[4])
{
    enum { VERSION_1, VERSION_2 };
    enum { CLASS_SWITCH = 1 << 10 };
    uint32_t version = sd_facts_bits(csd, 126, 2);

    memcpy(facts->csd, csd, sizeof facts->csd);
    if (version > VERSION_2)
        return ERR_UNSUPPORTED;
    facts->by_sector = version == VERSION_2;
    facts->n_sectors = version == VERSION_2
                           ? ((uint64_t)sd_facts_bits(csd, 48, 22) + 1) * 1024 /* 5.3.3 */
                           : small_sectors(csd);
    facts->max_hz = sd_facts_tran_speed(sd_facts_bits(csd, 96, 8), false);
    facts->has_switch = (sd_facts_bits(csd, 84, 12) & CLASS_SWITCH) != 0;
    facts->is_locked = sd_facts_bits(csd, 12, 2) != 0; /* TMP_, PERM_WRITE_PROTECT */
    return err_unless(facts->n_sectors != 0 && facts->max_hz != 0, ERR_IO);
}

void sd_facts_scr(struct sd_facts *facts, const uint8_t scr[SD_SCR_BYTES])
{
    enum { WIDTHS_4 = 1 << 2, COMMANDS_23 = 1 << 1 };

    for (unsigned i = 0; i < SD_SCR_BYTES; i++)
        facts->scr[i / 4] = facts->scr[i / 4] << 8 | scr[i];
    facts->has_4_bits = (scr[1] & WIDTHS_4) != 0;   /* SD_BUS_WIDTHS, bits 48 to 51 */
    facts->has_count = (scr[3] & COMMANDS_23) != 0; /* CMD_SUPPORT, bits 32 to 35 */
    if ((scr[0] & 15) == 0)                         /* SD_SPEC, bits 56 to 59 */
        facts->has_switch = false;
}

bool sd_switch_offers(const uint8_t status[SD_SWITCH_BYTES], unsigned group, unsigned number)
{
    unsigned bits = (unsigned)status[14 - 2 * group] << 8 | status[15 - 2 * group];

    return (bits >> number & 1) != 0;
}

bool sd_switch_chose(const uint8_t status[SD_SWITCH_BYTES], unsigned group, unsigned number)
{
    uint8_t two = status[16 - (group - 1) / 2];

    return (group % 2 == 1 ? two & 15u : two >> 4) == number;
}

enum err sd_facts_emmc_csd(struct sd_facts *facts, const uint32_t csd[4])
{
    enum { SPEC_WITH_EXT_CSD = 4 };

    memcpy(facts->csd, csd, sizeof facts->csd);
    facts->n_sectors = small_sectors(csd);
    facts->max_hz = sd_facts_tran_speed(sd_facts_bits(csd, 96, 8), true);
    facts->is_locked = sd_facts_bits(csd, 12, 2) != 0;
    facts->has_4_bits = facts->has_switch = facts->has_count = sd_facts_bits(csd, 122, 4) >=
                                                               SPEC_WITH_EXT_CSD;
    return err_unless(facts->n_sectors != 0 && facts->max_hz != 0, ERR_IO);
}

void sd_facts_emmc_ext_csd(struct sd_facts *facts, const uint8_t ext_csd[SD_EXT_CSD_BYTES])
{
    enum { SEC_COUNT = 212 }; /* 7.4.53: valid if the device is larger than 2 GB */
    const uint8_t *p = ext_csd + SEC_COUNT;
    uint32_t sectors = (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];

    if (facts->by_sector && sectors != 0)
        facts->n_sectors = sectors;
}
