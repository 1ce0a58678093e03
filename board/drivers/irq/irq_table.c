/* Which function has taken which line. The table is bounded and searched from its start: a
 * machine has two or three devices that interrupt. */
#include <stdbool.h>
#include <stddef.h>

#include "board/interrupt.h"
#include "board/isa.h"

static struct irq_table {
    const struct irq_controller *controller; /* NULL: none was found */
    void *state;                             /* the controller's */
    struct irq_taken {
        uint32_t line;
        void (*fn)(void *context);
        void *context;
    } taken[IRQ_MAX_TAKEN];
    unsigned n_taken;
    bool serves; /* core 0 takes interrupts */
} irq_table;

void irq_attach(const struct irq_controller *controller, void *state)
{
    irq_table.controller = controller;
    irq_table.state = state;
}

void irq_deliver(uint32_t line)
{
    for (unsigned i = 0; i < irq_table.n_taken; i++)
        if (irq_table.taken[i].line == line)
            irq_table.taken[i].fn(irq_table.taken[i].context);
}

static void serve(void *context)
{
    (void)context;
    irq_table.controller->serve(irq_table.state);
}

static bool is_taken(uint32_t line)
{
    for (unsigned i = 0; i < irq_table.n_taken; i++)
        if (irq_table.taken[i].line == line)
            return true;
    return false;
}

/* The entry is whole before the controller may deliver to it. */
static enum err add(uint32_t line, void (*fn)(void *context), void *context)
{
    bool on = core_interrupts_mask();
    enum err e;

    irq_table.taken[irq_table.n_taken++] = (struct irq_taken){ line, fn, context };
    e = irq_table.controller->enable(irq_table.state, line);
    if (e != ERR_OK)
        irq_table.n_taken--;
    core_interrupts_restore(on);
    return e;
}

enum err irq_take(uint32_t line, void (*fn)(void *context), void *context)
{
    enum err e;

    if (irq_table.controller == NULL)
        return ERR_NO_DEVICE;
    if (is_taken(line))
        return ERR_BAD_ARGUMENT;
    if (irq_table.n_taken == IRQ_MAX_TAKEN)
        return ERR_NO_SPACE;
    e = add(line, fn, context);
    if (e != ERR_OK || irq_table.serves)
        return e;
    irq_table.serves = true;
    core_interrupts_on(serve, NULL);
    return ERR_OK;
}
