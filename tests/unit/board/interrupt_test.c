/* Interrupts taken by line: a fake controller that raises them, and every error. */
#include <string.h>

#include "board/drivers/irq/irq_table.c"
#include "tests/unit/tap.h"

enum { REFUSED = 99, NO_LINE = 1000 };

static struct fake {
    uint32_t enabled[IRQ_MAX_TAKEN + 2], pending[4], disabled;
    unsigned n_enabled, n_pending, n_disabled;
    bool timer_on, timer_reaches, asserted;
    bool masked, masked_while_enabling;
    void (*handler)(void *context);
    void *context;
    unsigned n_on;
} fake;

bool core_interrupts_mask(void)
{
    bool was = !fake.masked;

    fake.masked = true;
    return was;
}

void core_interrupts_restore(bool on)
{
    fake.masked = fake.masked && !on;
}

void core_interrupts_on(void (*handler)(void *context), void *context)
{
    fake.handler = handler;
    fake.context = context;
    fake.n_on++;
}

bool core_interrupt_pending(void)
{
    return fake.asserted || (fake.timer_on && fake.timer_reaches);
}

void core_timer_start(uint64_t ticks)
{
    (void)ticks;
    fake.timer_on = true;
}

void core_timer_stop(void)
{
    fake.timer_on = false;
}

static enum err enable(void *state, uint32_t line)
{
    struct fake *f = state;

    f->masked_while_enabling = f->masked;
    if (line == REFUSED)
        return ERR_UNSUPPORTED;
    if (line >= NO_LINE)
        return ERR_NO_DEVICE;
    f->enabled[f->n_enabled++] = line;
    return ERR_OK;
}

static void fake_serve(void *state)
{
    struct fake *f = state;

    while (f->n_pending != 0)
        irq_deliver(f->pending[--f->n_pending]);
}

static void disable(void *state, uint32_t line)
{
    struct fake *f = state;

    f->disabled = line;
    f->n_disabled++;
}

static const struct irq_controller controller = {
    .enable = enable,
    .disable = disable,
    .serve = fake_serve,
    .timer_line = 27,
};

static void fire(uint32_t line)
{
    fake.pending[fake.n_pending++] = line;
    fake.handler(fake.context);
}

static bool count(void *context)
{
    ++*(unsigned *)context;
    return true;
}

/* A device whose interrupts mean nothing, now and then. */
static bool count_vainly(void *context)
{
    return ++*(unsigned *)context % (2 * IRQ_MOST_VAIN) == IRQ_MOST_VAIN;
}

static void begin(void)
{
    memset(&fake, 0, sizeof fake);
    memset(&irq_table, 0, sizeof irq_table);
    irq_attach(&controller, &fake);
}

static void test_delivery(void)
{
    unsigned uart = 0, card = 0;

    begin();
    OK(irq_take(33, count, &uart) == ERR_OK && fake.enabled[0] == 33 && fake.n_on == 1,
       "a line is enabled, and the core takes interrupts");
    OK(fake.masked_while_enabling && !fake.masked, "interrupts are masked while a line is enabled");
    OK(irq_take(7, count, &card) == ERR_OK && fake.n_on == 1,
       "a second interrupt shares the handler");
    fire(33);
    fire(7);
    fire(7);
    OK(uart == 1 && card == 2, "each interrupt gets its own handler");
    fire(500);
    OK(uart == 1 && card == 2 && fake.n_disabled == 1 && fake.disabled == 500,
       "a line that nobody has taken is disabled");
    fake.pending[fake.n_pending++] = 7;
    fire(33);
    OK(uart == 2 && card == 3, "two interrupts at once are both handled");
}

static void test_errors(void)
{
    unsigned n = 0;

    memset(&irq_table, 0, sizeof irq_table);
    OK(irq_take(1, count, &n) == ERR_NO_DEVICE, "without a controller no interrupt is taken");
    begin();
    OK(irq_take(NO_LINE, count, &n) == ERR_NO_DEVICE && fake.n_on == 0,
       "an invalid line does not change the core's state");
    OK(irq_take(REFUSED, count, &n) == ERR_UNSUPPORTED,
       "a line that the controller refuses is unsupported");
    OK(irq_take(1, count, &n) == ERR_OK, "a line is taken after a refused one");
    OK(irq_take(1, count, &n) == ERR_BAD_ARGUMENT, "taking a line twice is refused");
    fire(REFUSED);
    OK(n == 0, "a refused line never calls its handler");
    for (uint32_t line = 2; line <= IRQ_MAX_TAKEN; line++)
        if (irq_take(line, count, &n) != ERR_OK)
            n = 1000;
    OK(n == 0 && irq_take(50, count, &n) == ERR_NO_SPACE, "%d lines are taken, and no more",
       IRQ_MAX_TAKEN);
    fire(IRQ_MAX_TAKEN);
    OK(n == 1, "the last of the lines is delivered");
}

static void test_strays(void)
{
    unsigned vain = 0;
    uint32_t line = 0;

    begin();
    (void)irq_take(33, count_vainly, &vain);
    OK(irq_strays(&line) == 0, "no stray interrupt is counted yet");
    fire(500);
    OK(irq_strays(&line) == 1 && line == 500, "one stray interrupt is counted, with its line");
    while (vain < 2 * IRQ_MOST_VAIN + IRQ_MOST_VAIN - 2)
        fire(33);
    OK(irq_strays(&line) == 2 && line == 33 && fake.disabled == 33 && fake.n_disabled == 2,
       "a line that interrupts %d times in a row for nothing is disabled, once", IRQ_MOST_VAIN);
}

static void test_timer(void)
{
    begin();
    OK(irq_take_timer() == ERR_TIMEOUT && !fake.timer_on && fake.enabled[0] == 27,
       "a timer that never comes is found out");
    begin();
    fake.timer_reaches = true;
    OK(irq_take_timer() == ERR_OK && !fake.timer_on && !fake.masked, "a timer that comes is found");
    begin();
    fake.timer_reaches = fake.asserted = true;
    OK(irq_take_timer() == ERR_TIMEOUT, "another interrupt is not taken for the timer's");
}

int main(void)
{
    test_delivery();
    test_strays();
    test_timer();
    test_errors();
    return tap_done();
}
