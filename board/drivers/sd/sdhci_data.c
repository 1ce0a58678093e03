/* Runs commands. A command's data are moved by ADMA2, SDMA, another DMA engine or this core.
 * Sections are those of the SD Host Controller Simplified Specification 4.20. */
#include <string.h>

#include "board/drivers/sd/sdhci_registers.h"
#include "board/min_max.h"

enum {
    INHIBIT_MICROS = 10000,
    SEGMENT_BYTES = 65536,  /* length of a descriptor whose length field is 0 (1.13.3.1) */
    SDMA_BOUNDARY = 524288, /* 2.2.2: largest buffer, after which SDMA asks for the next address */
    SDMA_BOUNDARY_CODE = 7 << 12,
    PIO_BLOCKS = 32, /* most blocks that one call of poll moves */
};

enum { DESCRIPTOR_VALID = 1, DESCRIPTOR_END = 2, DESCRIPTOR_MOVE = 4 << 3 }; /* 1.13.3.1 */

static void put_word(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value); /* the cores are little-endian, as the table is */
}

static void fill_table(struct sdhci *s, const struct sd_command *c)
{
    uint64_t address = dma_address(&s->setup.window, c->data);
    uint32_t left = c->block_bytes * c->n_blocks;
    uint8_t *at = s->table;

    for (; left > 0; at += s->descriptor_bytes) {
        uint32_t bytes = min_u32(left, SEGMENT_BYTES);

        left -= bytes;
        memset(at, 0, s->descriptor_bytes);
        put_word(at, DESCRIPTOR_VALID | DESCRIPTOR_MOVE | bits_if(left == 0, DESCRIPTOR_END) |
                         bytes << 16);
        put_word(at + 4, (uint32_t)address);
        if (s->descriptor_bytes > 8)
            put_word(at + 8, (uint32_t)(address >> 32));
        address += bytes;
    }
    dma_sync(&s->setup.window, s->table, sizeof s->table);
}

static void start_adma(struct sdhci *s, const struct sd_command *c)
{
    uint64_t table = dma_address(&s->setup.window, s->table);

    fill_table(s, c);
    sdhci_change(s, SDHCI_CONTROL, CONTROL_DMA,
                 s->descriptor_bytes == 12 ? CONTROL_ADMA64 : CONTROL_ADMA32);
    sdhci_write(s, SDHCI_ADMA_ADDRESS, (uint32_t)table);
    if (s->descriptor_bytes > 8)
        sdhci_write(s, SDHCI_ADMA_ADDRESS + 4, (uint32_t)(table >> 32));
}

static void start_sdma(struct sdhci *s, const struct sd_command *c)
{
    uint64_t address = dma_address(&s->setup.window, c->data);

    s->next_address = (address | (SDMA_BOUNDARY - 1)) + 1;
    sdhci_change(s, SDHCI_CONTROL, CONTROL_DMA, 0);
    /* A new address means "continue" if blocks remain (2.2.1). Blocks do remain after a command
     * whose blocks were not counted, and QEMU 10 would move them, so clear the count first. */
    sdhci_write(s, SDHCI_BLOCK, 0);
    sdhci_write(s, SDHCI_DMA_ADDRESS, (uint32_t)address);
}

/* Choose the best way that reaches the buffer. DMA pays off for sectors; a core reads the few bytes
 * of a card's registers. */
static enum sdhci_path choose_path(const struct sdhci *s, const struct sd_command *c)
{
    uint32_t bytes = c->block_bytes * c->n_blocks;

    if (c->block_bytes % 512 != 0)
        return SDHCI_PIO;
    if (s->setup.mover != NULL && !c->write)
        return SDHCI_MOVER;
    if (!dma_reaches(&s->setup.window, c->data, bytes))
        return SDHCI_PIO;
    if (s->descriptor_bytes != 0 && (uintptr_t)c->data % (s->descriptor_bytes > 8 ? 8 : 4) == 0)
        return SDHCI_ADMA;
    if (s->has_sdma && s->descriptor_bytes != 16)
        return SDHCI_SDMA;
    return SDHCI_PIO;
}

/* Set the registers of the transfer (3.7.2.1, 3.7.2.3); returns the transfer mode. */
static uint32_t start_data(struct sdhci *s, const struct sd_command *c)
{
    uint32_t mode = bits_if(!c->write, TRANSFER_READ);

    s->path = choose_path(s, c);
    s->blocks_left = c->n_blocks;
    s->mover_runs = false;
    if (s->path == SDHCI_ADMA || s->path == SDHCI_SDMA) {
        dma_sync(&s->setup.window, c->data, (size_t)c->block_bytes * c->n_blocks);
        mode |= TRANSFER_DMA;
    }
    if (s->path == SDHCI_ADMA)
        start_adma(s, c);
    if (s->path == SDHCI_SDMA)
        start_sdma(s, c);
    /* The controller signals the mover even if this bit is off; Linux's bcm2835-mmc also turns it
     * off. */
    sdhci_write(s, SDHCI_STATUS_ENABLE,
                STATUS_WANTED & ~bits_if(s->path == SDHCI_MOVER, STATUS_READABLE));
    sdhci_write(s, SDHCI_BLOCK, c->n_blocks << 16 | SDMA_BOUNDARY_CODE | c->block_bytes);
    if (c->n_blocks > 1)
        mode |= TRANSFER_MULTI | TRANSFER_COUNTED;
    if (c->closing == SD_CLOSE_STOP)
        mode |= TRANSFER_AUTO_CMD12;
    return mode;
}

/* 2.2.6 */
static uint32_t command_bits(const struct sd_command *c)
{
    enum { CMD_STOP = 12 };
    static const uint32_t responses[] = {
        [SD_RESPONSE_NONE] = 0,
        [SD_RESPONSE_SHORT] = COMMAND_SHORT | COMMAND_CHECK_CRC | COMMAND_CHECK_INDEX,
        [SD_RESPONSE_SHORT_BUSY] = COMMAND_SHORT_BUSY | COMMAND_CHECK_CRC | COMMAND_CHECK_INDEX,
        [SD_RESPONSE_OCR] = COMMAND_SHORT,
        [SD_RESPONSE_LONG] = COMMAND_LONG | COMMAND_CHECK_CRC,
    };

    return (uint32_t)c->index << COMMAND_INDEX_SHIFT | responses[c->response] |
           bits_if(c->data != NULL, COMMAND_HAS_DATA) |
           bits_if(c->index == CMD_STOP, COMMAND_ABORT);
}

/* 3.7.1.1 */
enum err sdhci_start(struct sd_host *host, struct sd_command *c)
{
    struct sdhci *s = (struct sdhci *)host;
    uint32_t mode = 0, inhibit = PRESENT_COMMAND_INHIBIT;

    if (!sdhci_is_present(host)) {
        c->fault = SD_FAULT_REMOVED;
        return ERR_IO;
    }
    if (c->data != NULL || c->response == SD_RESPONSE_SHORT_BUSY)
        inhibit |= bits_if(c->index != 12, PRESENT_DATA_INHIBIT);
    if (!sdhci_wait(s, SDHCI_PRESENT, inhibit, 0, INHIBIT_MICROS)) {
        c->fault = SD_FAULT_COMMAND_TIMEOUT;
        return ERR_TIMEOUT;
    }
    s->command = c;
    s->waits_for = STATUS_COMMAND;
    sdhci_write(s, SDHCI_STATUS, 0xffffffff);
    if (c->data != NULL || c->response == SD_RESPONSE_SHORT_BUSY)
        s->waits_for |= STATUS_TRANSFER;
    if (c->data != NULL)
        mode = start_data(s, c);
    sdhci_write(s, SDHCI_ARGUMENT, c->argument);
    dma_barrier(); /* table and buffer must be in memory before the command runs */
    sdhci_write(s, SDHCI_TRANSFER, mode | command_bits(c));
    return ERR_OK;
}

/* Choose the error that matters (2.2.19). */
static enum err name_fault(struct sd_command *c, uint32_t status)
{
    /* STATUS_COMMAND_TIMEOUT together with a wrong CRC means a conflict on the line. */
    if (status & STATUS_COMMAND_WRONG)
        c->fault = SD_FAULT_COMMAND;
    else if (status & STATUS_COMMAND_TIMEOUT)
        c->fault = SD_FAULT_COMMAND_TIMEOUT;
    else if (status & STATUS_DATA_TIMEOUT)
        c->fault = SD_FAULT_DATA_TIMEOUT;
    else if (status & STATUS_DMA_WRONG)
        c->fault = SD_FAULT_DMA;
    else
        c->fault = SD_FAULT_DATA;
    return c->fault == SD_FAULT_COMMAND_TIMEOUT || c->fault == SD_FAULT_DATA_TIMEOUT ? ERR_TIMEOUT
                                                                                     : ERR_IO;
}

/* Store the response; a long one lacks its last byte (2.2.7). */
static void take_response(const struct sdhci *s, struct sd_command *c)
{
    uint32_t words[4];

    if (c->response != SD_RESPONSE_LONG) {
        c->reply[0] = sdhci_read(s, SDHCI_RESPONSE);
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        words[i] = sdhci_read(s, SDHCI_RESPONSE + 4 * i);
    for (unsigned i = 0; i < 4; i++)
        c->reply[i] = words[i] << 8 | (i > 0 ? words[i - 1] >> 24 : 0);
}

static void move_block(const struct sdhci *s, struct sd_command *c)
{
    uint8_t *at = c->data + (size_t)(c->n_blocks - s->blocks_left) * c->block_bytes;

    if (c->write)
        sdhci_write_port(s, (const uint32_t *)(const void *)at, c->block_bytes / 4);
    else
        sdhci_read_port(s, (uint32_t *)(void *)at, c->block_bytes / 4);
}

/* Move a block if it is in the buffer, or if the buffer waits for it (3.7.2.1). */
static void poll_pio(struct sdhci *s)
{
    uint32_t ready = s->command->write ? PRESENT_WRITABLE : PRESENT_READABLE;

    for (unsigned n = 0; n < PIO_BLOCKS && s->blocks_left > 0; n++) {
        if (!(sdhci_read(s, SDHCI_PRESENT) & ready))
            return;
        move_block(s, s->command);
        s->blocks_left--;
        s->host.moved++;
    }
}

/* The engine starts when the first block is there, so that it never finds an empty port. */
static void poll_mover(struct sdhci *s)
{
    const struct sdhci_mover *mover = s->setup.mover;
    struct sd_command *c = s->command;
    enum err e;

    if (!s->mover_runs) {
        if (!(sdhci_read(s, SDHCI_PRESENT) & PRESENT_READABLE))
            return;
        s->mover_runs = mover->start(mover->state, s->setup.mmio + SDHCI_DATA, c->data,
                                     c->block_bytes * c->n_blocks);
        if (!s->mover_runs)
            s->path = SDHCI_PIO;
        return;
    }
    e = mover->poll(mover->state);
    if (e == ERR_OK)
        s->blocks_left = 0;
    if (e != ERR_OK && e != ERR_BUSY)
        c->fault = SD_FAULT_DMA;
}

/* Writing the address continues the transfer after a boundary (2.2.1). */
static void poll_sdma(struct sdhci *s, uint32_t status)
{
    if (!(status & STATUS_DMA) || (status & STATUS_TRANSFER))
        return;
    sdhci_write(s, SDHCI_STATUS, STATUS_DMA);
    sdhci_write(s, SDHCI_DMA_ADDRESS, (uint32_t)s->next_address);
    s->next_address += SDMA_BOUNDARY;
}

static void poll_data(struct sdhci *s, uint32_t status)
{
    if (s->command->data == NULL)
        return;
    if (s->path == SDHCI_PIO)
        poll_pio(s);
    else if (s->path == SDHCI_MOVER)
        poll_mover(s);
    else if (s->path == SDHCI_SDMA)
        poll_sdma(s, status);
}

/* True if DAT0 is high again and the line is idle (2.2.9). */
static bool is_free(const struct sdhci *s)
{
    uint32_t present = sdhci_read(s, SDHCI_PRESENT);

    return (present & PRESENT_DATA_0) && !(present & PRESENT_DATA_INHIBIT);
}

static enum err finish(struct sdhci *s)
{
    struct sd_command *c = s->command;

    s->command = NULL;
    if (c->data != NULL && (s->path == SDHCI_ADMA || s->path == SDHCI_SDMA))
        dma_sync(&s->setup.window, c->data, (size_t)c->block_bytes * c->n_blocks);
    return ERR_OK;
}

enum err sdhci_poll(struct sd_host *host)
{
    struct sdhci *s = (struct sdhci *)host;
    struct sd_command *c = s->command;
    uint32_t status = sdhci_read(s, SDHCI_STATUS), errors = status & STATUS_ERRORS;

    if (status & STATUS_TRANSFER)
        errors &= ~(uint32_t)STATUS_DATA_TIMEOUT; /* 2.2.18: a complete transfer has priority */
    if (status & STATUS_RETUNE)
        host->wants_tuning = true;
    if (errors != 0)
        return name_fault(c, errors);
    if (status & s->waits_for & STATUS_COMMAND)
        take_response(s, c);
    s->waits_for &= ~status;
    if (!(s->waits_for & STATUS_COMMAND)) { /* before its response, a card is not busy yet */
        if (c->data == NULL && (s->setup.quirks & SDHCI_NO_BUSY_EVENT) && is_free(s))
            s->waits_for &= ~(uint32_t)STATUS_TRANSFER;
        poll_data(s, status);
    }
    if (c->fault != SD_FAULT_NONE)
        return ERR_IO;
    if (s->waits_for != 0)
        return ERR_BUSY;
    if (c->data != NULL && (s->path == SDHCI_PIO || s->path == SDHCI_MOVER) && s->blocks_left > 0)
        return ERR_BUSY;
    return finish(s);
}

/* Reset both lines, so that nothing of the command remains (3.10.1). */
void sdhci_stop(struct sd_host *host)
{
    struct sdhci *s = (struct sdhci *)host;

    if (s->command != NULL && s->path == SDHCI_MOVER && s->mover_runs)
        s->setup.mover->stop(s->setup.mover->state);
    (void)sdhci_soft_reset(s, CLOCK_RESET_COMMAND);
    (void)sdhci_soft_reset(s, CLOCK_RESET_DATA);
    sdhci_write(s, SDHCI_STATUS, 0xffffffff);
    s->command = NULL;
    s->mover_runs = false;
}
