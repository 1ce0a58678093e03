/* Synopsys' SD controller with a card behind it, behind fake_mmio.h's registers, so the driver's own
 * accesses reach it. It does what emulators lack: the part that talks to the card copies the clock's
 * registers and loses them in a reset; data is in memory only after DATA_OVER; a data error holds the
 * data lines until a reset; and a block without its clock must not be touched. */
#ifndef INGOT_TESTS_UNIT_FAKE_DW_MMC_H
#define INGOT_TESTS_UNIT_FAKE_DW_MMC_H

#include "board/drivers/sd/dw_mmc.h"
#include "board/drivers/sd/sd_card.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/fake_mmio.h"
#include "tests/unit/board/fakes/fake_sd.h"
#include "tests/unit/tap.h"

enum { /* registers and bits that the driver does not name */
       DW_CTRL = 0x00,
       DW_CLKDIV = 0x08,
       DW_CLKENA = 0x10,
       DW_CTYPE = 0x18,
       DW_BLKSIZ = 0x1c,
       DW_BYTCNT = 0x20,
       DW_CMDARG = 0x28,
       DW_CMD = 0x2c,
       DW_RESP0 = 0x30,
       DW_RINTSTS = 0x44,
       DW_STATUS = 0x48,
       DW_VERID = 0x6c,
       DW_HCON = 0x70,
       DW_UHS = 0x74,
       DW_BMOD = 0x80,
       DW_PLDMND = 0x84,
       DW_DBADDR = 0x88,
       DW_IDSTS = 0x8c,    /* where addresses have 32 bits */
       DW_IDSTS_64 = 0x90, /* for those with 64 bits; 0x8c is the upper half of DBADDR there */
       DW_DATA = 0x200,
       DW_FIFO_WORDS = 32,
       DW_CTRL_DMA = 1 << 25,
       DW_RESPONSE_ERROR = 1 << 1,
       DW_DONE = 1 << 2,
       DW_DATA_OVER = 1 << 3,
       DW_RESPONSE_CRC = 1 << 6,
       DW_DATA_CRC = 1 << 7,
       DW_RESPONSE_TIMEOUT = 1 << 8,
       DW_DATA_TIMEOUT = 1 << 9,
       DW_LOCKED = 1 << 12,
       DW_AUTO_STOPPED = 1 << 14,
       DW_HCON_64 = 1 << 27,
       DW_HCON_NO_DMA = 3 << 16,
       DW_POLLS = 3, /* polls that a reset takes, or the DMA after DATA_OVER */
};
#define DW_START (1u << 31)
#define DW_CLOCK_ONLY (1u << 21)
#define DW_WAKE (1u << 15)
#define DW_WAIT_DATA (1u << 13)
#define DW_AUTO_STOP (1u << 12)
#define DW_HAS_DATA (1u << 9)
#define DW_LONG (1u << 7)
#define DW_ANSWERED (1u << 6)

enum { WORLD_BYTES = 2 << 20, BUFFER_AT = 512 << 10 };

static _Alignas(1 << 20) uint8_t world[WORLD_BYTES]; /* all that DMA reaches */
static uint8_t memory[WORLD_BYTES], fetched[WORLD_BYTES];
static struct world_driver {
    struct dw_mmc host;
    struct sd_card card;
    struct block_device device;
} * d; /* they are in the world, because the descriptors are */
static struct fake_sd fake;

static struct fake_dw {
    uint32_t regs[0x100 / 4];
    uint64_t world_at; /* on the bus */
    uint32_t clock_hz; /* of the block */
    bool gated;        /* the block's clock is off */
    unsigned n_gated;  /* accesses all the same */
    /* state of the part at the card */
    bool runs;        /* its clock */
    uint32_t card_hz; /* the clock by its own copy of the divider */
    bool woken;       /* the card has had 80 clocks */
    bool held;        /* after a data error */
    bool card_holds;  /* DAT0, whatever the controller does */
    /* data */
    uint8_t block[1024 * 512];
    uint32_t bytes, at;
    uint32_t over; /* bits that are set when the last word has left the card */
    unsigned dma_in;
    /* faults to order */
    uint32_t inject; /* RINTSTS for the next command */
    uint32_t sticky; /* bits of CTRL that never clear */
    unsigned clears_in;
    bool suspends; /* its DMA looks at descriptors only when it is told to, by PLDMND */
    bool told;
    unsigned n_dma, n_pio, n_commands;
    uint64_t now;
} f;

static inline uint64_t fake_ticks(void)
{
    return f.now += 5;
}

static inline uint32_t dw_reg(unsigned r)
{
    return f.regs[r / 4];
}

static inline bool dw_is_wide(void)
{
    return (dw_reg(DW_HCON) & DW_HCON_64) != 0;
}

static inline unsigned dw_idsts(void)
{
    return dw_is_wide() ? DW_IDSTS_64 : DW_IDSTS;
}

/* ---- memory ---- */

static inline void hide_world(void)
{
    dma_log_watch(world, memory, fetched, WORLD_BYTES);
}

/* The memory that the controller sees at a bus address; NULL: none. */
static inline uint8_t *dw_memory(uint64_t bus, uint32_t bytes)
{
    uint8_t *seen = dma_log.cores == world ? memory : world;

    if (bus < f.world_at || bus - f.world_at > WORLD_BYTES - bytes)
        return NULL;
    return seen + (bus - f.world_at);
}

static inline bool dw_store(uint64_t bus, const uint8_t *from, uint32_t bytes)
{
    uint8_t *to = dw_memory(bus, bytes);

    if (to == NULL)
        return false;
    memcpy(to, from, bytes);
    if (dma_log.cores == world)
        dma_log_evict(bus - f.world_at, bytes);
    return true;
}

struct dw_link {
    uint32_t control, bytes;
    uint64_t buffer, next;
};

static inline bool dw_fetch(uint64_t bus, struct dw_link *link)
{
    uint32_t w[8];
    uint32_t bytes = dw_is_wide() ? 32 : 16;
    const uint8_t *at = dw_memory(bus, bytes);

    if (at == NULL)
        return false;
    memcpy(w, at, bytes);
    if (dw_is_wide())
        *link = (struct dw_link){ w[0], w[2], w[4] | (uint64_t)w[5] << 32,
                                  w[6] | (uint64_t)w[7] << 32 };
    else
        *link = (struct dw_link){ w[0], w[1], w[2], w[3] };
    return true;
}

/* Checks a descriptor: OWN, FIRST, LAST, CHAIN before it, and as many bytes as the command has. */
static inline bool dw_follow(void)
{
    uint64_t at = dw_reg(DW_DBADDR);
    uint32_t done = 0;
    struct dw_link link = { 0 };

    if (dw_is_wide())
        at |= (uint64_t)dw_reg(DW_DBADDR + 4) << 32;
    do {
        uint32_t released;

        if (!dw_fetch(at, &link) || link.control >> 31 == 0 || (link.control >> 2 & 5) == 0 ||
            (link.control >> 3 & 1) != (done == 0) || link.bytes > 4096 ||
            link.bytes > f.bytes - done || !dw_store(link.buffer, f.block + done, link.bytes))
            return false;
        done += link.bytes;
        released = link.control & ~(1u << 31);
        (void)dw_store(at, (const uint8_t *)&released, sizeof released);
        at = link.next;
    } while ((link.control >> 2 & 1) == 0);
    return done == f.bytes;
}

static inline void dw_run_dma(void)
{
    f.n_dma++;
    if (dw_follow())
        f.regs[dw_idsts() / 4] |= (1 << 8 | 1 << 1) & dw_reg(dw_idsts() + 4); /* IDINTEN follows */
    else
        f.regs[dw_idsts() / 4] |= 1 << 9 | 1 << 2;
    f.bytes = f.at = 0;
}

/* ---- data ---- */

static inline bool dw_has_dma(void)
{
    return (!f.suspends || f.told) && (dw_reg(DW_CTRL) & DW_CTRL_DMA) != 0 &&
           (dw_reg(DW_BMOD) >> 7 & 1) != 0 && (dw_reg(DW_HCON) & DW_HCON_NO_DMA) == 0;
}

/* Moves from the card as much as there is room for. */
static inline void dw_fill(void)
{
    if (f.over != 0 && (dw_has_dma() || f.bytes - f.at <= 4 * DW_FIFO_WORDS)) {
        f.regs[DW_RINTSTS / 4] |= f.over;
        f.over = 0;
    }
}

/* Whether both sides of the wires have the same mode. */
static inline bool dw_agrees(void)
{
    static const unsigned widths[] = { 1, 4, 8 };
    bool high = fake.is_emmc ? fake.ext_csd[185] == 1 : fake.mode == 1;
    unsigned width = fake.is_emmc ? widths[fake.ext_csd[183] % 3] : fake.width;
    uint32_t slow = fake.is_emmc ? 26000000 : 25000000;

    return !(dw_reg(DW_UHS) >> 16 & 1) && (dw_reg(DW_CTYPE) & 1 ? 4u : 1u) == width &&
           f.card_hz <= slow << high;
}

static inline void dw_start_data(uint32_t command, bool app)
{
    uint32_t *pending = &f.regs[DW_RINTSTS / 4];
    enum sd_fault fault;

    f.bytes = dw_reg(DW_BYTCNT);
    f.at = 0;
    f.over = DW_DATA_OVER;
    if (f.bytes > sizeof f.block || f.bytes % dw_reg(DW_BLKSIZ) != 0)
        OK(false, "whole blocks are asked for");
    fault = fake_sd_data(&fake, command & 63, dw_reg(DW_CMDARG), app, f.block, f.bytes);
    if (!dw_agrees())
        fault = SD_FAULT_DATA;
    f.held = fault != SD_FAULT_NONE;
    if (f.held) {
        *pending |= fault == SD_FAULT_DATA ? DW_DATA_CRC | DW_DATA_OVER : DW_DATA_TIMEOUT;
        f.bytes = f.over = 0;
        return;
    }
    if (command & DW_AUTO_STOP) {
        fake.state = FAKE_TRANSFER;
        f.over |= DW_AUTO_STOPPED;
    }
    f.dma_in = DW_POLLS;
    dw_fill();
}

/* ---- commands ---- */

static inline void dw_answer(uint32_t command, const uint32_t reply[4])
{
    for (unsigned i = 0; i < 4; i++)
        f.regs[DW_RESP0 / 4 + i] = reply[i];
    if (command & DW_LONG)
        f.regs[DW_RESP0 / 4] |= 0x55; /* the CRC, and the end bit */
}

/* A card that is not selected yet answers at 400 kHz, after 80 clocks. */
static inline bool dw_is_heard(uint32_t command)
{
    f.woken = f.woken || (command & DW_WAKE);
    return f.woken && (fake.state > FAKE_IDENT || f.card_hz <= 400000);
}

static inline void dw_command(uint32_t command)
{
    uint32_t reply[4] = { 0 }, injected = f.inject;
    bool app = fake.is_app, answers;

    f.n_commands++;
    f.regs[DW_CMD / 4] &= ~DW_START;
    answers = dw_is_heard(command) &&
              fake_sd_command(&fake, command & 63, dw_reg(DW_CMDARG), reply);
    f.inject = 0;
    f.regs[DW_RINTSTS / 4] |= DW_DONE | injected;
    dw_answer(command, reply);
    if ((command & DW_ANSWERED) && !answers) {
        f.regs[DW_RINTSTS / 4] |= DW_RESPONSE_TIMEOUT;
        return;
    }
    if ((command & DW_HAS_DATA) && injected == 0)
        dw_start_data(command, app);
}

static inline void dw_update_clock(void)
{
    uint32_t divider = dw_reg(DW_CLKDIV) & 255, hz = f.clock_hz / (divider == 0 ? 1 : 2 * divider);

    if (f.runs && (dw_reg(DW_CLKENA) & 1) && hz != f.card_hz)
        OK(false, "the divider changes while the clock stands");
    f.runs = dw_reg(DW_CLKENA) & 1;
    f.card_hz = hz;
    f.regs[DW_CMD / 4] &= ~DW_START;
}

/* The part at the card takes no command without its clock: START stays set. */
static inline void dw_write_command(uint32_t value)
{
    if (dw_reg(DW_CMD) & DW_START) {
        f.regs[DW_RINTSTS / 4] |= DW_LOCKED;
        return;
    }
    f.regs[DW_CMD / 4] = value;
    if (!(value & DW_START) || ((value & DW_WAIT_DATA) && (f.held || f.card_holds)))
        return;
    if (value & DW_CLOCK_ONLY)
        dw_update_clock();
    else if (f.runs)
        dw_command(value);
}

static inline void dw_write_control(uint32_t value)
{
    f.regs[DW_CTRL / 4] = value;
    f.clears_in = DW_POLLS;
    if (value & 7)
        f.bytes = f.at = f.over = 0;
    if ((value & 1) == 0)
        return;
    f.runs = f.held = false;
    f.card_hz = 0;
    f.regs[DW_CMD / 4] &= ~DW_START;
}

/* ---- the registers ---- */

static inline bool dw_is_off(void)
{
    f.n_gated += f.gated;
    return f.gated;
}

static inline uint32_t dw_take_word(void)
{
    uint32_t word = 0;

    if (!(f.bytes - f.at >= 4))
        return OK(false, "the FIFO is not read beyond its end");
    memcpy(&word, f.block + f.at, 4);
    f.at += 4;
    f.n_pio += f.at == f.bytes;
    return word;
}

static inline uint32_t dw_status(void)
{
    uint32_t words = (f.bytes - f.at) / 4;

    if (dw_has_dma())
        words = 0;
    return (words < DW_FIFO_WORDS ? words : DW_FIFO_WORDS) << 17 |
           (f.held || f.card_holds ? 1u << 9 : 0);
}

static inline uint32_t dw_read(unsigned at)
{
    if (dw_is_off())
        return 0xffffffff;
    dw_fill();
    if (at == DW_DATA)
        return dw_take_word();
    if (at == DW_STATUS)
        return dw_status();
    if (at == DW_CTRL && f.clears_in > 0 && --f.clears_in == 0)
        f.regs[DW_CTRL / 4] &= ~7u | f.sticky;
    if (at == dw_idsts() && f.bytes > 0 && dw_has_dma() && f.dma_in > 0 && --f.dma_in == 0)
        dw_run_dma();
    if (at == DW_BMOD)
        f.regs[at / 4] &= ~1u;
    return at < sizeof f.regs ? f.regs[at / 4] : 0;
}

static inline void dw_write(unsigned at, uint32_t value)
{
    if (dw_is_off() || at >= sizeof f.regs)
        return;
    dma_log_add(DMA_REGISTER, at, value);
    if (at == DW_BMOD)
        f.told = f.told && (value & 1) == 0;
    f.told = f.told || (at == DW_PLDMND && dw_reg(DW_BMOD) >> 7 & 1);
    if (at == DW_CMD)
        dw_write_command(value);
    else if (at == DW_CTRL)
        dw_write_control(value);
    else if (at == DW_RINTSTS || at == dw_idsts())
        f.regs[at / 4] &= ~value;
    else
        f.regs[at / 4] = value;
}

/* ---- set-up ---- */

static inline struct dw_mmc_setup dw_setup(void)
{
    static uintptr_t base;

    if (base == 0)
        base = fake_mmio_add(dw_read, dw_write);
    return (struct dw_mmc_setup){
        .mmio = base,
        .clock_hz = f.clock_hz,
        .fifo_words = DW_FIFO_WORDS,
        .window = { .offset = f.world_at - (uintptr_t)world,
                    .end = (uintptr_t)world + WORLD_BYTES,
                    .coherent = true },
        .ticks = fake_ticks,
        .ticks_hz = 1000000,
    };
}

static inline void power_up(uint32_t hcon, uint64_t world_at)
{
    memset(&f, 0, sizeof f);
    memset(world, 0, sizeof world);
    memset(&dma_log, 0, sizeof dma_log);
    d = (struct world_driver *)(void *)world;
    f.world_at = world_at;
    f.clock_hz = 49500000;
    f.regs[DW_VERID / 4] = 0x5342290a;
    f.regs[DW_HCON / 4] = hcon;
    fake_sd_init(&fake);
}

static inline enum err transfer(uint64_t sector, uint32_t n, uint32_t at)
{
    struct block_request r = { .sector = sector, .n_sectors = n, .buffer = world + BUFFER_AT + at };
    enum err e = d->device.submit == NULL ? ERR_NO_DEVICE : d->device.submit(&d->device, &r);

    for (unsigned i = 0; e == ERR_OK && !r.done && i < 1000000; i++)
        (void)d->device.poll(&d->device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

static inline bool holds(uint64_t sector, uint32_t n, uint32_t at)
{
    const uint8_t *p = world + BUFFER_AT + at;

    for (uint32_t i = 0; i < n * 512; i++)
        if (p[i] != fake_sd_byte(sector + i / 512, i % 512))
            return false;
    return p[n * 512] == 0 && p[-1] == 0;
}

/* Reads, and checks that these bytes came and no others. */
static inline bool reads(uint64_t sector, uint32_t n, uint32_t at)
{
    memset(world + BUFFER_AT - 1, 0, WORLD_BYTES - BUFFER_AT + 1);
    return transfer(sector, n, at) == ERR_OK && holds(sector, n, at);
}

#endif
