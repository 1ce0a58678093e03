/* A controller with one line, for drivers of a UART over board/drivers/irq/irq_table.c. */
#ifndef INGOT_TESTS_UNIT_FAKE_IRQ_H
#define INGOT_TESTS_UNIT_FAKE_IRQ_H

#include "board/drivers/irq/irq_table.c"
#include "tests/unit/board/fakes/fake_core.h"

enum { UART_LINE = 33, WRONG_LINE = 34 };

static struct fake_irq {
    bool (*uart)(void); /* whether the UART asserts its line */
    bool on;
} fake_irq;

static enum err fake_irq_enable(void *state, uint32_t line)
{
    (void)state;
    fake_irq.on = fake_irq.on || line == UART_LINE;
    return ERR_OK;
}

static void fake_irq_disable(void *state, uint32_t line)
{
    (void)state;
    fake_irq.on = fake_irq.on && line != UART_LINE;
}

static bool fake_irq_pending(void)
{
    return fake_irq.on && fake_irq.uart();
}

static void fake_irq_serve(void *state)
{
    (void)state;
    if (fake_irq_pending())
        irq_deliver(UART_LINE);
}

static inline void fake_irq_begin(bool (*uart)(void))
{
    static const struct irq_controller controller = {
        .enable = fake_irq_enable,
        .disable = fake_irq_disable,
        .serve = fake_irq_serve,
    };

    memset(&core, 0, sizeof core);
    memset(&irq_table, 0, sizeof irq_table);
    fake_irq = (struct fake_irq){ .uart = uart };
    core.pending = fake_irq_pending;
    core.timer_reaches = true;
    fake_mmio.settle = core_settle;
    irq_attach(&controller, NULL);
}

#endif
