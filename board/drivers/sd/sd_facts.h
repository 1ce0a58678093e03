/* Reads the registers of SD cards and eMMC, for any bus. Compiles hosted as well. */
#ifndef INGOT_BOARD_DRIVERS_SD_SD_FACTS_H
#define INGOT_BOARD_DRIVERS_SD_SD_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

enum { SD_SWITCH_BYTES = 64, SD_SCR_BYTES = 8, SD_EXT_CSD_BYTES = 512 };

struct sd_facts {
    uint64_t n_sectors; /* of 512 bytes */
    uint32_t max_hz;    /* clock limit at default timing, from TRAN_SPEED */
    uint32_t csd[4];    /* words in the order of `cid` */
    uint32_t scr[2];    /* bits 63 to 32 first; eMMC: none */
    uint32_t cid[4];    /* identity of the card; word n has bits 32 n to 32 n + 31 */
    bool is_emmc;
    bool by_sector;  /* addresses count sectors, not bytes: SDHC, SDXC, eMMC over 2 GB */
    bool has_4_bits; /* SCR; eMMC: always */
    bool has_count;  /* CMD23; eMMC: always */
    bool has_switch; /* CMD6 */
    bool is_locked;  /* the card refuses writes, temporarily or permanently */
};

/* Read n_bits (1 to 32) from bit `low` of a 128-bit register in four words. */
uint32_t sd_facts_bits(const uint32_t reg[4], unsigned low, unsigned n_bits);

/* Convert the 16 bytes of a CID or CSD as SPI and EXT_CSD deliver them, bit 127 first, to words. */
void sd_facts_words(uint32_t reg[4], const uint8_t bytes[16]);

/* Read the CSD of an SD card, version 1 or 2 (Physical Layer 5.3): n_sectors, max_hz, by_sector,
 * has_switch, is_locked. ERR_UNSUPPORTED: a later version; ERR_IO: not a CSD. */
enum err sd_facts_csd(struct sd_facts *facts, const uint32_t csd[4]);

/* Read the SCR (Physical Layer 5.6): has_4_bits, has_count; has_switch needs version 1.10. */
void sd_facts_scr(struct sd_facts *facts, const uint8_t scr[SD_SCR_BYTES]);

/* True if CMD6's status says that function `number` of group `group` (1 to 6) can be chosen, or was
 * chosen (Physical Layer 4.3.10.4). */
bool sd_switch_offers(const uint8_t status[SD_SWITCH_BYTES], unsigned group, unsigned number);
bool sd_switch_chose(const uint8_t status[SD_SWITCH_BYTES], unsigned group, unsigned number);

/* Read the CSD of an eMMC (JESD84-B51 7.3); the second function reads the exact number of sectors
 * from EXT_CSD (7.4). */
enum err sd_facts_emmc_csd(struct sd_facts *facts, const uint32_t csd[4]);
void sd_facts_emmc_ext_csd(struct sd_facts *facts, const uint8_t ext_csd[SD_EXT_CSD_BYTES]);

/* The rate in TRAN_SPEED, or 0 if the byte is reserved. */
uint32_t sd_facts_tran_speed(uint32_t byte, bool emmc);

#endif
