/* A core in place of boot/<isa>: it masks interrupts, takes them between two accesses to a register,
 * and sleeps; it also is the board's clock. A core that never leaves its handler is stopped and
 * noted. */
#ifndef INGOT_TESTS_UNIT_FAKE_CORE_H
#define INGOT_TESTS_UNIT_FAKE_CORE_H

#include <stdio.h>
#include <stdlib.h>

#include "board/board.h"
#include "board/isa.h"
#include "tests/unit/board/fakes/fake_registers.h"

enum { CORE_MOST_TAKEN = 200, CORE_HZ = 1000000, CORE_TICKS_A_LOOK = 1000 };

static struct fake_core {
    bool masked;
    void (*handler)(void *context);
    void *context;
    bool (*pending)(void); /* whether the controller interrupts the core */
    unsigned taken;        /* interrupts, since the test set it to 0 */
    bool endless;
    bool timer_on, timer_reaches; /* whether it runs; whether the controller passes it on */
    unsigned naps;
    void (*asleep)(void); /* what happens while it sleeps; may be NULL */
    uint64_t now;
    unsigned number; /* of the core that the test is on */
} core;

static inline bool core_is_interrupted(void)
{
    return (core.pending != NULL && core.pending()) || (core.timer_on && core.timer_reaches);
}

static inline void core_settle(void)
{
    while (!core.masked && core.handler != NULL && !core.endless && core_is_interrupted()) {
        core.endless = ++core.taken >= CORE_MOST_TAKEN;
        core.masked = true;
        core.handler(core.context);
        core.masked = false;
    }
}

bool core_interrupts_mask(void)
{
    bool was = !core.masked;

    core.masked = true;
    return was;
}

void core_interrupts_restore(bool on)
{
    core.masked = core.masked && !on;
    core_settle();
}

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    core.handler = handler;
    core.context = context;
    core_settle();
}

bool core_interrupt_pending(void)
{
    return core_is_interrupted();
}

void core_timer_start(uint64_t ticks)
{
    (void)ticks;
    core.timer_on = true;
}

void core_timer_stop(void)
{
    core.timer_on = false;
}

void core_idle(void)
{
    core.naps++;
    if (core.asleep != NULL)
        core.asleep();
    if (core_is_interrupted())
        return;
    printf("not ok - the core sleeps, and nothing will ever end it\n1..1\n");
    exit(1);
}

unsigned core_number(void)
{
    return core.number;
}

uint64_t core_hardware_id(void)
{
    return 0;
}

void core_wait(const _Atomic uint32_t *word, uint32_t old)
{
    (void)word;
    (void)old;
}

void core_wake(const _Atomic uint32_t *word)
{
    (void)word;
}

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    (void)base;
    (void)bytes;
    (void)mapping;
    return ERR_OK;
}

static uint64_t fake_ticks(void)
{
    return core.now += CORE_TICKS_A_LOOK;
}

static uint64_t fake_hz(void)
{
    return CORE_HZ;
}

const struct board board = { .name = "fake", .ticks = fake_ticks, .ticks_hz = fake_hz };

#endif
