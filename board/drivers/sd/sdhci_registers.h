/* Registers of an SD host controller as 32-bit words, and declarations that the driver's files
 * share. Sections are those of the SD Host Controller Simplified Specification 4.20. */
#ifndef INGOT_BOARD_DRIVERS_SD_SDHCI_REGISTERS_H
#define INGOT_BOARD_DRIVERS_SD_SDHCI_REGISTERS_H

#include "board/drivers/sd/sdhci.h"

enum {
    SDHCI_DMA_ADDRESS = 0x00,   /* 2.2.1; Block Count in version 4 mode */
    SDHCI_BLOCK = 0x04,         /* 2.2.2 size, 2.2.3 count */
    SDHCI_ARGUMENT = 0x08,      /* 2.2.4 */
    SDHCI_TRANSFER = 0x0c,      /* 2.2.5 mode, 2.2.6 command: writing it starts the command */
    SDHCI_RESPONSE = 0x10,      /* 2.2.7, four words */
    SDHCI_DATA = 0x20,          /* 2.2.8 */
    SDHCI_PRESENT = 0x24,       /* 2.2.9 */
    SDHCI_CONTROL = 0x28,       /* 2.2.11 host control 1, 2.2.12 power, 2.2.13 gap, 2.2.14 wakeup */
    SDHCI_CLOCK = 0x2c,         /* 2.2.15 clock, 2.2.16 time-out, 2.2.17 software reset */
    SDHCI_STATUS = 0x30,        /* 2.2.18 normal, 2.2.19 error interrupt status */
    SDHCI_STATUS_ENABLE = 0x34, /* 2.2.20, 2.2.21 */
    SDHCI_SIGNAL_ENABLE = 0x38, /* 2.2.22, 2.2.23 */
    SDHCI_CONTROL_2 = 0x3c,     /* 2.2.24 Auto CMD errors, 2.2.25 host control 2 */
    SDHCI_CAPABILITIES = 0x40,  /* 2.2.26, two words */
    SDHCI_ADMA_ADDRESS = 0x58,  /* 2.2.31, two words; SDMA's address in version 4 mode */
    SDHCI_VERSION = 0xfc,       /* 2.3.16, upper half */
};

enum { /* SDHCI_TRANSFER */
       TRANSFER_DMA = 1 << 0,
       TRANSFER_COUNTED = 1 << 1,
       TRANSFER_AUTO_CMD12 = 1 << 2,
       TRANSFER_READ = 1 << 4,
       TRANSFER_MULTI = 1 << 5,
       COMMAND_LONG = 1 << 16,
       COMMAND_SHORT = 2 << 16,
       COMMAND_SHORT_BUSY = 3 << 16,
       COMMAND_CHECK_CRC = 1 << 19,
       COMMAND_CHECK_INDEX = 1 << 20,
       COMMAND_HAS_DATA = 1 << 21,
       COMMAND_ABORT = 3 << 22,
       COMMAND_INDEX_SHIFT = 24,
};

enum { /* SDHCI_PRESENT */
       PRESENT_COMMAND_INHIBIT = 1 << 0,
       PRESENT_DATA_INHIBIT = 1 << 1,
       PRESENT_WRITABLE = 1 << 10,
       PRESENT_READABLE = 1 << 11,
       PRESENT_INSERTED = 1 << 16,
       PRESENT_STABLE = 1 << 17,
       PRESENT_UNLOCKED = 1 << 19, /* the slide of the card is not at "lock" */
       PRESENT_DATA_0 = 1 << 20,
       PRESENT_DATA_LINES = 15 << 20,
};

enum { /* SDHCI_CONTROL */
       CONTROL_4_BITS = 1 << 1,
       CONTROL_HIGH_SPEED = 1 << 2,
       CONTROL_ADMA32 = 2 << 3,
       CONTROL_ADMA64 = 3 << 3,
       CONTROL_DMA = 3 << 3,
       CONTROL_8_BITS = 1 << 5,
       CONTROL_POWER = 1 << 8,
       CONTROL_1V8 = 5 << 9,
       CONTROL_3V0 = 6 << 9,
       CONTROL_3V3 = 7 << 9,
       CONTROL_VOLTAGE = 7 << 9,
};

enum { /* SDHCI_CLOCK */
       CLOCK_INTERNAL = 1 << 0,
       CLOCK_STABLE = 1 << 1,
       CLOCK_CARD = 1 << 2,
       CLOCK_DIVISOR = 0xffc0,
       CLOCK_TIMEOUT_MAX = 14 << 16,
       CLOCK_TIMEOUT = 15 << 16,
       CLOCK_RESET_ALL = 1 << 24,
       CLOCK_RESET_COMMAND = 1 << 25,
       CLOCK_RESET_DATA = 1 << 26,
};

enum { /* SDHCI_STATUS */
       STATUS_COMMAND = 1u << 0,
       STATUS_TRANSFER = 1u << 1,
       STATUS_DMA = 1u << 3,
       STATUS_WRITABLE = 1u << 4,
       STATUS_READABLE = 1u << 5,
       STATUS_RETUNE = 1u << 12,
       STATUS_ERROR = 1u << 15,
       STATUS_COMMAND_TIMEOUT = 1u << 16,
       STATUS_COMMAND_WRONG = 7u << 17, /* CRC, end bit, index */
       STATUS_DATA_TIMEOUT = 1u << 20,
       STATUS_DATA_WRONG = 3u << 21, /* CRC, end bit */
       STATUS_AUTO_WRONG = 1u << 24,
       STATUS_DMA_WRONG = 1u << 25,
       STATUS_TUNING_WRONG = 1u << 26,
       STATUS_ERRORS = 0xffff0000u,
       STATUS_WANTED = STATUS_COMMAND | STATUS_TRANSFER | STATUS_DMA | STATUS_WRITABLE |
                       STATUS_READABLE | STATUS_RETUNE | 0x07ff0000u,
};

enum { /* SDHCI_CONTROL_2 */
       CONTROL2_MODE = 7 << 16,
       CONTROL2_MODE_SHIFT = 16,
       CONTROL2_1V8 = 1 << 19,
       CONTROL2_TUNE = 1 << 22,
       CONTROL2_TUNED = 1 << 23,
       CONTROL2_VERSION_4 = 1 << 28,
       CONTROL2_64_BITS = 1 << 29,
};

enum { /* SDHCI_CAPABILITIES, first word */
       CAPABLE_BASE_MHZ_SHIFT = 8,
       CAPABLE_ADMA2 = 1 << 19,
       CAPABLE_HIGH_SPEED = 1 << 21,
       CAPABLE_SDMA = 1 << 22,
       CAPABLE_3V3 = 1 << 24,
       CAPABLE_3V0 = 1 << 25,
       CAPABLE_64_BITS_4 = 1 << 27,
       CAPABLE_64_BITS_3 = 1 << 28,
};

enum { /* SDHCI_CAPABILITIES, second word */
       CAPABLE_SDR50 = 1 << 0,
       CAPABLE_SDR104 = 1 << 1,
       CAPABLE_DDR50 = 1 << 2,
       CAPABLE_RETUNE_SHIFT = 8,
       CAPABLE_TUNES_SDR50 = 1 << 13,
};

/* The raw registers: sdhci_mmio.c. Only sdhci_write calls sdhci_put. */
uint32_t sdhci_read(const struct sdhci *s, unsigned reg);
void sdhci_put(const struct sdhci *s, unsigned reg, uint32_t value);

/* Write a register, after the required gap since the last write. */
void sdhci_write(struct sdhci *s, unsigned reg, uint32_t value);

/* Wait until the required gap since the last write, which depends on gap_hz, is over. */
void sdhci_wait_gap(const struct sdhci *s);

/* Read words from SDHCI_DATA, or write them to it; this register needs no gap. */
void sdhci_read_port(const struct sdhci *s, uint32_t *to, uint32_t words);
void sdhci_write_port(const struct sdhci *s, const uint32_t *from, uint32_t words);

/* Set the bits of `mask` to those of `value`. */
void sdhci_change(struct sdhci *s, unsigned reg, uint32_t mask, uint32_t value);

/* Wait until the bits of `mask` read as `value`; false after `micros` microseconds. */
bool sdhci_wait(const struct sdhci *s, unsigned reg, uint32_t mask, uint32_t value,
                uint32_t micros);

/* Set one of the reset bits and wait for it to clear. */
enum err sdhci_soft_reset(struct sdhci *s, uint32_t which);

bool sdhci_is_present(struct sd_host *host);

/* For struct sd_host_ops: sdhci_data.c. */
enum err sdhci_start(struct sd_host *host, struct sd_command *command);
enum err sdhci_poll(struct sd_host *host);
void sdhci_stop(struct sd_host *host);

/* For struct sd_host_ops: sdhci_speed.c. */
enum err sdhci_set_bus(struct sd_host *host, uint32_t hz, unsigned bits, enum sd_timing timing);
enum err sdhci_set_1v8(struct sd_host *host);
enum err sdhci_tune(struct sd_host *host, unsigned index);

#endif
