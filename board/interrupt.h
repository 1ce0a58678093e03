/* Interrupts of devices, for any controller. Only core 0 takes them. */
#ifndef INGOT_BOARD_INTERRUPT_H
#define INGOT_BOARD_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

enum { IRQ_MAX_TAKEN = 16, IRQ_MOST_VAIN = 10000 };

/* From now on call fn(context) on core 0 for every interrupt of that line. The machine's controller
 * numbers the lines: INTIDs of a GIC, sources of a PLIC, interrupts of BCM2835. They are taken at a
 * level: fn makes its device quiet, and is called again while it is not. It returns whether it found
 * something to do; a line on which it finds nothing IRQ_MOST_VAIN times in a row is disabled, since
 * nothing would be left of core 0.
 *
 * fn may come in the middle of a kernel: it uses no floating point, no vectors and 4 KiB of stack
 * (board/isa.h), and no function of the C library. Core 0, after early_init has found a controller.
 *
 * ERR_NO_DEVICE: no controller, or it has no such line; ERR_BAD_ARGUMENT: the line is taken;
 * ERR_NO_SPACE: IRQ_MAX_TAKEN lines are; ERR_UNSUPPORTED: firmware keeps the line for itself;
 * ERR_TIMEOUT: the controller does not answer. After an error fn is never called. */
enum err irq_take(uint32_t line, bool (*fn)(void *context), void *context);

/* Let the timer of core 0 end core_idle (board/isa.h, core_timer_start), and try whether it does.
 * Errors: those of irq_take; ERR_TIMEOUT: it does not. */
enum err irq_take_timer(void);

/* Lines that interrupted and that nobody had taken, or that interrupted for nothing, each time that
 * one was disabled; *line: the last of them. */
uint32_t irq_strays(uint32_t *line);

/* ---- for a controller's driver (board/drivers/irq) ------------------------------------------- */

struct irq_controller {
    /* Pass the line on to core 0, at a level. Errors: those above. */
    enum err (*enable)(void *state, uint32_t line);
    /* Disable it again, on the calling core. It may be called by irq_deliver. */
    void (*disable)(void *state, uint32_t line);
    /* Core 0 was interrupted: irq_deliver() for every line that is pending, with a bound: a line that
     * stays pending interrupts again. */
    void (*serve)(void *state);
    uint32_t timer_line; /* interrupt of core 0's timer; 0: it needs none */
};

/* Make it the machine's controller; both must stay. Core 0, once. */
void irq_attach(const struct irq_controller *controller, void *state);

/* An interrupt of that line: call the function that has taken it. If there is none, firmware has
 * left the line on; it is disabled and counted. Before the controller is told of the end. */
void irq_deliver(uint32_t line);

#endif
