/* The lines of a GIC for one core, as its distributor and interface show them: enabled, pending by
 * level or latched, active; and firmware that used it before. gic_v2_test.c and gic_v3_test.c add
 * the registers. Offsets up to 0xc00 are the same in all versions (IHI 0048 4.3, IHI 0069 12.9). */
#ifndef INGOT_TESTS_UNIT_FAKE_GIC_H
#define INGOT_TESTS_UNIT_FAKE_GIC_H

#include "board/drivers/irq/gic.h"
#include "board/drivers/irq/irq_table.c"
#include "tests/unit/board/fakes/fake_core.h"

enum { FAKE_LINES = 192, WORDS = FAKE_LINES / 32, NONE = 1023, IDLE = 0x100 };
enum {
    SET_ENABLE = 0x100,
    CLEAR_ENABLE = 0x180,
    SET_PENDING = 0x200,
    CLEAR_PENDING = 0x280,
    SET_ACTIVE = 0x300,
    CLEAR_ACTIVE = 0x380
};

static struct fake_gic {
    uint32_t enabled[WORDS], latched[WORDS], active[WORDS], wire[WORDS];
    bool forwards;    /* the distributor */
    bool interrupts;  /* the interface */
    uint32_t running; /* an interrupt was taken and not ended, so it holds back all others (APR) */
    uint32_t ends;    /* without a taking */
} g;

static inline void gic_fake_wire(uint32_t line, bool on)
{
    g.wire[line / 32] &= ~(1u << line % 32);
    if (on)
        g.wire[line / 32] |= 1u << line % 32;
}

static inline bool gic_fake_is_on(uint32_t line)
{
    return (g.enabled[line / 32] >> line % 32 & 1) != 0;
}

static inline uint32_t gic_fake_first(void)
{
    for (unsigned i = 0; i < WORDS && g.forwards && g.interrupts && g.running == 0; i++) {
        uint32_t word = (g.latched[i] | g.wire[i]) & g.enabled[i] & ~g.active[i];

        if (word != 0)
            return 32 * i + (uint32_t)__builtin_ctz(word);
    }
    return NONE;
}

static bool gic_fake_pending(void)
{
    return gic_fake_first() != NONE;
}

static inline uint32_t gic_fake_take(void)
{
    uint32_t line = gic_fake_first();

    if (line == NONE)
        return NONE;
    g.latched[line / 32] &= ~(1u << line % 32);
    g.active[line / 32] |= 1u << line % 32;
    g.running = 1;
    return line;
}

static inline void gic_fake_end(uint32_t line)
{
    if (line >= FAKE_LINES || (g.active[line / 32] >> line % 32 & 1) == 0) {
        g.ends++;
        return;
    }
    g.active[line / 32] &= ~(1u << line % 32);
    g.running = 0;
}

/* Registers with a bit for each line. `to`: how many words of lines the register file has, from
 * `from` on. */
static inline uint32_t *gic_fake_word(unsigned offset, unsigned *kind, unsigned from, unsigned to)
{
    unsigned word = offset % 0x80 / 4;

    *kind = offset & ~0x7fu;
    if (word < from || word >= to)
        return NULL;
    if (*kind == SET_ENABLE || *kind == CLEAR_ENABLE)
        return &g.enabled[word];
    if (*kind == SET_PENDING || *kind == CLEAR_PENDING)
        return &g.latched[word];
    return *kind == SET_ACTIVE || *kind == CLEAR_ACTIVE ? &g.active[word] : NULL;
}

static inline uint32_t gic_fake_read_lines(unsigned offset, unsigned from, unsigned to)
{
    unsigned kind;
    const uint32_t *word = gic_fake_word(offset, &kind, from, to);

    return word != NULL ? *word : 0;
}

static inline void gic_fake_write_lines(unsigned offset, uint32_t value, unsigned from, unsigned to)
{
    unsigned kind;
    uint32_t *word = gic_fake_word(offset, &kind, from, to);

    if (word == NULL)
        return;
    if (kind == SET_ENABLE || kind == SET_PENDING || kind == SET_ACTIVE)
        *word |= value;
    else
        *word &= ~value;
}

/* Sets the state that firmware left: a line on and asserted, one latched, the UART's taken and
 * never ended, the core's timer on and asserted, a wake-up of its own pending, and a running
 * priority. */
enum { LEFT_ASSERTED = 41, LEFT_LATCHED = 150, LEFT_TIMER = 30, LEFT_SGI = 5, UART = 153 };

static inline void gic_fake_begin(void)
{
    memset(&core, 0, sizeof core);
    memset(&irq_table, 0, sizeof irq_table);
    memset(&g, 0, sizeof g);
    core.pending = gic_fake_pending;
    fake_mmio.settle = core_settle;
    g.forwards = g.interrupts = true;
    for (unsigned i = 0; i < 4; i++) {
        static const uint32_t left[] = { LEFT_ASSERTED, LEFT_LATCHED, LEFT_TIMER, LEFT_SGI };

        g.enabled[left[i] / 32] |= 1u << left[i] % 32;
    }
    gic_fake_wire(LEFT_ASSERTED, true);
    gic_fake_wire(LEFT_TIMER, true);
    g.latched[LEFT_LATCHED / 32] |= 1u << LEFT_LATCHED % 32;
    g.latched[0] |= 1u << LEFT_SGI;
    g.active[UART / 32] |= 1u << UART % 32;
    g.running = 1;
}

static unsigned uart_served;

static bool serve_uart(void *context)
{
    (void)context;
    uart_served++;
    gic_fake_wire(UART, false);
    return true;
}

/* Does the same for every version. */
static inline void gic_fake_test(struct gic *gic)
{
    uint32_t line = 0;

    gic_fake_begin();
    uart_served = 0;
    OK(gic_init(gic) == ERR_OK, "the controller is taken over from firmware");
    gic_listen();
    OK(irq_take(UART, serve_uart, NULL) == ERR_OK && !core.endless && core.taken == 0,
       "no interrupt that firmware left on reaches us (%u)", core.taken);
    OK(!gic_fake_is_on(LEFT_ASSERTED) && !gic_fake_is_on(LEFT_LATCHED) &&
           !gic_fake_is_on(LEFT_TIMER) && gic_fake_is_on(GIC_WAKE_UP) && irq_strays(&line) == 0,
       "the lines that firmware left on were turned off before, and the wake-up is on");
    gic_fake_wire(UART, true);
    core_settle();
    OK(uart_served == 1 && core.taken == 1,
       "a line that firmware had taken and not ended interrupts (%u)", uart_served);
    g.enabled[LEFT_ASSERTED / 32] |= 1u << LEFT_ASSERTED % 32; /* another world has its reasons */
    gic_fake_wire(UART, true);
    core_settle();
    OK(!core.endless && uart_served == 2, "a line that nobody took does not keep the core (%u)",
       core.taken);
    OK(irq_strays(&line) == 1 && line == LEFT_ASSERTED && !gic_fake_is_on(LEFT_ASSERTED),
       "the line is disabled, and counted");
    g.enabled[0] |= 1u << LEFT_TIMER;
    core_settle();
    OK(!core.endless && irq_strays(&line) == 2 && line == LEFT_TIMER && !gic_fake_is_on(LEFT_TIMER),
       "a stray interrupt of the core's own is disabled and counted");
    g.latched[0] |= 1u << GIC_WAKE_UP;
    core_settle();
    OK(!core.endless && irq_strays(&line) == 2 && gic_fake_is_on(GIC_WAKE_UP),
       "a wake-up is not counted as a stray interrupt");
    OK(g.ends == 0, "every interrupt that is taken is ended");
}

#endif
