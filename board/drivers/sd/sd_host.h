/* An SD controller as the card's protocol uses it: one command at a time, whose data move while the
 * caller does something else. sdhci, dw_mmc and SD over SPI fill a struct sd_host.
 *
 * In every SD driver, "Physical Layer" means the SD Physical Layer Simplified Specification 6.00,
 * and "host" the SD Host Controller Simplified Specification 4.20. */
#ifndef INGOT_BOARD_DRIVERS_SD_SD_HOST_H
#define INGOT_BOARD_DRIVERS_SD_SD_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"

struct sd_card;

enum sd_response { /* Physical Layer 4.9 */
                   SD_RESPONSE_NONE,
                   SD_RESPONSE_SHORT,      /* R1, R6, R7: 48 bits with CRC and index */
                   SD_RESPONSE_SHORT_BUSY, /* R1b: ends when the card releases DAT0 */
                   SD_RESPONSE_OCR,        /* R3, R4: 48 bits, whose CRC and index are not
                                              checked */
                   SD_RESPONSE_LONG,       /* R2: CID or CSD */
};

enum sd_closing {                  /* how a transfer of several blocks ends */
                  SD_CLOSE_ITSELF, /* one block, or CMD23 has told the card how many blocks */
                  SD_CLOSE_STOP,   /* the controller sends CMD12 after the last block */
};

/* The fault on the wires, which decides what is done before a retry. */
enum sd_fault {
    SD_FAULT_NONE,
    SD_FAULT_COMMAND_TIMEOUT, /* no response: there is no card, or it does not know the command */
    SD_FAULT_COMMAND,         /* wrong CRC, index or end bit of a response */
    SD_FAULT_DATA_TIMEOUT,
    SD_FAULT_DATA, /* wrong CRC or end bit of a block */
    SD_FAULT_DMA,  /* the controller could not write memory */
    SD_FAULT_REMOVED,
};

/* A command and its data. The caller owns both; they must not move until the command ends. */
struct sd_command {
    uint32_t argument;
    uint8_t index;
    enum sd_response response;
    enum sd_closing closing; /* with data */
    bool write;              /* true: the data go to the card */
    uint8_t *data;           /* buffer to read into or to write from, aligned to 4 bytes; NULL: no
                                data */
    uint32_t block_bytes;    /* 8, 64, 512 */
    uint32_t n_blocks;
    uint32_t reply[4];   /* the response. Short: [0]. Long: bit n of the register is bit n % 32 of
                                 [n / 32]; bits 0 to 7 (CRC and end bit) are 0 */
    enum sd_fault fault; /* set if the command failed */
};

enum sd_timing {                    /* Physical Layer 3.9; eMMC: JESD84-B51 5.3 */
                 SD_TIMING_DEFAULT, /* up to 25 MHz (eMMC 26), 3.3 V */
                 SD_TIMING_HIGH,    /* high speed: up to 50 MHz (eMMC 52), 3.3 V */
                 SD_TIMING_SDR50,   /* up to 100 MHz, 1.8 V */
                 SD_TIMING_SDR104,  /* up to 208 MHz, 1.8 V; eMMC: HS200 */
                 SD_TIMING_DDR50,   /* 50 MHz on both edges; eMMC: DDR52 */
};

enum sd_ability {
    SD_CAN_4_BITS = 1 << 0,
    SD_CAN_8_BITS = 1 << 1,
    SD_CAN_HIGH_SPEED = 1 << 2,
    SD_CAN_1V8 = 1 << 3, /* set_1v8 switches to 1.8 V, which the next three need */
    SD_CAN_SDR50 = 1 << 4,
    SD_CAN_SDR104 = 1 << 5,
    SD_CAN_DDR50 = 1 << 6,
    SD_TUNES_SDR50 = 1 << 7, /* SDR50 needs tuning, too */
    SD_STOPS = 1 << 8,       /* the controller supports SD_CLOSE_STOP */
    SD_IS_SPI = 1 << 9,      /* commands and data follow the rules of SPI mode */
    SD_CAN_WRITE = 1 << 10,  /* commands with `write` are allowed, and the card's slide is not at
                                "lock" */
};

struct sd_host;

struct sd_host_ops {
    /* Start a command, after the last one has ended or was stopped. ERR_IO, ERR_TIMEOUT: the
     * command did not start, and command->fault says why. */
    enum err (*start)(struct sd_host *host, struct sd_command *command);

    /* Continue the current command; never blocks. ERR_BUSY: it continues; ERR_OK: it has ended,
     * reply and data are valid; ERR_IO, ERR_TIMEOUT: command->fault says why it failed, call stop
     * next. If a core moves the data, each call moves some blocks and counts them in
     * host->moved. */
    enum err (*poll)(struct sd_host *host);

    /* Stop the current command: afterwards nothing is written to its data, and another command may
     * start. Takes milliseconds at most. */
    void (*stop)(struct sd_host *host);

    /* Power the card off and on if possible, and start again with 400 kHz, one bit, 3.3 V. Blocks
     * for up to 100 ms. ERR_TIMEOUT: the controller does not answer. */
    enum err (*reset)(struct sd_host *host);

    /* Set the clock (at most hz), the width (1, 4, 8) and the timing. Blocks for microseconds. */
    enum err (*set_bus)(struct sd_host *host, uint32_t hz, unsigned bits, enum sd_timing timing);

    /* Change the host to 1.8 V, after the card has accepted CMD11 (Physical Layer 4.2.4.2). NULL if
     * SD_CAN_1V8 is not set. */
    enum err (*set_1v8)(struct sd_host *host);

    /* Find the sampling point with tuning blocks by command `index` (19; eMMC: 21). NULL if there
     * is nothing to tune. */
    enum err (*tune)(struct sd_host *host, unsigned index);

    /* False if there is certainly no card in the slot. NULL if the slot cannot tell. */
    bool (*is_present)(struct sd_host *host);

    /* Bring the card from reset to the transfer state: sd_bus_identify, or the function for SPI.
     * Fills card->facts and, if the card cannot be used, card->why. */
    enum err (*identify)(struct sd_host *host, struct sd_card *card);
};

struct sd_host {
    const struct sd_host_ops *ops;
    uint64_t (*ticks)(void); /* the board's */
    uint64_t ticks_hz;
    uint32_t abilities;       /* enum sd_ability */
    uint32_t max_hz;          /* of the card's clock */
    uint32_t capabilities[2]; /* capability registers, for reports; 0: none */
    uint32_t max_blocks;      /* largest number of blocks in one command, at least 128 */
    uint64_t dma_end;         /* as in struct block_device */
    uint32_t moved;           /* grows with the data that a core has moved */
    uint64_t retune_ticks;    /* ticks after which the bus is tuned again; 0: only after errors */
    uint32_t clock_hz;        /* current clock of the card, from set_bus; 0: not reported */
    /* sd_emmc_identify, tried if no SD card answers; NULL if the card cannot be an eMMC */
    enum err (*identify_emmc)(struct sd_host *host, struct sd_card *card);
    bool wants_tuning; /* the controller asks for tuning; tune clears it */
};

/* Wait `micros` microseconds, as protocols require. */
void sd_host_delay(const struct sd_host *host, uint32_t micros);

/* Convert microseconds to ticks, rounded up. */
uint64_t sd_host_ticks(const struct sd_host *host, uint64_t micros);

/* Start a command and poll until it ends, at most a second; stop it if it fails. */
enum err sd_host_run(struct sd_host *host, struct sd_command *command);

#endif
