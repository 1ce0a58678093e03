/* The SD host controller's driver over registers that this test plays, with a card behind them.
 * Descriptors and addresses are followed as a controller would, in a small world of its own. The
 * controller is half of the file's length, and of no use to another test. */
#include <stdlib.h>

#include "board/drivers/sd/sd_card.h"
#include "board/drivers/sd/sdhci_registers.h"
#include "tests/unit/board/fake_sd.h"
#include "tests/unit/tap.h"

enum { WORLD_BYTES = 2 << 20, BUFFER_AT = 512 << 10, PLAIN_CAPS = 0x01e03480 }; /* 52 MHz, SDMA */

static _Alignas(1 << 20) uint8_t world[WORLD_BYTES]; /* all that DMA reaches, from bus address 0 */
static struct world_driver {
    struct sdhci s;
    struct sd_card card;
    struct block_device device;
} * d; /* in the world, because the descriptors are */
static struct fake_sd fake;

static struct fake_sdhci {
    uint32_t regs[64];
    uint32_t pending; /* of Normal and Error Interrupt Status */
    uint8_t block[2048 * 512];
    uint32_t bytes, at; /* of the data in block, and how much has been taken */
    uint32_t mode;
    unsigned tuning_blocks; /* until it is tuned */
    bool never_tunes, stuck, no_1v8;
    uint32_t inject; /* error bits for the next command */
    unsigned n_commands, n_dma_stops;
    uint32_t dma_at;
    uint64_t now;
} f;

static uint64_t fake_ticks(void)
{
    return f.now += 5;
}

static uint32_t reg(unsigned r)
{
    return f.regs[r / 4];
}

/* ---- the controller's DMA ---- */

static void move(uint64_t bus, uint8_t *block, uint32_t bytes)
{
    if (!OK(bus < WORLD_BYTES && bytes <= WORLD_BYTES - bus, "DMA stays in the world"))
        return;
    if (f.mode & TRANSFER_READ)
        memcpy(world + bus, block, bytes);
    else
        memcpy(block, world + bus, bytes);
}

static uint32_t get_word(uint64_t bus)
{
    uint32_t word;

    memcpy(&word, world + bus, 4);
    return word;
}

static void run_adma(unsigned descriptor_bytes)
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

static void run_sdma(void)
{
    uint32_t boundary = 4096u << (reg(SDHCI_BLOCK) >> 12 & 7);
    uint32_t bytes = boundary - f.dma_at % boundary;

    bytes = bytes < f.bytes - f.at ? bytes : f.bytes - f.at;
    move(f.dma_at, f.block + f.at, bytes);
    f.dma_at += bytes;
    f.at += bytes;
    f.n_dma_stops += f.at < f.bytes;
    f.pending |= f.at < f.bytes ? STATUS_DMA : STATUS_TRANSFER;
}

static void run_data(void)
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
    if (!(f.mode & TRANSFER_READ))
        (void)fake_sd_data(&fake, 25, reg(SDHCI_ARGUMENT), false, f.block, f.bytes);
}

/* ---- its commands ---- */

static void answer(unsigned kind, const uint32_t reply[4])
{
    for (unsigned i = 0; i < 4; i++)
        f.regs[SDHCI_RESPONSE / 4 + i] = kind == 1
                                             ? reply[i] >> 8 | (i < 3 ? reply[i + 1] << 24 : 0)
                                             : reply[i];
}

static void tune_block(void)
{
    f.pending |= f.never_tunes ? 0 : STATUS_READABLE;
    if (--f.tuning_blocks == 0)
        f.regs[SDHCI_CONTROL_2 / 4] = (reg(SDHCI_CONTROL_2) & ~(uint32_t)CONTROL2_TUNE) |
                                      CONTROL2_TUNED;
}

static void run_command(uint32_t value)
{
    uint32_t reply[4] = { 0 }, errors = f.inject;
    unsigned index = value >> COMMAND_INDEX_SHIFT & 63, kind = value >> 16 & 3;
    bool app = fake.is_app, answers;

    f.n_commands++;
    f.inject = 0;
    if (f.stuck)
        return;
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
    if (value & TRANSFER_READ &&
        fake_sd_data(&fake, index, reg(SDHCI_ARGUMENT), app, f.block, f.bytes) != SD_FAULT_NONE) {
        f.pending |= 1u << 21 | STATUS_ERROR;
        return;
    }
    if (value & TRANSFER_AUTO_CMD12)
        fake.state = FAKE_TRANSFER;
    run_data();
}

/* ---- the registers: instead of sdhci_mmio.c ---- */

uint32_t sdhci_read(const struct sdhci *s, unsigned r)
{
    uint32_t clock = reg(SDHCI_CLOCK), lines = f.no_1v8 ? 0 : PRESENT_DATA_LINES;

    (void)s;
    if (r == SDHCI_STATUS)
        return f.pending & reg(SDHCI_STATUS_ENABLE);
    if (r == SDHCI_PRESENT && fake.n_log > 0 && fake.log[fake.n_log - 1] == 11 &&
        !(clock & CLOCK_CARD))
        return reg(r); /* the card holds the lines low until the clock is back */
    if (r == SDHCI_PRESENT)
        return reg(r) | lines |
               (f.at < f.bytes && !(f.mode & TRANSFER_DMA) ? PRESENT_READABLE | PRESENT_WRITABLE
                                                           : 0);
    return reg(r);
}

void sdhci_write(struct sdhci *s, unsigned r, uint32_t value)
{
    (void)s;
    if (r == SDHCI_STATUS) {
        f.pending &= ~value;
        return;
    }
    if (r == SDHCI_CLOCK && value & CLOCK_RESET_ALL)
        f.regs[SDHCI_CONTROL_2 / 4] = f.regs[SDHCI_CONTROL / 4] = 0;
    if (r == SDHCI_CLOCK && value >> 24 != 0 && !f.stuck) {
        value &= 0x00ffffff;
        f.pending = 0;
        f.bytes = f.at = 0;
    }
    if (r == SDHCI_CLOCK && value & CLOCK_INTERNAL)
        value |= CLOCK_STABLE;
    f.regs[r / 4] = value;
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

static struct sdhci_setup plain_setup(void)
{
    return (struct sdhci_setup){
        .window = { .offset = (uint64_t)0 - (uintptr_t)world,
                    .end = (uintptr_t)world + WORLD_BYTES,
                    .coherent = true },
        .ticks = fake_ticks,
        .ticks_hz = 1000000,
    };
}

static void power_up(uint32_t caps, uint32_t caps_2, unsigned version)
{
    memset(&f, 0, sizeof f);
    memset(world, 0, sizeof world);
    d = (struct world_driver *)(void *)world;
    f.regs[SDHCI_CAPABILITIES / 4] = caps;
    f.regs[SDHCI_CAPABILITIES / 4 + 1] = caps_2;
    f.regs[SDHCI_VERSION / 4] = version << 16;
    f.regs[SDHCI_PRESENT / 4] = PRESENT_INSERTED | PRESENT_STABLE | PRESENT_UNLOCKED;
    f.tuning_blocks = 3;
    fake_sd_init(&fake);
}

static enum err open_with(const struct sdhci_setup *setup)
{
    enum err e = sdhci_open(&d->s, setup);

    if (e == ERR_OK)
        sd_card_open(&d->card, &d->s.host, "SD card at ", 0, &d->device);
    return e;
}

static enum err transfer(uint64_t sector, uint32_t n, uint32_t at, bool write)
{
    struct block_request r = {
        .sector = sector, .n_sectors = n, .buffer = world + BUFFER_AT + at, .write = write
    };
    enum err e = d->device.submit(&d->device, &r);

    for (unsigned i = 0; e == ERR_OK && !r.done && i < 1000000; i++)
        (void)d->device.poll(&d->device);
    return e != ERR_OK ? e : r.done ? r.status : ERR_BUSY;
}

static bool holds(uint64_t sector, uint32_t n, uint32_t at)
{
    const uint8_t *p = world + BUFFER_AT + at;

    for (uint32_t i = 0; i < n * 512; i++)
        if (p[i] != fake_sd_byte(sector + i / 512, i % 512))
            return false;
    return p[n * 512] == 0 && p[-1] == 0;
}

static enum err read_at(uint64_t sector, uint32_t n, uint32_t at)
{
    memset(world + BUFFER_AT - 1, 0, WORLD_BYTES - BUFFER_AT + 1);
    return transfer(sector, n, at, false);
}

/* ---- paths ---- */

static void test_path(const char *name, uint32_t caps, unsigned version, enum sdhci_path path,
                      unsigned descriptor_bytes)
{
    struct sdhci_setup setup = plain_setup();

    power_up(caps, 0, version);
    if (descriptor_bytes > 8)
        setup.window.end = (uintptr_t)world + ((uint64_t)1 << 36);
    OK(open_with(&setup) == ERR_OK && d->device.problem == NULL, "%s: the card starts", name);
    OK(d->s.descriptor_bytes == descriptor_bytes, "%s: the shortest descriptors that reach", name);
    OK(read_at(10, 1, 64) == ERR_OK && holds(10, 1, 64) && d->s.path == path, "%s: a sector", name);
    OK(read_at(100, 1024, 128) == ERR_OK && holds(100, 1024, 128) && d->s.path == path,
       "%s: 512 KiB across a boundary", name);
    OK(d->device.max_sectors >= 1024, "%s: large requests", name);
}

static void test_paths(void)
{
    struct sdhci_setup setup = plain_setup();

    test_path("ADMA2", PLAIN_CAPS | CAPABLE_ADMA2, 1, SDHCI_ADMA, 8);
    test_path("ADMA2, 96 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_3, 2, SDHCI_ADMA, 12);
    test_path("ADMA2, 128 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_4, 3, SDHCI_ADMA, 16);
    test_path("SDMA", PLAIN_CAPS | CAPABLE_SDMA, 1, SDHCI_SDMA, 0);
    OK(f.n_dma_stops > 0, "SDMA stopped at a boundary");
    test_path("PIO", PLAIN_CAPS & ~(uint32_t)CAPABLE_SDMA, 1, SDHCI_PIO, 0);

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, 0, 1);
    setup.window.coherent = false;
    (void)open_with(&setup);
    OK(read_at(1, 2, 64) == ERR_OK && d->s.path == SDHCI_ADMA, "not coherent: whole lines by DMA");
    OK(read_at(1, 2, 16) == ERR_OK && holds(1, 2, 16) && d->s.path == SDHCI_PIO,
       "and shared ones by the core");
    setup = plain_setup();
    setup.window.end = (uintptr_t)world + BUFFER_AT + 4096;
    (void)open_with(&setup);
    OK(read_at(1, 16, 0) == ERR_OK && holds(1, 16, 0) && d->s.path == SDHCI_PIO,
       "memory that DMA does not reach is the core's");
    OK(transfer(4, 16, 0, true) == ERR_OK && fake.has_written && d->s.path == SDHCI_PIO,
       "PIO writes");
    OK(memcmp(fake.written + 4 * 512, world + BUFFER_AT, 16 * 512) == 0, "what the buffer has");
    memset(fake.written, 0, sizeof fake.written);
    OK(transfer(9, 8, 0, true) == ERR_OK && d->s.path == SDHCI_ADMA &&
           memcmp(fake.written + 9 * 512, world + BUFFER_AT, 8 * 512) == 0,
       "ADMA2 writes");
}

static unsigned mover_polls;

static bool mover_start(void *state, uintptr_t port, void *to, uint32_t bytes)
{
    (void)state;
    (void)port;
    if (bytes > 4096)
        return false;
    memcpy(to, f.block, bytes);
    mover_polls = 0;
    return true;
}

static enum err mover_poll(void *state)
{
    (void)state;
    if (mover_polls++ < 2)
        return ERR_BUSY;
    f.at = f.bytes;
    f.pending |= STATUS_TRANSFER;
    return ERR_OK;
}

static void mover_stop(void *state)
{
    (void)state;
}

static void test_mover(void)
{
    static const struct sdhci_mover mover = { NULL, mover_start, mover_poll, mover_stop };
    struct sdhci_setup setup = plain_setup();

    power_up(0, 0, 2); /* no capabilities, as BCM2835 */
    setup.mover = &mover;
    setup.quirks = SDHCI_NO_DMA | SDHCI_NO_HIGH_BIT | SDHCI_NO_BUSY_EVENT;
    setup.base_hz = 250000000;
    OK(open_with(&setup) == ERR_OK && d->device.problem == NULL && d->card.hz == 50000000 &&
           !(reg(SDHCI_CONTROL) & CONTROL_HIGH_SPEED),
       "a controller without capabilities");
    OK(read_at(7, 8, 0) == ERR_OK && holds(7, 8, 0) && d->s.path == SDHCI_MOVER,
       "another DMA engine moves the data");
    OK(read_at(7, 9, 0) == ERR_OK && holds(7, 9, 0) && d->s.path == SDHCI_PIO,
       "the core does what the engine refuses");
}

/* ---- speed ---- */

static void test_clock(void)
{
    struct sdhci_setup setup = plain_setup();

    power_up(PLAIN_CAPS, 0, 1);
    (void)open_with(&setup);
    OK(d->card.hz == 50000000 && d->s.clock_hz == 26000000, "never faster than asked: %u",
       (unsigned)d->s.clock_hz);
    (void)sdhci_set_bus(&d->s.host, 400000, 1, SD_TIMING_DEFAULT);
    OK(d->s.clock_hz == 52000000 / 256 && (reg(SDHCI_CLOCK) & CLOCK_DIVISOR) == 0x8000,
       "version 2 divides by a power of two");
    power_up(0x01e0c880, 0, 2);
    setup.base_hz = 200000000;
    (void)open_with(&setup);
    (void)sdhci_set_bus(&d->s.host, 150000, 4, SD_TIMING_DEFAULT);
    OK(d->s.clock_hz <= 150000 && d->s.clock_hz > 149000 &&
           (reg(SDHCI_CLOCK) & CLOCK_DIVISOR) == ((667 & 255) << 8 | (667 >> 8) << 6),
       "version 3 by any even number");
    (void)sdhci_set_bus(&d->s.host, 150000000, 4, SD_TIMING_HIGH);
    OK(d->s.clock_hz == 100000000, "a base that is a little too fast is halved");
    (void)sdhci_set_bus(&d->s.host, 208000000, 4, SD_TIMING_SDR104);
    OK(d->s.clock_hz == 200000000 && (reg(SDHCI_CONTROL_2) & CONTROL2_MODE) == 3 << 16 &&
           reg(SDHCI_CONTROL) & CONTROL_4_BITS,
       "and not at all");
    OK((reg(SDHCI_CLOCK) & (CLOCK_CARD | CLOCK_INTERNAL)) == (CLOCK_CARD | CLOCK_INTERNAL),
       "the clock runs");
}

static void test_uhs(void)
{
    struct sdhci_setup setup = plain_setup();
    uint32_t caps_2 = CAPABLE_SDR50 | CAPABLE_SDR104 | CAPABLE_DDR50 | 5 << CAPABLE_RETUNE_SHIFT;

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, caps_2, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    (void)open_with(&setup);
    OK(d->device.problem == NULL && d->card.timing == SD_TIMING_SDR104 && fake.mode == 3 &&
           reg(SDHCI_CONTROL_2) & CONTROL2_1V8,
       "1.8 V and SDR104");
    OK(reg(SDHCI_CONTROL_2) & CONTROL2_TUNED && fake_sd_count(&fake, 19) == 3, "tuned in 3 blocks");
    OK(d->s.host.retune_ticks == 16000000, "to be tuned again after 16 s");
    OK(read_at(10, 300, 0) == ERR_OK && holds(10, 300, 0), "and reads");

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, caps_2, 2);
    fake.knows_1v8 = true;
    fake.modes = 0x1f;
    f.never_tunes = true;
    (void)open_with(&setup);
    OK(d->device.problem == NULL && d->card.slow && d->card.hz == 25000000 &&
           !(reg(SDHCI_CONTROL_2) & CONTROL2_1V8),
       "tuning fails: afresh, slow, at 3.3 V");
    power_up(PLAIN_CAPS, caps_2, 2);
    setup.quirks = SDHCI_NO_1V8;
    fake.knows_1v8 = true;
    (void)open_with(&setup);
    OK(d->device.problem == NULL && fake_sd_count(&fake, 11) == 0, "a board without 1.8 V");
}

/* ---- faults ---- */

static void test_error(uint32_t bits, enum err expected, enum sd_fault fault, const char *name)
{
    struct sd_command c = { .index = 17,
                            .argument = 3,
                            .response = SD_RESPONSE_SHORT,
                            .data = world + BUFFER_AT,
                            .block_bytes = 512,
                            .n_blocks = 1 };

    f.inject = bits;
    OK(sd_host_run(&d->s.host, &c) == expected && c.fault == fault, "%s", name);
    OK(read_at(3, 2, 0) == ERR_OK && holds(3, 2, 0), "%s: the next command goes on", name);
}

static void test_faults(void)
{
    struct sdhci_setup setup = plain_setup();

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, 0, 1);
    (void)open_with(&setup);
    test_error(1u << 16, ERR_TIMEOUT, SD_FAULT_COMMAND_TIMEOUT, "no response");
    test_error(1u << 17, ERR_IO, SD_FAULT_COMMAND, "a response with a wrong CRC");
    test_error(3u << 16, ERR_IO, SD_FAULT_COMMAND, "a conflict on the command line");
    test_error(1u << 20, ERR_TIMEOUT, SD_FAULT_DATA_TIMEOUT, "no data");
    test_error(1u << 21, ERR_IO, SD_FAULT_DATA, "data with a wrong CRC");
    test_error(1u << 24, ERR_IO, SD_FAULT_DATA, "Auto CMD12 failed");
    test_error(1u << 25, ERR_IO, SD_FAULT_DMA, "an ADMA error");
    f.inject = 1u << 21;
    OK(read_at(3, 2, 0) == ERR_OK && holds(3, 2, 0) && d->card.n_errors == 1,
       "the block device tries again");
    f.regs[SDHCI_PRESENT / 4] &= ~(uint32_t)PRESENT_INSERTED;
    f.n_commands = 0;
    OK(read_at(3, 2, 0) == ERR_REMOVED && f.n_commands == 0, "taken out: nothing is sent");
    f.regs[SDHCI_PRESENT / 4] |= PRESENT_INSERTED;
    OK(read_at(3, 2, 0) == ERR_OK && holds(3, 2, 0), "put back");
    f.stuck = true;
    OK(read_at(3, 2, 0) == ERR_TIMEOUT, "a controller that does nothing");
    power_up(PLAIN_CAPS, 0, 1);
    f.stuck = true;
    OK(open_with(&setup) == ERR_TIMEOUT, "or does not reset");
    power_up(0xffffffff, 0, 1);
    OK(open_with(&setup) == ERR_NO_DEVICE, "or is not there");
    power_up(PLAIN_CAPS, 0, 1);
    f.regs[SDHCI_PRESENT / 4] &= ~(uint32_t)PRESENT_UNLOCKED;
    (void)open_with(&setup);
    OK(d->device.problem == NULL && !d->device.writable, "a slide at \"lock\" keeps writes away");
}

int main(void)
{
    test_paths();
    test_mover();
    test_clock();
    test_uhs();
    test_faults();
    return tap_done();
}
