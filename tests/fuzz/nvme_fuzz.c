/* Any bytes as the answers of an NVMe controller: its identify pages, then completions. The driver
 * refuses it or keeps its books: a request ends once, and its slot is free from then on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board/drivers/block/nvme_registers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REQUESTS = NVME_DEPTH, ROUNDS = 8, LBAF_BYTES = 64, BUFFER_BYTES = 64 << 10 };

static struct nvme driver;
static struct block_device device;
static _Alignas(64) uint8_t buffer[REQUESTS][BUFFER_BYTES];

static struct fake {
    const uint8_t *at, *end;
    uint8_t pages[2][NVME_PAGE];
    uint32_t cc, admin_done, admin_seen, io_done;
    uint64_t now;
} fake;

static uint8_t take(void)
{
    return fake.at < fake.end ? *fake.at++ : 0;
}

void dma_barrier(void)
{
}

size_t dma_cache_line_bytes(void)
{
    return 64;
}

void dma_flush_line(uintptr_t line)
{
    (void)line;
}

void dma_flush_end(void)
{
}

uint32_t nvme_read(const struct nvme *n, unsigned reg)
{
    (void)n;
    if (reg == NVME_CAP)
        return 1u << 24 | 1023;
    if (reg == NVME_CAP + 4)
        return 1u << 5;
    return reg == NVME_CC ? fake.cc : fake.cc & CC_ENABLE;
}

static void obey_admin(const struct nvme_command *c)
{
    struct nvme_completion *done = &driver.admin_completions[fake.admin_done % NVME_ADMIN];

    if (c->opcode == ADMIN_IDENTIFY)
        memcpy(driver.identify, fake.pages[c->dword10 & 1], NVME_PAGE);
    *done = (struct nvme_completion){ .id = c->id,
                                      .status = (uint16_t)(fake.admin_done / NVME_ADMIN % 2 == 0) };
    fake.admin_done++;
}

/* The bytes are the controller's whole answer, with its phase. */
static void answer(void)
{
    uint8_t *entry = (uint8_t *)&driver.completions[fake.io_done++ % NVME_ENTRIES];

    for (size_t i = 0; i < sizeof(struct nvme_completion); i++)
        entry[i] = take();
}

void nvme_write(const struct nvme *n, unsigned reg, uint32_t value)
{
    (void)n;
    if (reg == NVME_CC) {
        fake.cc = value;
        fake.admin_done = fake.admin_seen = fake.io_done = 0;
    } else if (reg == NVME_DOORBELLS) {
        obey_admin(&driver.admin_commands[fake.admin_seen++ % NVME_ADMIN]);
    } else if (reg == NVME_DOORBELLS + 8) {
        answer();
    }
}

static uint64_t ticks(void)
{
    return fake.now += 1000;
}

static void read_pages(void)
{
    static const unsigned controller[] = { 77, 512, 513, 525 }, space[] = { 25, 26, 29, 99 };

    for (unsigned i = 0; i < 4; i++) {
        fake.pages[IDENTIFY_CONTROLLER][controller[i]] = take();
        fake.pages[IDENTIFY_NAMESPACE][space[i]] = take();
    }
    for (unsigned i = 0; i < 8; i++)
        fake.pages[IDENTIFY_NAMESPACE][i] = take();
    for (unsigned i = 0; i < LBAF_BYTES; i++)
        fake.pages[IDENTIFY_NAMESPACE][128 + i] = take();
}

static void check(const struct block_request *r, unsigned n, const bool *taken)
{
    uint32_t open = 0;

    for (unsigned i = 0; i < n; i++)
        open += taken[i] && !r[i].done;
    if (open != driver.in_flight)
        abort();
}

static void ask(void)
{
    struct block_request r[REQUESTS];
    bool taken[REQUESTS];

    for (unsigned i = 0; i < REQUESTS; i++) {
        uint32_t n = take() % (BUFFER_BYTES / SECTOR_BYTES);
        r[i] = (struct block_request){
            .sector = take(), .n_sectors = n, .buffer = buffer[i], .write = take() & 1
        };
        taken[i] = device.submit(&device, &r[i]) == ERR_OK;
    }
    for (unsigned i = 0; i < 2 * REQUESTS; i++) {
        (void)device.poll(&device);
        check(r, REQUESTS, taken);
    }
    (void)device.reset(&device);
    check(r, REQUESTS, taken);
    for (unsigned i = 0; i < REQUESTS; i++)
        if (taken[i] && !r[i].done)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nvme_setup setup = {
        .mmio = 0x10000000, .window = { 0, UINT64_MAX, true }, .ticks = ticks, .ticks_hz = 1000000
    };

    memset(&fake, 0, sizeof fake);
    fake.at = data;
    fake.end = data + size;
    read_pages();
    if (nvme_open(&driver, &setup, &device) != ERR_OK || device.error_message != NULL)
        return 0;
    if (device.max_sectors == 0 || device.n_sectors == 0)
        abort();
    for (unsigned round = 0; round < ROUNDS && fake.at < fake.end; round++)
        ask();
    return 0;
}
