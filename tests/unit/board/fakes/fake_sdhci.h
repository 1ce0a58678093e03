/* The registers of an SD host controller, with a card behind them, in place of sdhci_mmio.c, and
 * the driver over them. It follows descriptors and addresses as a controller does, in a small world
 * of its own. */
#ifndef INGOT_TESTS_UNIT_FAKE_SDHCI_H
#define INGOT_TESTS_UNIT_FAKE_SDHCI_H

#include "board/drivers/sd/bcm_sd.h"
#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci_registers.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/fake_sd.h"
#include "tests/unit/tap.h"

enum { WORLD_BYTES = 2 << 20, BUFFER_AT = 512 << 10, PLAIN_CAPS = 0x01e03480 }; /* 52 MHz, SDMA */

static _Alignas(
    1 << 20) uint8_t world[WORLD_BYTES]; /* all memory that DMA reaches, from bus address 0 */
static struct world_driver {
    union { /* a controller alone, or as Raspberry Pi's driver has it */
        struct {
            struct sdhci s;
            struct sd_card card;
        };
        struct bcm_sd bcm;
    };
    struct block_device device;
} * d; /* they are in the world, because the descriptors are */
static uint8_t memory[WORLD_BYTES],
    fetched[WORLD_BYTES]; /* copy of the world, when caches hide it */
static struct fake_sd fake;

static struct fake_sdhci {
    uint32_t regs[64];
    uint32_t pending; /* of Normal and Error Interrupt Status */
    uint8_t block[2048 * 512];
    uint32_t bytes, at; /* data of the block, and how much of it was taken */
    uint32_t mode;
    unsigned tuning_blocks; /* until it is tuned */
    bool never_tunes, tunes_in_vain, stuck, no_1v8;
    unsigned untunable, noisy; /* bit n: mode n of Host Control 2 finds no sampling point; its data
                                * has errors */
    unsigned wired;            /* data lines; 0: all */
    bool loses_writes; /* writes to a register within two clocks of the card after another write */
    uint32_t base_hz;  /* the clock that is divided; 0: any */
    uint64_t ticks_hz; /* of `now`; 0: 1 MHz */
    uint64_t wrote[64], gap[64]; /* time when a register was written, and how long a write takes */
    unsigned n_lost;
    uint32_t slowest_hz;       /* clocks that the card has had */
    bool has_rails;            /* the board switches supplies, not the controller */
    bool rail_power, rail_1v8; /* as it does */
    volatile uint32_t *gpio;   /* its pins for that: SD_IOVDD_SEL, SD_PWR_ON */
    uint64_t off_at;
    unsigned n_power_cycles;
    uint32_t inject; /* error bits of the next command */
    unsigned n_commands, n_dma_stops;
    uint64_t late, settles; /* CMD11: time until low lines, until the new supply */
    uint64_t asked_at, stopped_at, returned_at; /* CMD11, and its clock */
    bool holds;                                 /* the lines low, while the clock stands */
    uint32_t dma_at;
    uint64_t now;
} f;

static inline uint64_t ticks_per_milli(void)
{
    return (f.ticks_hz != 0 ? f.ticks_hz : 1000000) / 1000;
}

/* ---- supplies: a card is off after a millisecond without (Physical Layer 6.4.1.2) ---- */

static inline void set_rails(bool power, bool at_1v8)
{
    if (f.rail_power && !power)
        f.off_at = f.now;
    if (!f.rail_power && power && f.now - f.off_at >= ticks_per_milli()) {
        fake_sd_power_off(&fake);
        f.n_power_cycles++;
    }
    f.rail_power = power;
    f.rail_1v8 = fake.lines_1v8 = at_1v8;
}

static inline void look_at_pins(void)
{
    uint32_t driven = f.gpio != NULL ? f.gpio[1] & ~f.gpio[2] : 0;

    if (f.gpio != NULL)
        set_rails(driven >> 4 & 1, driven >> 3 & 1);
}

static inline uint64_t fake_ticks(void)
{
    look_at_pins();
    return f.now += f.ticks_hz != 0 ? 1 : 5;
}

static inline uint32_t reg(unsigned r)
{
    return f.regs[r / 4];
}

/* From here on caches hide the world from the controller. */
static inline void hide_world(void)
{
    dma_log_watch(world, memory, fetched, WORLD_BYTES);
}

/* ---- the card's clock, and what it does to writes ---- */

/* For version 3 (2.2.15). Before the first clock the firmware's may run, 400 kHz at worst. */
static inline uint32_t card_hz(void)
{
    uint32_t clock = reg(SDHCI_CLOCK), n = (clock >> 8 & 255) | (clock >> 6 & 3) << 8;

    if (!(clock & CLOCK_INTERNAL))
        return 400000;
    return n == 0 ? f.base_hz : f.base_hz / (2 * n);
}

/* Whether the write is lost, because the one before is still on its way between the clocks. */
static inline bool loses(unsigned r)
{
    f.now += 2; /* an access takes a while */
    if (!f.loses_writes || f.now - f.wrote[r / 4] >= f.gap[r / 4])
        return false;
    f.n_lost++;
    return true;
}

static inline void note_write(unsigned r, uint32_t hz_before)
{
    uint32_t hz = card_hz() < hz_before ? card_hz() : hz_before;

    if (f.base_hz == 0)
        return;
    f.wrote[r / 4] = f.now;
    f.gap[r / 4] = 2 * f.ticks_hz / hz + 1;
    if (reg(SDHCI_CLOCK) & CLOCK_CARD && (f.slowest_hz == 0 || card_hz() < f.slowest_hz))
        f.slowest_hz = card_hz();
}

/* ---- the modes at 1.8 V ---- */

/* Card and controller sample in different modes, or not at the right point. */
static inline bool samples_wrong(void)
{
    uint32_t control = reg(SDHCI_CONTROL_2), mode = control >> CONTROL2_MODE_SHIFT & 7;
    uint32_t caps_2 = f.regs[SDHCI_CAPABILITIES / 4 + 1];
    bool tunes = mode == 3 || (mode == 2 && caps_2 & CAPABLE_TUNES_SDR50);
    unsigned lines = reg(SDHCI_CONTROL) & CONTROL_8_BITS   ? 8
                     : reg(SDHCI_CONTROL) & CONTROL_4_BITS ? 4
                                                           : 1;

    if (f.noisy >> mode & 1 || (f.wired != 0 && lines > f.wired))
        return true;
    if (!(control & CONTROL2_1V8) || fake.is_emmc)
        return false;
    return mode != fake.mode || (tunes && !(control & CONTROL2_TUNED));
}

/* ---- the controller's DMA ---- */

/* Returns the controller's view of the world. */
static inline uint8_t *bus_memory(void)
{
    return dma_log.cores == world ? memory : world;
}

static inline void move(uint64_t bus, uint8_t *block, uint32_t bytes)
{
    if (!OK(bus < WORLD_BYTES && bytes <= WORLD_BYTES - bus, "DMA stays within the fake's memory"))
        return;
    if (!(f.mode & TRANSFER_READ)) {
        memcpy(block, bus_memory() + bus, bytes);
        return;
    }
    memcpy(bus_memory() + bus, block, bytes);
    if (bus_memory() != world)
        dma_log_evict(bus, bytes);
}

static inline uint32_t get_word(uint64_t bus)
{
    uint32_t word;

    memcpy(&word, bus_memory() + bus, 4);
    return word;
}

static inline void run_adma(unsigned descriptor_bytes)
{
    uint64_t table = reg(SDHCI_ADMA_ADDRESS);
    uint32_t done = 0, word;

    if (descriptor_bytes > 8)
        table |= (uint64_t)reg(SDHCI_ADMA_ADDRESS + 4) << 32;
    do {
        uint64_t to = get_word(table + 4);
        uint32_t bytes;

        word = get_word(table);
        bytes = word >> 16 != 0 ? word >> 16 : 65536;
        if (descriptor_bytes > 8)
            to |= (uint64_t)get_word(table + 8) << 32;
        if ((word & 0x3f & ~2u) != 0x21 || bytes > f.bytes - done) {
            f.pending |= STATUS_DMA_WRONG | STATUS_ERROR;
            return;
        }
        move(to, f.block + done, bytes);
        done += bytes;
        table += descriptor_bytes;
    } while (!(word & 2));
    f.pending |= done == f.bytes ? STATUS_TRANSFER : STATUS_DMA_WRONG | STATUS_ERROR;
}

static inline void give_card(void)
{
    if (!(f.mode & TRANSFER_READ))
        (void)fake_sd_data(&fake, 25, reg(SDHCI_ARGUMENT), false, f.block, f.bytes);
}

static inline void run_sdma(void)
{
    uint32_t boundary = 4096u << (reg(SDHCI_BLOCK) >> 12 & 7);
    uint32_t bytes = boundary - f.dma_at % boundary;

    bytes = bytes < f.bytes - f.at ? bytes : f.bytes - f.at;
    move(f.dma_at, f.block + f.at, bytes);
    f.dma_at += bytes;
    f.at += bytes;
    f.n_dma_stops += f.at < f.bytes;
    f.pending |= f.at < f.bytes ? STATUS_DMA : STATUS_TRANSFER;
    if (f.at == f.bytes)
        give_card();
}

static inline void run_data(void)
{
    uint32_t control = reg(SDHCI_CONTROL) & CONTROL_DMA;
    uint32_t caps = reg(SDHCI_CAPABILITIES);

    f.at = 0;
    if (!(f.mode & TRANSFER_DMA))
        return;
    if (control == 0) {
        f.dma_at = reg(SDHCI_DMA_ADDRESS);
        OK(caps & CAPABLE_SDMA, "SDMA is used where there is SDMA");
        run_sdma();
        return;
    }
    OK(caps & CAPABLE_ADMA2, "ADMA2 is used where there is ADMA2");
    run_adma(control == CONTROL_ADMA64 ? 12 : reg(SDHCI_CONTROL_2) & CONTROL2_VERSION_4 ? 16 : 8);
    give_card();
}

/* ---- its commands ---- */

static inline void answer(unsigned kind, const uint32_t reply[4])
{
    for (unsigned i = 0; i < 4; i++)
        f.regs[SDHCI_RESPONSE / 4 + i] = kind == 1
                                             ? reply[i] >> 8 | (i < 3 ? reply[i + 1] << 24 : 0)
                                             : reply[i];
}

static inline void tune_block(void)
{
    uint32_t mode = reg(SDHCI_CONTROL_2) >> CONTROL2_MODE_SHIFT & 7;
    bool in_vain = f.tunes_in_vain || f.untunable >> mode & 1;

    f.pending |= f.never_tunes ? 0 : STATUS_READABLE;
    if (--f.tuning_blocks > 0)
        return;
    f.regs[SDHCI_CONTROL_2 / 4] = (reg(SDHCI_CONTROL_2) & ~(uint32_t)CONTROL2_TUNE) |
                                  (in_vain ? 0u : (uint32_t)CONTROL2_TUNED);
    f.tuning_blocks = 3; /* for the next time */
}

static inline void run_command(uint32_t value)
{
    uint32_t reply[4] = { 0 }, errors = f.inject;
    unsigned index = value >> COMMAND_INDEX_SHIFT & 63, kind = value >> 16 & 3;
    bool app = fake.is_app, answers, wrong = samples_wrong();

    f.n_commands++;
    f.inject = 0;
    if (f.stuck)
        return;
    if (index == 11) {
        f.asked_at = f.now;
        f.stopped_at = f.returned_at = 0;
    }
    answers = fake_sd_command(&fake, index, reg(SDHCI_ARGUMENT), reply);
    answer(kind, reply);
    if (!answers && kind != 0)
        errors |= STATUS_COMMAND_TIMEOUT;
    if (errors != 0) {
        f.pending |= errors | STATUS_ERROR;
        return;
    }
    f.pending |= STATUS_COMMAND | (kind == 3 ? STATUS_TRANSFER : 0);
    if (index == 19) {
        tune_block();
        return;
    }
    if (!(value & COMMAND_HAS_DATA))
        return;
    f.mode = value;
    f.bytes = (reg(SDHCI_BLOCK) & 0xfff) * (reg(SDHCI_BLOCK) >> 16);
    if (wrong || (value & TRANSFER_READ && fake_sd_data(&fake, index, reg(SDHCI_ARGUMENT), app,
                                                        f.block, f.bytes) != SD_FAULT_NONE)) {
        f.pending |= 1u << 21 | STATUS_ERROR;
        return;
    }
    if (value & TRANSFER_AUTO_CMD12)
        fake.state = FAKE_TRANSFER;
    run_data();
}

/* ---- the change to 1.8 V (Physical Layer 4.2.4.2) ---- */

static inline bool is_changing(void)
{
    return fake.n_log > 0 && fake.log[fake.n_log - 1] == 11;
}

/* Low a while after the card's answer, until the clock returns with a supply that has changed. */
static inline bool holds_lines(void)
{
    if (!is_changing())
        return false;
    if (f.stopped_at == 0)
        return f.now - f.asked_at >= f.late;
    return f.holds && (f.returned_at == 0 || f.returned_at - f.stopped_at < f.settles);
}

static inline void note_clock(uint32_t clock)
{
    if (!is_changing())
        return;
    if (!(clock & CLOCK_CARD) && f.stopped_at == 0) {
        f.holds = holds_lines();
        f.stopped_at = f.now;
    }
    if (clock & CLOCK_CARD && f.stopped_at != 0 && f.returned_at == 0)
        f.returned_at = f.now;
}

/* ---- the registers: instead of sdhci_mmio.c ---- */

uint32_t sdhci_read(const struct sdhci *s, unsigned r)
{
    uint32_t lines = f.no_1v8 || holds_lines() ? 0 : PRESENT_DATA_LINES;

    (void)s;
    if (r == SDHCI_STATUS)
        return f.pending & reg(SDHCI_STATUS_ENABLE);
    if (r == SDHCI_PRESENT)
        return reg(r) | lines |
               (f.at < f.bytes && !(f.mode & TRANSFER_DMA) ? PRESENT_READABLE | PRESENT_WRITABLE
                                                           : 0);
    return reg(r);
}

/* A controller's own voltages: power by its bit, 3.3 V after a reset. */
static inline void supply(void)
{
    if (f.has_rails)
        return;
    if (!(reg(SDHCI_CONTROL) & CONTROL_POWER))
        fake_sd_power_off(&fake);
    fake.lines_1v8 = (reg(SDHCI_CONTROL_2) & CONTROL2_1V8) != 0;
}

static inline uint32_t reset_bits(uint32_t value)
{
    if (value & CLOCK_RESET_ALL) {
        f.regs[SDHCI_CONTROL_2 / 4] = f.regs[SDHCI_CONTROL / 4] = 0;
        value &= ~0xffffu;
    }
    f.pending = 0;
    f.bytes = f.at = 0;
    return value & 0x00ffffff;
}

void sdhci_put(const struct sdhci *s, unsigned r, uint32_t value)
{
    uint32_t hz = card_hz();

    (void)s;
    dma_log_add(DMA_REGISTER, r, value);
    look_at_pins();
    if (loses(r))
        return;
    if (r == SDHCI_STATUS) {
        f.pending &= ~value;
        note_write(r, hz);
        return;
    }
    if (r == SDHCI_CLOCK && value >> 24 != 0 && !f.stuck)
        value = reset_bits(value);
    if (r == SDHCI_CLOCK && value & CLOCK_INTERNAL)
        value |= CLOCK_STABLE;
    if (r == SDHCI_CLOCK)
        note_clock(value);
    f.regs[r / 4] = value;
    note_write(r, hz);
    supply();
    if (r == SDHCI_TRANSFER)
        run_command(value);
    if (r == SDHCI_DMA_ADDRESS && f.at < f.bytes && f.mode & TRANSFER_DMA) {
        OK(value == f.dma_at, "SDMA goes on where it stopped");
        run_sdma();
    }
}

void sdhci_read_port(const struct sdhci *s, uint32_t *to, uint32_t words)
{
    (void)s;
    memcpy(to, f.block + f.at, words * 4);
    f.at += words * 4;
    if (f.at == f.bytes)
        f.pending |= STATUS_TRANSFER;
}

void sdhci_write_port(const struct sdhci *s, const uint32_t *from, uint32_t words)
{
    (void)s;
    memcpy(f.block + f.at, from, words * 4);
    f.at += words * 4;
    if (f.at < f.bytes)
        return;
    (void)fake_sd_data(&fake, 25, reg(SDHCI_ARGUMENT), false, f.block, f.bytes);
    f.pending |= STATUS_TRANSFER;
}

/* ---- set-up ---- */

static inline struct sdhci_setup plain_setup(void)
{
    return (struct sdhci_setup){
        .window = { .offset = (uint64_t)0 - (uintptr_t)world,
                    .end = (uintptr_t)world + WORLD_BYTES,
                    .coherent = true },
        .ticks = fake_ticks,
        .ticks_hz = 1000000,
    };
}

static inline void power_up(uint32_t caps, uint32_t caps_2, unsigned version)
{
    memset(&f, 0, sizeof f);
    memset(world, 0, sizeof world);
    memset(&dma_log, 0, sizeof dma_log);
    d = (struct world_driver *)(void *)world;
    f.regs[SDHCI_CAPABILITIES / 4] = caps;
    f.regs[SDHCI_CAPABILITIES / 4 + 1] = caps_2;
    f.regs[SDHCI_VERSION / 4] = version << 16;
    f.regs[SDHCI_PRESENT / 4] = PRESENT_INSERTED | PRESENT_STABLE | PRESENT_UNLOCKED;
    f.tuning_blocks = 3;
    fake_sd_init(&fake);
}

static inline enum err open_with(const struct sdhci_setup *setup)
{
    enum err e = sdhci_open(&d->s, setup);

    if (e == ERR_OK)
        sd_card_open(&d->card, &d->s.host, "SD card at ", 0, &d->device);
    return e;
}

static inline enum err transfer(uint64_t sector, uint32_t n, uint32_t at, bool write)
{
    struct block_request r = {
        .sector = sector, .n_sectors = n, .buffer = world + BUFFER_AT + at, .write = write
    };
    enum err e = d->device.submit(&d->device, &r);

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

static inline enum err read_at(uint64_t sector, uint32_t n, uint32_t at)
{
    memset(world + BUFFER_AT - 1, 0, WORLD_BYTES - BUFFER_AT + 1);
    return transfer(sector, n, at, false);
}

#endif
