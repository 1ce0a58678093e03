/* The SD host controller's driver: every path of the data, and a controller's reports. */
#include <string.h>

#include "tests/unit/board/fakes/fake_sdhci.h"

/* ---- paths ---- */

static void test_path(const char *name, uint32_t caps, unsigned version, enum sdhci_path path,
                      unsigned descriptor_bytes)
{
    struct sdhci_setup setup = plain_setup();

    power_up(caps, 0, version);
    if (descriptor_bytes > 8)
        setup.window.end = (uintptr_t)world + ((uint64_t)1 << 36);
    OK(open_with(&setup) == ERR_OK && d->device.error_message == NULL, "%s: the card starts", name);
    OK(d->s.descriptor_bytes == descriptor_bytes,
       "%s: the shortest descriptors that reach memory are used", name);
    OK(read_at(10, 1, 64) == ERR_OK && holds(10, 1, 64) && d->s.path == path,
       "%s: a sector is read", name);
    OK(read_at(100, 1024, 128) == ERR_OK && holds(100, 1024, 128) && d->s.path == path,
       "%s: 512 KiB are read across a boundary", name);
    OK(d->device.max_sectors >= 1024, "%s: large requests are allowed", name);
}

static void test_paths(void)
{
    struct sdhci_setup setup = plain_setup();

    test_path("ADMA2", PLAIN_CAPS | CAPABLE_ADMA2, 1, SDHCI_ADMA, 8);
    test_path("ADMA2, 96 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_3, 2, SDHCI_ADMA, 12);
    test_path("ADMA2, 128 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_4, 3, SDHCI_ADMA, 16);
    test_path("SDMA", PLAIN_CAPS | CAPABLE_SDMA, 1, SDHCI_SDMA, 0);
    OK(f.n_dma_stops > 0, "SDMA stops at a boundary");
    test_path("PIO", PLAIN_CAPS & ~(uint32_t)CAPABLE_SDMA, 1, SDHCI_PIO, 0);

    power_up(PLAIN_CAPS | CAPABLE_ADMA2, 0, 1);
    setup.window.coherent = false;
    (void)open_with(&setup);
    OK(read_at(1, 2, 64) == ERR_OK && d->s.path == SDHCI_ADMA,
       "without coherence DMA moves whole lines");
    OK(read_at(1, 2, 16) == ERR_OK && holds(1, 2, 16) && d->s.path == SDHCI_PIO,
       "without coherence the core moves shared lines");
    setup = plain_setup();
    setup.window.end = (uintptr_t)world + BUFFER_AT + 4096;
    (void)open_with(&setup);
    OK(read_at(1, 16, 0) == ERR_OK && holds(1, 16, 0) && d->s.path == SDHCI_PIO,
       "the core moves data that DMA does not reach");
    OK(transfer(4, 16, 0, true) == ERR_OK && fake.has_written && d->s.path == SDHCI_PIO,
       "PIO writes");
    OK(memcmp(fake.written + 4 * 512, world + BUFFER_AT, 16 * 512) == 0,
       "the buffer's contents are written");
    memset(fake.written, 0, sizeof fake.written);
    OK(transfer(9, 8, 0, true) == ERR_OK && d->s.path == SDHCI_ADMA &&
           memcmp(fake.written + 9 * 512, world + BUFFER_AT, 8 * 512) == 0,
       "ADMA2 writes");
}

/* ---- a controller that does not look into caches ---- */

/* Finds the event of the last command with data. */
static unsigned data_command(void)
{
    unsigned i = dma_log.n;

    while (i-- > 0)
        if (dma_log.events[i].kind == DMA_REGISTER && dma_log.events[i].at == SDHCI_TRANSFER &&
            (dma_log.events[i].value & COMMAND_HAS_DATA))
            return i;
    return 0;
}

/* Transfers n sectors from or to line 1 of the buffer. */
static void test_flushes(const char *name, bool write, uint32_t n, bool has_table)
{
    uint8_t *at = world + BUFFER_AT + DMA_LOG_LINE;
    unsigned command;
    enum err e;

    memset(at, 0x5a, n * 512); /* dirty lines */
    dma_log.n = 0;
    e = transfer(20, n, DMA_LOG_LINE, write);
    command = data_command();
    OK(e == ERR_OK && dma_log.n < DMA_LOG_EVENTS && command > 0, "%s: %u sectors are read", name,
       n);
    OK(dma_log_flushed(at, n * 512, 0, command), "%s: the data are flushed before the command",
       name);
    OK(!has_table || dma_log_flushed(d->s.table, sizeof d->s.table, 0, command),
       "%s: the descriptors are flushed before the command", name);
    OK(dma_log_flushed(at, n * 512, command, dma_log.n),
       "%s: the data are flushed after the command", name);
}

/* The card's contents from sector 20 on are where test_flushes reads them to. */
static bool has_come(uint32_t n)
{
    const uint8_t *at = world + BUFFER_AT + DMA_LOG_LINE;

    for (uint32_t i = 0; i < n * 512; i++)
        if (at[i] != fake_sd_byte(20 + i / 512, i % 512))
            return false;
    return true;
}

static void test_caches(const char *name, uint32_t caps, unsigned version, uint64_t reach)
{
    static uint8_t expected[40 * 512];
    struct sdhci_setup setup = plain_setup();
    bool has_table = (caps & CAPABLE_ADMA2) != 0;

    power_up(caps, 0, version);
    setup.window.coherent = false;
    setup.window.end = (uintptr_t)world + reach;
    (void)open_with(&setup);
    hide_world();
    test_flushes(name, false, 1, has_table);
    OK(has_come(1), "%s: a sector has come to the cores", name);
    test_flushes(name, false, 1024, has_table);
    OK(has_come(1024), "%s: 512 KiB have come to the cores", name);
    test_flushes(name, true, 40, has_table);
    memset(expected, 0x5a, sizeof expected);
    OK(memcmp(fake.written + 20 * 512, expected, sizeof expected) == 0,
       "%s: the cores' bytes are on the card", name);
}

static void test_all_caches(void)
{
    test_caches("32 bits", PLAIN_CAPS | CAPABLE_ADMA2, 1, WORLD_BYTES);
    test_caches("96 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_3, 2, (uint64_t)1 << 36);
    test_caches("128 bits", PLAIN_CAPS | CAPABLE_ADMA2 | CAPABLE_64_BITS_4, 3, (uint64_t)1 << 36);
    test_caches("SDMA", PLAIN_CAPS | CAPABLE_SDMA, 1, WORLD_BYTES);
}

/* ---- another DMA engine ---- */

static unsigned mover_polls;
static uint32_t mover_enabled; /* Normal Interrupt Status Enable while the engine works */

static bool mover_start(void *state, uintptr_t port, void *to, uint32_t bytes)
{
    (void)state;
    (void)port;
    if (bytes > 4096)
        return false;
    memcpy(to, f.block, bytes);
    mover_polls = 0;
    mover_enabled = reg(SDHCI_STATUS_ENABLE);
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
    OK(open_with(&setup) == ERR_OK && d->device.error_message == NULL && d->card.hz == 50000000 &&
           !(reg(SDHCI_CONTROL) & CONTROL_HIGH_SPEED),
       "a controller without capabilities opens");
    OK(read_at(7, 8, 0) == ERR_OK && holds(7, 8, 0) && d->s.path == SDHCI_MOVER,
       "another DMA engine moves the data");
    OK((mover_enabled & (STATUS_READABLE | STATUS_TRANSFER)) == STATUS_TRANSFER,
       "Buffer Read Ready is not in the enabled status, as bcm2835-mmc has it");
    OK(read_at(7, 9, 0) == ERR_OK && holds(7, 9, 0) && d->s.path == SDHCI_PIO,
       "the core does what the engine refuses");
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
    OK(sd_host_run(&d->s.host, &c) == expected && c.fault == fault, "%s has its result", name);
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
    test_error(1u << 21 | STATUS_TRANSFER, ERR_IO, SD_FAULT_DATA, "the same at the end");
    test_error(1u << 24, ERR_IO, SD_FAULT_DATA, "Auto CMD12 failed");
    test_error(1u << 25, ERR_IO, SD_FAULT_DMA, "an ADMA error");
    f.inject = 1u << 21;
    OK(read_at(3, 2, 0) == ERR_OK && holds(3, 2, 0) && d->card.n_errors == 1,
       "the block device tries a broken transfer again");
    f.regs[SDHCI_PRESENT / 4] &= ~(uint32_t)PRESENT_INSERTED;
    f.n_commands = 0;
    OK(read_at(3, 2, 0) == ERR_REMOVED && f.n_commands == 0,
       "nothing is sent to a card that was taken out");
    f.regs[SDHCI_PRESENT / 4] |= PRESENT_INSERTED;
    OK(read_at(3, 2, 0) == ERR_OK && holds(3, 2, 0), "a card that is put back is read");
    f.stuck = true;
    OK(read_at(3, 2, 0) == ERR_TIMEOUT, "a controller that does nothing is a timeout");
    power_up(PLAIN_CAPS, 0, 1);
    f.stuck = true;
    OK(open_with(&setup) == ERR_TIMEOUT, "a controller that does not reset is a timeout");
    power_up(0xffffffff, 0, 1);
    OK(open_with(&setup) == ERR_NO_DEVICE, "a controller that is not there is not a device");
    power_up(PLAIN_CAPS, 0, 1);
    f.regs[SDHCI_PRESENT / 4] &= ~(uint32_t)PRESENT_UNLOCKED;
    (void)open_with(&setup);
    OK(d->device.error_message == NULL && !d->device.writable,
       "a slide at \"lock\" keeps writes away");
}

int main(void)
{
    test_paths();
    test_all_caches();
    test_mover();
    test_faults();
    return tap_done();
}
