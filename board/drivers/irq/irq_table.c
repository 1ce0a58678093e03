/* A table of the lines and the functions that handle them. It is short and searched from its start,
 * because a machine has two or three devices that interrupt. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "board/interrupt.h"
#include "board/isa.h"
#include "board/left_out.h"

enum { TIMER_LOOKS = 100000 };

static struct irq_table {
    const struct irq_controller *controller; /* NULL: no controller was found */
    void *state;                             /* the controller's */
    struct irq_taken {
        uint32_t line;
        bool (*fn)(void *context);
        void *context;
        uint32_t vain; /* number of consecutive calls that found nothing to do */
    } taken[IRQ_MAX_TAKEN];
    unsigned n_taken;
    bool serves;                         /* core 0 takes interrupts */
    _Atomic uint32_t strays, stray_line; /* atomic, because every core that wakes up also takes
                                            pending interrupts */
} irq_table;

void irq_attach(const struct irq_controller *controller, void *state)
{
    irq_table.controller = controller;
    irq_table.state = state;
}

/* Disable a line. Ending the interrupt would not suffice: a level interrupt comes again at once. */
static void turn_off(uint32_t line)
{
    irq_table.controller->disable(irq_table.state, line);
    atomic_store(&irq_table.stray_line, line);
    atomic_fetch_add(&irq_table.strays, 1);
}

static struct irq_taken *find_taken(uint32_t line)
{
    for (unsigned i = 0; i < irq_table.n_taken; i++)
        if (irq_table.taken[i].line == line)
            return &irq_table.taken[i];
    return NULL;
}

void irq_deliver(uint32_t line)
{
    struct irq_taken *taken = find_taken(line);

    if (taken == NULL) {
        turn_off(line);
        return;
    }
    taken->vain++;
    if (taken->fn(taken->context))
        taken->vain = 0;
    if (taken->vain == IRQ_MOST_VAIN)
        turn_off(line);
}

uint32_t irq_strays(uint32_t *line)
{
    *line = atomic_load(&irq_table.stray_line);
    return atomic_load(&irq_table.strays);
}

static void serve(void *context)
{
    (void)context;
    irq_table.controller->serve(irq_table.state);
}

/* The entry must be complete before the controller may deliver its interrupt. */
static enum err add(uint32_t line, bool (*fn)(void *context), void *context)
{
    bool on = core_interrupts_mask();
    enum err e;

    irq_table.taken[irq_table.n_taken++] = (struct irq_taken){ line, fn, context, 0 };
    e = irq_table.controller->enable(irq_table.state, line);
    if (e != ERR_OK)
        irq_table.n_taken--;
    core_interrupts_restore(on);
    return e;
}

enum err irq_take(uint32_t line, bool (*fn)(void *context), void *context)
{
    enum err e;

    if (irq_table.controller == NULL)
        return ERR_NO_DEVICE;
    if (find_taken(line) != NULL)
        return ERR_BAD_ARGUMENT;
    if (irq_table.n_taken == IRQ_MAX_TAKEN) {
        left_out_note(LEFT_OUT_INTERRUPTS, 1, 0);
        return ERR_NO_SPACE;
    }
    e = add(line, fn, context);
    if (e != ERR_OK || irq_table.serves)
        return e;
    /* Interrupts are off until the first line is taken. */
    irq_table.serves = true;
    core_interrupts_on(serve, NULL);
    return ERR_OK;
}

static bool timer_fired(void *context)
{
    (void)context;
    core_timer_stop();
    return true;
}

/* Test the timer's interrupt, which firmware, a hypervisor or a wrong group in the controller may
 * block. An interrupt that is already pending would look like the timer's. */
static enum err try_timer(void)
{
    bool on = core_interrupts_mask(), before = core_interrupt_pending(), came = before;

    core_timer_start(0);
    for (unsigned i = 0; !came && i < TIMER_LOOKS; i++)
        came = core_interrupt_pending();
    core_timer_stop();
    core_interrupts_restore(on);
    return err_unless(came && !before, ERR_TIMEOUT);
}

enum err irq_take_timer(void)
{
    enum err e = ERR_OK;

    if (irq_table.controller == NULL)
        return ERR_NO_DEVICE;
    core_timer_stop(); /* firmware may have started it */
    if (irq_table.controller->timer_line != 0)
        e = irq_take(irq_table.controller->timer_line, timer_fired, NULL);
    if (e != ERR_OK)
        return e;
    return try_timer();
}
