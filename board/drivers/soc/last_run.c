#include "board/drivers/soc/last_run.h"

#include <string.h>

#include "board/drivers/dma/dma.h"
#include "board/isa.h"
#include "board/min_max.h"

enum { PAGE = 4096 };

#define RECORD_MAGIC 0x4e55524cu

enum record_state { RECORD_RUNS = 1, RECORD_ENDED, RECORD_RESTARTS };

struct record {
    uint32_t magic, check, state, armed, millis;
    char doing[BOARD_DOING_BYTES];
};

/* The record has its own page, which is mapped uncached, because a reset would lose a dirty
 * line. */
static union {
    struct record record;
    uint8_t page[PAGE];
} kept __attribute__((aligned(PAGE), section(".kept")));

static bool usable; /* the page is mapped */

static uint32_t checksum(const struct record *record)
{
    const uint8_t *bytes = (const uint8_t *)&record->state;
    const uint8_t *end = (const uint8_t *)(record + 1);
    uint32_t sum = 0;

    while (bytes < end)
        sum = sum * 31 + *bytes++;
    return sum;
}

/* Complete the record. Stores to uncached memory may wait in a buffer of the core; the barrier puts
 * them into memory before a register ends the run or arms the watchdog. */
static void seal(void)
{
    kept.record.check = checksum(&kept.record);
    dma_barrier();
}

static enum board_run_end end_of(const struct record *record, bool fired)
{
    if (record->state == RECORD_RESTARTS)
        return BOARD_RUN_RESTARTED;
    return record->armed != 0 && fired ? BOARD_RUN_HUNG : BOARD_RUN_RESET;
}

void last_run_open(struct board_last_run *last, bool fired)
{
    struct record *record = &kept.record;

    memset(last, 0, sizeof *last);
    usable = mmu_map((uintptr_t)&kept, sizeof kept, MAP_UNCACHED) == ERR_OK;
    if (!usable)
        return;
    /* After a loss of power the memory has arbitrary contents, which the checksum detects. */
    if (record->magic == RECORD_MAGIC && record->check == checksum(record) &&
        record->state != RECORD_ENDED) {
        last->end = end_of(record, fired);
        last->armed = record->armed != 0;
        last->alive_millis = record->millis;
        memcpy(last->doing, record->doing, sizeof last->doing);
        last->doing[sizeof last->doing - 1] = '\0';
    }
    memset(record, 0, sizeof *record);
    record->magic = RECORD_MAGIC;
    record->state = RECORD_RUNS;
    last_run_doing("starting", false);
}

void last_run_alive(uint32_t millis)
{
    if (!usable)
        return;
    kept.record.millis = millis;
    seal();
}

void last_run_doing(const char *doing, bool armed)
{
    size_t bytes = strlen(doing);

    if (!usable)
        return;
    bytes = min_size(bytes, sizeof kept.record.doing - 1);
    memset(kept.record.doing, 0, sizeof kept.record.doing);
    memcpy(kept.record.doing, doing, bytes);
    kept.record.armed = armed;
    seal();
}

void last_run_close(bool restarting)
{
    if (!usable)
        return;
    kept.record.state = restarting ? RECORD_RESTARTS : RECORD_ENDED;
    seal();
}
