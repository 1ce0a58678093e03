#include "board/drivers/sd/dw_mmc.h"

#include <string.h>

#include "board/drivers/sd/sd_card.h"
#include "board/min_max.h"

/* Registers and bits have the names of the databook. */
enum {
    CTRL = 0x00,
    PWREN = 0x04,
    CLKDIV = 0x08,
    CLKSRC = 0x0c,
    CLKENA = 0x10,
    TMOUT = 0x14,
    CTYPE = 0x18,
    BLKSIZ = 0x1c,
    BYTCNT = 0x20,
    INTMASK = 0x24,
    CMDARG = 0x28,
    CMD = 0x2c,
    RESP0 = 0x30,
    RINTSTS = 0x44,
    STATUS = 0x48,
    FIFOTH = 0x4c,
    VERID = 0x6c,
    HCON = 0x70,
    UHS_REG = 0x74,
    BMOD = 0x80,
    PLDMND = 0x84,
    DBADDR = 0x88,
    IDSTS = 0x8c,
    IDINTEN = 0x90,
    DBADDR_UPPER = 0x8c, /* exists only with 64-bit addresses, and shifts the registers after it */
    IDSTS_64 = 0x90,
    IDINTEN_64 = 0x94,
    DATA = 0x200,
};

enum {
    CTRL_RESETS = 7, /* controller, FIFO, DMA: these bits clear themselves */
    CTRL_FIFO_RESET = 1 << 1,
    CTRL_DMA_RESET = 1 << 2,
    CTRL_DMA = 1 << 5,
    CTRL_INTERNAL_DMA = 1 << 25,
    STATUS_BUSY = 1 << 9, /* the card holds DAT0 low */
    STATUS_COUNT_SHIFT = 17,
    STATUS_COUNT_MASK = 0x1fff, /* words in the FIFO */
    HCON_DMA = 3 << 16,         /* 0: internal DMA controller; 3: none; other values: an external
                                   one */
    HCON_64_BITS = 1 << 27,     /* addresses have 64 bits */
    BMOD_RESET = 1 << 0,
    BMOD_FIXED_BURST = 1 << 1,
    BMOD_ENABLE = 1 << 7,
    IDSTS_RECEIVED = 1 << 1,
    IDSTS_BUS_ERROR = 1 << 2,
    IDSTS_ALL = 0x337,
    IDINTEN_WANTED =
        1 << 8 | 1 << 1 |
        1 << 0, /* NI, RI, TI, as in Linux: bits that are not enabled may not appear in IDSTS */
    CTYPE_4_BITS = 1,
    UHS_DDR = 1 << 16, /* data at both edges */
    CLOCK_ON = 1,
};

#define CMD_START (1u << 31)
#define CMD_HOLD (1u << 29) /* below 100 MHz, outputs must go through the hold register */
#define CMD_CLOCK_ONLY (1u << 21)
#define CMD_WAKE (1u << 15)
#define CMD_STOP (1u << 14)
#define CMD_WAIT_DATA (1u << 13)
#define CMD_AUTO_STOP (1u << 12)
#define CMD_DATA (1u << 9)
#define CMD_CHECK_CRC (1u << 8)
#define CMD_LONG (1u << 7)
#define CMD_RESPONSE (1u << 6)

enum { /* RINTSTS */
       INT_RESPONSE = 1 << 1,
       INT_COMMAND_DONE = 1 << 2,
       INT_DATA_OVER = 1 << 3,
       INT_RESPONSE_CRC = 1 << 6,
       INT_DATA_CRC = 1 << 7,
       INT_RESPONSE_TIMEOUT = 1 << 8,
       INT_DATA_TIMEOUT = 1 << 9,
       INT_STARVED = 1 << 10,
       INT_FIFO = 1 << 11,
       INT_LOCKED = 1 << 12,
       INT_START_BIT = 1 << 13,
       INT_AUTO_STOP_DONE = 1 << 14,
       INT_END_BIT = 1 << 15,
       INT_ALL = 0xffff,
};

/* Descriptors of the internal DMA controller: DES0. */
#define DES_OWN (1u << 31)
#define DES_CHAIN (1u << 4)
#define DES_FIRST (1u << 3)
#define DES_LAST (1u << 2)
#define DES_QUIET (1u << 1)

enum {
    START_HZ = 400000,
    RESET_MICROS = 100000,
    STOP_INDEX = 12,
    MAX_DIVIDER = 255,
    VERID_LEAST = 0x240a, /* earlier versions have DATA at another offset */
};
#define DMA_END ((uint64_t)1 << 32)

static volatile uint32_t *reg(const struct dw_mmc *d, unsigned offset)
{
    return (volatile uint32_t *)(d->setup.mmio + offset);
}

static struct dw_mmc *dw_mmc_of(struct sd_host *host)
{
    return (struct dw_mmc *)host;
}

static enum err wait_clear(const struct dw_mmc *d, unsigned offset, uint32_t mask)
{
    uint64_t start = d->setup.ticks(), limit = sd_host_ticks(&d->host, RESET_MICROS);

    while ((*reg(d, offset) & mask) != 0)
        if (d->setup.ticks() - start > limit)
            return ERR_TIMEOUT;
    return ERR_OK;
}

/* ---- clock, width, reset --------------------------------------------------------------------- */

/* Run a command that sends nothing, but loads the copies of CLKENA, CLKSRC and CLKDIV on the
 * card's side of the controller. */
static enum err update_clock(const struct dw_mmc *d, uint32_t wait)
{
    *reg(d, CMD) = CMD_START | CMD_CLOCK_ONLY | wait;
    return wait_clear(d, CMD, CMD_START);
}

/* CLKDIV n divides by 2n (0: by 1); it may change only while the clock is stopped. */
static enum err set_clock(const struct dw_mmc *d, uint32_t hz)
{
    uint32_t divider = d->setup.clock_hz <= hz ? 0 : (d->setup.clock_hz + 2 * hz - 1) / (2 * hz);
    enum err e;

    /* Stop the clock, change the divider, start the clock; after each step the copies are
     * loaded. */
    *reg(d, CLKENA) = 0;
    e = update_clock(d, CMD_WAIT_DATA);
    *reg(d, CLKSRC) = 0;
    *reg(d, CLKDIV) = divider < MAX_DIVIDER ? divider : MAX_DIVIDER;
    if (e != ERR_OK)
        return e;
    e = update_clock(d, CMD_WAIT_DATA);
    *reg(d, CLKENA) = CLOCK_ON;
    return e == ERR_OK ? update_clock(d, CMD_WAIT_DATA) : e;
}

static enum err dw_mmc_set_bus(struct sd_host *host, uint32_t hz, unsigned bits,
                               enum sd_timing timing)
{
    struct dw_mmc *d = dw_mmc_of(host);

    (void)timing;
    *reg(d, CTYPE) = bits == 4 ? CTYPE_4_BITS : 0;
    return set_clock(d, hz);
}

/* A DMA burst has 16 words; the receive mark is one less. */
static uint32_t fifo_marks(const struct dw_mmc *d)
{
    enum { BURST_16 = 3 << 28, RECEIVE_15 = 15 << 16 };

    return (uint32_t)BURST_16 | RECEIVE_15 | d->setup.fifo_words / 2;
}

static enum err dw_mmc_reset(struct sd_host *host)
{
    struct dw_mmc *d = dw_mmc_of(host);
    enum err e;

    d->command = NULL;
    *reg(d, CTRL) = CTRL_RESETS;
    e = wait_clear(d, CTRL, CTRL_RESETS);
    if (e != ERR_OK)
        return e;
    /* Power on, without an interrupt line: this driver polls RINTSTS. */
    *reg(d, PWREN) = 1;
    *reg(d, INTMASK) = 0;
    *reg(d, d->has_64_bits ? IDINTEN_64 : IDINTEN) = IDINTEN_WANTED;
    *reg(d, RINTSTS) = INT_ALL;
    /* Set the longest time-outs, because sd_card.c has its own time-out for a silent card. */
    *reg(d, TMOUT) = 0xffffffff;
    *reg(d, FIFOTH) = fifo_marks(d);
    *reg(d, CTYPE) = 0;
    *reg(d, UHS_REG) &= ~(uint32_t)UHS_DDR; /* firmware may set this for an eMMC */
    /* The first command is preceded by 80 clocks, which a card needs after power-on. */
    d->wakes = true;
    return set_clock(d, START_HZ);
}

/* ---- data ------------------------------------------------------------------------------------ */

static unsigned dma_status(const struct dw_mmc *d)
{
    return d->has_64_bits ? IDSTS_64 : IDSTS;
}

/* Descriptor i points to the next one; the last ignores that address. */
static void put_descriptor(struct dw_mmc *d, unsigned i, uint32_t control, uint32_t bytes,
                           uint64_t buffer)
{
    uint64_t table = dma_address(&d->setup.window, &d->table);
    uint64_t next = table + (i + 1) * sizeof d->table.wide[0];

    if (!d->has_64_bits) {
        d->table.narrow[i] = (struct dw_mmc_descriptor){
            .control = control,
            .bytes = bytes,
            .buffer = (uint32_t)buffer,
            .next = (uint32_t)(table + (i + 1) * sizeof d->table.narrow[0]),
        };
        return;
    }
    d->table.wide[i] = (struct dw_mmc_descriptor_64){
        .control = control,
        .bytes = bytes,
        .buffer = { (uint32_t)buffer, (uint32_t)(buffer >> 32) },
        .next = { (uint32_t)next, (uint32_t)(next >> 32) },
    };
}

static void fill_table(struct dw_mmc *d, const struct sd_command *c)
{
    uint32_t left = c->block_bytes * c->n_blocks;
    uint64_t address = dma_address(&d->setup.window, c->data);

    /* Each piece of the buffer has a descriptor; only the last descriptor sets its status bit. */
    for (unsigned i = 0; left > 0; i++) {
        uint32_t bytes = min_u32(left, DW_MMC_BUFFER_BYTES);

        left -= bytes;
        put_descriptor(d, i,
                       DES_OWN | DES_CHAIN | bits_if(i == 0, DES_FIRST) |
                           (left == 0 ? DES_LAST : DES_QUIET),
                       bytes, address);
        address += bytes;
    }
}

/* True if the controller's addresses are long enough for this buffer. */
static bool dma_addresses(const struct dw_mmc *d, const void *at, size_t bytes)
{
    return d->has_64_bits || dma_address(&d->setup.window, at) + bytes <= DMA_END;
}

static bool dma_can(const struct dw_mmc *d, const struct sd_command *c)
{
    size_t bytes = (size_t)c->block_bytes * c->n_blocks;

    return d->has_dma && dma_reaches(&d->setup.window, c->data, bytes) &&
           dma_reaches(&d->setup.window, &d->table, sizeof d->table) &&
           dma_addresses(d, c->data, bytes) && dma_addresses(d, &d->table, sizeof d->table);
}

static enum err start_dma(struct dw_mmc *d, const struct sd_command *c)
{
    uint64_t table = dma_address(&d->setup.window, &d->table);
    enum err e;

    fill_table(d, c);
    /* The controller reads table and data from memory, not from the caches. */
    dma_sync(&d->setup.window, &d->table, sizeof d->table);
    dma_sync(&d->setup.window, c->data, (size_t)c->block_bytes * c->n_blocks);
    /* The engine starts at DBADDR only after its own reset. */
    *reg(d, BMOD) = BMOD_RESET;
    e = wait_clear(d, BMOD, BMOD_RESET);
    *reg(d, dma_status(d)) = IDSTS_ALL; /* clear old bits by writing ones */
    *reg(d, DBADDR) = (uint32_t)table;
    if (d->has_64_bits)
        *reg(d, DBADDR_UPPER) = (uint32_t)(table >> 32);
    *reg(d, CTRL) = CTRL_DMA | CTRL_INTERNAL_DMA;
    /* Do this last: from now on the engine may fetch. Tell the engine to look for descriptors, as
     * Linux does (dw_mci_idmac_start_dma), because it is suspended if it has looked before. */
    *reg(d, BMOD) = BMOD_FIXED_BURST | BMOD_ENABLE;
    *reg(d, PLDMND) = 1;
    return e;
}

static enum err prepare_data(struct dw_mmc *d, struct sd_command *c)
{
    enum err e;

    *reg(d, CTRL) = CTRL_FIFO_RESET | CTRL_DMA_RESET;
    e = wait_clear(d, CTRL, CTRL_FIFO_RESET | CTRL_DMA_RESET);
    if (e != ERR_OK)
        return e;
    /* The FIFO is empty. Program how many data arrive, and whether DMA or a core moves them. */
    *reg(d, BLKSIZ) = c->block_bytes;
    *reg(d, BYTCNT) = c->block_bytes * c->n_blocks;
    d->dma = dma_can(d, c);
    d->words_left = d->dma ? 0 : c->block_bytes * c->n_blocks / 4;
    if (d->dma)
        return start_dma(d, c);
    *reg(d, BMOD) = 0;
    return ERR_OK;
}

/* This core empties the FIFO if DMA cannot reach the buffer. */
static void take_words(struct dw_mmc *d)
{
    const struct sd_command *c = d->command;
    uint32_t total = c->block_bytes * c->n_blocks / 4;
    uint32_t n = *reg(d, STATUS) >> STATUS_COUNT_SHIFT & STATUS_COUNT_MASK;

    for (; n > 0 && d->words_left > 0; n--, d->words_left--) {
        uint32_t word = *reg(d, DATA);

        memcpy(c->data + 4 * (size_t)(total - d->words_left), &word, sizeof word);
        d->host.moved++;
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static uint32_t command_bits(const struct dw_mmc *d, const struct sd_command *c)
{
    uint32_t bits = CMD_START | CMD_HOLD | c->index;

    if (c->response != SD_RESPONSE_NONE)
        bits |= CMD_RESPONSE;
    if (c->response == SD_RESPONSE_LONG)
        bits |= CMD_LONG;
    if (c->response != SD_RESPONSE_NONE && c->response != SD_RESPONSE_OCR)
        bits |= CMD_CHECK_CRC;
    if (c->data != NULL)
        bits |= CMD_DATA | bits_if(c->closing == SD_CLOSE_STOP, CMD_AUTO_STOP);
    /* CMD12 is sent while data still move; all other commands wait for the end of the data. */
    bits |= c->index == STOP_INDEX ? CMD_STOP : CMD_WAIT_DATA;
    return bits | bits_if(d->wakes, CMD_WAKE);
}

static enum err dw_mmc_start(struct sd_host *host, struct sd_command *command)
{
    struct dw_mmc *d = dw_mmc_of(host);
    enum err e = ERR_OK;

    command->fault = SD_FAULT_COMMAND_TIMEOUT;
    d->words_left = 0;
    d->dma = false;
    *reg(d, RINTSTS) = INT_ALL;
    if (command->data != NULL)
        e = prepare_data(d, command);
    if (e != ERR_OK)
        return e;
    d->command = command;
    d->waits_for = INT_COMMAND_DONE | bits_if(command->data != NULL, INT_DATA_OVER) |
                   (command->data != NULL && command->closing == SD_CLOSE_STOP ? INT_AUTO_STOP_DONE
                                                                               : 0);
    *reg(d, CMDARG) = command->argument;
    dma_barrier();
    *reg(d, CMD) = command_bits(d, command);
    d->wakes = false;
    return wait_clear(d, CMD, CMD_START);
}

static enum sd_fault fault_of(uint32_t status)
{
    if (status & INT_RESPONSE_TIMEOUT)
        return SD_FAULT_COMMAND_TIMEOUT;
    if (status & (INT_RESPONSE | INT_RESPONSE_CRC | INT_LOCKED))
        return SD_FAULT_COMMAND;
    if (status & (INT_DATA_TIMEOUT | INT_STARVED))
        return SD_FAULT_DATA_TIMEOUT;
    if (status & (INT_DATA_CRC | INT_START_BIT | INT_END_BIT))
        return SD_FAULT_DATA;
    return status & INT_FIFO ? SD_FAULT_DMA : SD_FAULT_NONE;
}

static void take_response(const struct dw_mmc *d, struct sd_command *c)
{
    for (unsigned i = 0; i < 4; i++)
        c->reply[i] = *reg(d, RESP0 + 4 * i);
    if (c->response == SD_RESPONSE_LONG)
        c->reply[0] &= ~(uint32_t)0xff;
}

/* The data are in memory when the DMA controller reports it, not when the card has sent them. */
static bool data_is_there(struct dw_mmc *d)
{
    const struct sd_command *c = d->command;

    if (d->dma && (*reg(d, dma_status(d)) & IDSTS_RECEIVED) == 0)
        return false;
    if (d->words_left > 0)
        return false;
    if (d->dma)
        dma_sync(&d->setup.window, c->data, (size_t)c->block_bytes * c->n_blocks);
    return true;
}

static enum err dw_mmc_poll(struct sd_host *host)
{
    struct dw_mmc *d = dw_mmc_of(host);
    struct sd_command *c = d->command;
    uint32_t status = *reg(d, RINTSTS);

    c->fault = fault_of(status);
    if (d->dma && (*reg(d, dma_status(d)) & IDSTS_BUS_ERROR) != 0)
        c->fault = SD_FAULT_DMA;
    if (c->fault != SD_FAULT_NONE)
        return c->fault == SD_FAULT_COMMAND_TIMEOUT || c->fault == SD_FAULT_DATA_TIMEOUT
                   ? ERR_TIMEOUT
                   : ERR_IO;
    if (d->words_left > 0)
        take_words(d);
    if ((status & d->waits_for) != d->waits_for || (c->data != NULL && !data_is_there(d)))
        return ERR_BUSY;
    if (c->response == SD_RESPONSE_SHORT_BUSY && (*reg(d, STATUS) & STATUS_BUSY) != 0)
        return ERR_BUSY;
    take_response(d, c);
    d->command = NULL;
    return ERR_OK;
}

static void dw_mmc_stop(struct sd_host *host)
{
    struct dw_mmc *d = dw_mmc_of(host);

    d->command = NULL;
    *reg(d, BMOD) = BMOD_RESET;
    *reg(d, CTRL) = CTRL_RESETS; /* reset FIFO and DMA first, so that nothing reaches memory any
                                    more */
    (void)wait_clear(d, CTRL, CTRL_RESETS);
    *reg(d, RINTSTS) = INT_ALL;
    /* The reset stops the card's clock, so load CLKENA and CLKDIV, which keep their values, again.
     * Do not wait for the card, which may hold its data lines. */
    (void)update_clock(d, 0);
}

/* The end of the addresses that DMA reaches: data beyond it needs the bounce buffer. 0 without DMA,
 * because a core reaches all memory. */
static uint64_t dma_end(const struct dw_mmc *d)
{
    const struct dma_window *window = &d->setup.window;

    if (!d->has_dma)
        return 0;
    if (d->has_64_bits)
        return window->end;
    return min_u64(window->end, DMA_END - window->offset);
}

enum err dw_mmc_open(struct dw_mmc *d, const struct dw_mmc_setup *setup)
{
    static const struct sd_host_ops ops = {
        .start = dw_mmc_start,
        .poll = dw_mmc_poll,
        .stop = dw_mmc_stop,
        .reset = dw_mmc_reset,
        .set_bus = dw_mmc_set_bus,
        .identify = sd_bus_identify,
    };
    uint32_t version;

    memset(d, 0, sizeof *d);
    d->setup = *setup;
    d->host.ops = &ops;
    d->host.ticks = setup->ticks;
    d->host.ticks_hz = setup->ticks_hz;
    d->host.abilities = SD_CAN_4_BITS | SD_CAN_HIGH_SPEED | SD_STOPS;
    d->host.max_hz = setup->clock_hz;
    d->host.max_blocks = DW_MMC_MAX_BLOCKS;
    version = *reg(d, VERID) & 0xffff;
    if (version < VERID_LEAST || version == 0xffff)
        return ERR_NO_DEVICE;
    d->has_dma = (*reg(d, HCON) & HCON_DMA) == 0;
    d->has_64_bits = (*reg(d, HCON) & HCON_64_BITS) != 0;
    d->host.dma_end = dma_end(d);
    return dw_mmc_reset(&d->host);
}
