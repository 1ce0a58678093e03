/* Synopsys' SD controller: cards and eMMC from their start, every path of the data, and how it goes
 * on after a failed command. The driver runs against registers that react (fake_dw_mmc.h). */
#include "board/drivers/sd/dw_mmc.h"

#include <string.h>

#include "tests/unit/board/fakes/fake_dw_mmc.h"

enum {
    RAM_AT = 0x40000000,
    HCON_32 = 0x00c43cc1 & ~DW_HCON_NO_DMA,
    HCON_64 = HCON_32 | DW_HCON_64
};
static const uint64_t beyond_4_gib = (uint64_t)5 << 30;

static enum err open_with(const struct dw_mmc_setup *setup, bool emmc)
{
    enum err e = dw_mmc_open(&d->host, setup);

    if (emmc)
        d->host.host.identify_emmc = sd_emmc_identify;
    if (e == ERR_OK)
        sd_card_open(&d->card, &d->host.host, "SD card at ", 0, &d->device);
    return e;
}

static enum err open_plain(void)
{
    struct dw_mmc_setup setup = dw_setup();

    return open_with(&setup, false);
}

static const char *error_message(void)
{
    return d->device.error_message != NULL ? d->device.error_message : "none";
}

/* ---- from power to reading ---- */

static void test_card(void)
{
    power_up(HCON_32, RAM_AT);
    OK(open_plain() == ERR_OK && d->device.error_message == NULL, "an SD card starts: %s",
       error_message());
    OK(f.card_hz == 49500000 && d->card.bits == 4 && d->card.timing == SD_TIMING_HIGH,
       "the card runs at the whole clock of the block with 4 bits");
    OK(reads(10, 1, 64) && f.n_pio == 0, "a sector is read by DMA");
    OK(reads(100, 1024, 128) && f.n_pio == 0, "512 KiB are read by DMA");
    OK(f.n_gated == 0 && d->card.n_errors == 0, "there are no errors");
    power_up(HCON_32, RAM_AT);
    f.suspends = true;
    OK(open_plain() == ERR_OK && reads(10, 1, 64) && reads(100, 1024, 128) && f.n_pio == 0 &&
           d->card.n_errors == 0,
       "a DMA that is suspended until it is told to look reads, too");
}

/* CMD8 is not answered: the stop after it resets the controller. */
static void test_old_card(void)
{
    power_up(HCON_32, RAM_AT);
    fake.is_version_1 = true;
    OK(open_plain() == ERR_OK && d->device.error_message == NULL,
       "a card of version 1 opens after a CMD8 that failed: %s", error_message());
    OK(f.card_hz == 24750000 && reads(7, 8, 0), "sectors are read at 25 MHz");
}

static void power_up_emmc(void)
{
    power_up(HCON_32, RAM_AT);
    f.regs[DW_UHS / 4] = 1 << 16; /* U-Boot read it at both edges of the clock */
    fake.is_emmc = true;
    fake.ext_csd[196] = 7;
    fake.ext_csd[213] = 0x10;
    fake.ext_csd[215] = 0x01;
}

/* CMD8 and CMD55 are not answered. */
static void test_emmc(void)
{
    struct dw_mmc_setup setup;

    power_up_emmc();
    setup = dw_setup();
    OK(open_with(&setup, true) == ERR_OK && d->device.error_message == NULL,
       "an eMMC opens after CMD8 and CMD55 failed: %s", error_message());
    OK(d->card.facts.is_emmc && d->card.bits == 4 && d->card.timing == SD_TIMING_HIGH &&
           f.card_hz == 49500000,
       "the card has 4 bits and high speed");
    OK(reads(50, 300, 64), "sectors are read with 4 bits and high speed");
    fake.garbled = 1;
    OK(reads(51, 300, 64) && d->card.n_errors == 1, "the card is read after an error");
}

/* ---- failed commands ---- */

static void test_recovers(const char *name, uint32_t bits)
{
    unsigned identified = fake_sd_count(&fake, 2), errors = d->card.n_errors;

    f.inject = bits;
    OK(reads(3, 2, 0) && d->card.n_errors == errors + 1, "%s: the next try succeeds", name);
    OK(fake_sd_count(&fake, 2) == identified && f.card_hz == 49500000,
       "%s: the card keeps its state, and its clock comes back as it was", name);
}

static void test_faults(void)
{
    power_up(HCON_32, RAM_AT);
    (void)open_plain();
    test_recovers("no response", DW_RESPONSE_TIMEOUT);
    test_recovers("a response with a wrong CRC", DW_RESPONSE_CRC);
    test_recovers("a response with an error", DW_RESPONSE_ERROR);
    test_recovers("no data", DW_DATA_TIMEOUT);
    test_recovers("data with a wrong CRC", DW_DATA_CRC);
    fake.garbled = 1;
    test_recovers("data with a wrong CRC that holds the lines", 0);
    fake.late = 1;
    test_recovers("data that never came", 0);
    f.sticky = 4;
    d->host.host.ops->stop(&d->host.host);
    OK(f.runs && f.card_hz == 49500000, "the card has its clock after a DMA that does not reset");
    f.sticky = 0;
    OK(reads(3, 2, 0), "a card whose DMA does not reset is read");
    f.card_holds = true;
    d->host.host.ops->stop(&d->host.host);
    OK(f.runs && f.card_hz == 49500000, "a card that holds its data lines has its clock, too");
    f.card_holds = false;
    OK(reads(3, 2, 0), "the card is read when it releases its data lines");
}

static void test_absent(void)
{
    power_up(HCON_32, RAM_AT);
    f.sticky = 1;
    OK(open_plain() == ERR_TIMEOUT, "a controller that does not reset is a timeout");
    power_up(HCON_32, RAM_AT);
    f.regs[DW_VERID / 4] = 0;
    OK(open_plain() == ERR_NO_DEVICE, "a controller that is not there is not a device");
    power_up(HCON_32, RAM_AT);
    fake.is_silent = true;
    OK(open_plain() == ERR_OK && d->device.error_message != NULL,
       "an empty slot has its error message: %s", error_message());
}

/* ---- paths of the data ---- */

static void test_path(const char *name, uint32_t hcon, uint64_t at, bool dma)
{
    unsigned many = dma ? 1024 : 40;

    power_up(hcon, at);
    OK(open_plain() == ERR_OK && d->device.error_message == NULL, "%s: the card starts: %s", name,
       error_message());
    f.n_dma = f.n_pio = 0;
    OK(reads(10, 1, 64) && reads(200, many, 128), "%s: a sector and %u are read", name, many);
    OK((f.n_dma > 0) == dma && (f.n_pio > 0) == !dma, "%s: the data are moved by the %s", name,
       dma ? "controller" : "core");
}

static void test_paths(void)
{
    struct dw_mmc_setup setup;

    test_path("32-bit addresses", HCON_32, RAM_AT, true);
    test_path("32-bit addresses, memory beyond", HCON_32, beyond_4_gib, false);
    test_path("64-bit addresses", HCON_64, RAM_AT, true);
    test_path("64-bit addresses, memory beyond 4 GiB", HCON_64, beyond_4_gib, true);
    test_path("no internal DMA", HCON_32 | DW_HCON_NO_DMA, RAM_AT, false);

    power_up(HCON_32, RAM_AT);
    setup = dw_setup();
    setup.window.end = (uintptr_t)world + BUFFER_AT + 4096;
    (void)open_with(&setup, false);
    f.n_dma = f.n_pio = 0;
    OK(reads(1, 16, 0) && f.n_dma == 0 && f.n_pio == 1, "the core moves memory beyond the window");
}

static uint64_t end_of_dma(uint32_t hcon, uint64_t window_end)
{
    struct dw_mmc_setup setup;

    power_up(hcon, RAM_AT);
    setup = dw_setup();
    setup.window.end = window_end;
    (void)open_with(&setup, false);
    return d->device.dma_end;
}

/* The device that the storage puts behind a bounce. */
static void test_ends(void)
{
    const uint64_t world_end = (uintptr_t)world + WORLD_BYTES;
    const uint64_t end_of_32_bits = (uintptr_t)world + (((uint64_t)1 << 32) - RAM_AT);

    OK(end_of_dma(HCON_32, world_end) == world_end, "DMA ends where the window does");
    OK(end_of_dma(HCON_32, UINT64_MAX) == end_of_32_bits, "DMA ends with addresses of 32 bits");
    OK(end_of_dma(HCON_64, UINT64_MAX) == UINT64_MAX,
       "without the limit of 32 bits, DMA reaches all addresses");
    OK(end_of_dma(HCON_32 | DW_HCON_NO_DMA, world_end) == 0, "without DMA, addresses have no end");
}

/* ---- a controller that does not look into caches ---- */

/* Finds the event of the last command with data. */
static unsigned data_command(void)
{
    unsigned i = dma_log.n;

    while (i-- > 0)
        if (dma_log.events[i].kind == DMA_REGISTER && dma_log.events[i].at == DW_CMD &&
            (dma_log.events[i].value & DW_HAS_DATA))
            return i;
    return 0;
}

static void test_flushes(const char *name, uint32_t n)
{
    uint8_t *at = world + BUFFER_AT + DMA_LOG_LINE;
    unsigned command;
    enum err e;

    memset(at, 0x5a, n * 512); /* dirty lines */
    dma_log.n = 0;
    e = transfer(20, n, DMA_LOG_LINE);
    command = data_command();
    OK(e == ERR_OK && dma_log.n < DMA_LOG_EVENTS && command > 0, "%s: %u sectors are read", name,
       n);
    OK(dma_log_flushed(at, n * 512, 0, command), "%s: the data are flushed before the command",
       name);
    OK(dma_log_flushed(&d->host.table, sizeof d->host.table, 0, command),
       "%s: the descriptors are flushed before the command", name);
    OK(dma_log_flushed(at, n * 512, command, dma_log.n),
       "%s: the data are flushed after the command", name);
}

static bool has_come(uint32_t n)
{
    const uint8_t *at = world + BUFFER_AT + DMA_LOG_LINE;

    for (uint32_t i = 0; i < n * 512; i++)
        if (at[i] != fake_sd_byte(20 + i / 512, i % 512))
            return false;
    return true;
}

static void test_caches(const char *name, uint32_t hcon, uint64_t at)
{
    struct dw_mmc_setup setup;

    power_up(hcon, at);
    setup = dw_setup();
    setup.window.coherent = false;
    (void)open_with(&setup, false);
    hide_world();
    test_flushes(name, 1);
    OK(has_come(1), "%s: a sector has come to the cores", name);
    test_flushes(name, 1024);
    OK(has_come(1024), "%s: 512 KiB have come to the cores", name);
}

/* Coherent, too: descriptors are written before the command that uses them. */
static void test_order(void)
{
    unsigned command;

    power_up(HCON_32, RAM_AT);
    (void)open_plain();
    dma_log.n = 0;
    (void)transfer(5, 4, 0);
    command = data_command();
    OK(command > 0 && dma_log.events[command - 1].kind == DMA_ORDERED,
       "a barrier stands before the command");
    OK(dma_log.events[dma_log.n - 1].kind == DMA_ORDERED,
       "a barrier stands before the data is used");
}

int main(void)
{
    test_card();
    test_old_card();
    test_emmc();
    test_faults();
    test_absent();
    test_paths();
    test_ends();
    test_caches("32 bits, not coherent", HCON_32, RAM_AT);
    test_caches("64 bits, not coherent", HCON_64, beyond_4_gib);
    test_order();
    return tap_done();
}
