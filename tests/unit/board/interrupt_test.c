/* Interrupts taken by line: a fake controller that fires, and every error. */
#include <string.h>

#include "board/drivers/irq/irq_table.c"
#include "tests/unit/tap.h"

enum { REFUSED = 99, NO_LINE = 1000 };

static struct fake {
    uint32_t enabled[IRQ_MAX_TAKEN + 2], pending[4];
    unsigned n_enabled, n_pending;
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

static const struct irq_controller controller = { .enable = enable, .serve = fake_serve };

static void fire(uint32_t line)
{
    fake.pending[fake.n_pending++] = line;
    fake.handler(fake.context);
}

static void count(void *context)
{
    ++*(unsigned *)context;
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
    OK(fake.masked_while_enabling && !fake.masked, "with interrupts masked meanwhile");
    OK(irq_take(7, count, &card) == ERR_OK && fake.n_on == 1, "a second one, on the same handler");
    fire(33);
    fire(7);
    fire(7);
    OK(uart == 1 && card == 2, "each gets its own");
    fire(500);
    OK(uart == 1 && card == 2, "a line that nobody has taken is dropped");
    fake.pending[fake.n_pending++] = 7;
    fire(33);
    OK(uart == 2 && card == 3, "two at once");
}

static void test_errors(void)
{
    unsigned n = 0;

    memset(&irq_table, 0, sizeof irq_table);
    OK(irq_take(1, count, &n) == ERR_NO_DEVICE, "no controller");
    begin();
    OK(irq_take(NO_LINE, count, &n) == ERR_NO_DEVICE && fake.n_on == 0,
       "no such line: the core is left as it was");
    OK(irq_take(REFUSED, count, &n) == ERR_UNSUPPORTED, "a line that the controller refuses");
    OK(irq_take(1, count, &n) == ERR_OK, "after which one is taken");
    OK(irq_take(1, count, &n) == ERR_BAD_ARGUMENT, "twice is refused");
    fire(REFUSED);
    OK(n == 0, "a refused line never calls");
    for (uint32_t line = 2; line <= IRQ_MAX_TAKEN; line++)
        if (irq_take(line, count, &n) != ERR_OK)
            n = 1000;
    OK(n == 0 && irq_take(50, count, &n) == ERR_NO_SPACE, "%d lines, and no more", IRQ_MAX_TAKEN);
    fire(IRQ_MAX_TAKEN);
    OK(n == 1, "the last of them is delivered");
}

int main(void)
{
    test_delivery();
    test_errors();
    return tap_done();
}
