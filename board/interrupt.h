/* Interrupts of devices, with any interrupt controller. Only core 0 takes interrupts. */
#ifndef INGOT_BOARD_INTERRUPT_H
#define INGOT_BOARD_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"

enum { IRQ_MAX_TAKEN = 16, IRQ_MOST_VAIN = 10000 };

/* From now on call fn(context) on core 0 for every interrupt of that line. The machine's controller
 * numbers the lines: INTIDs of a GIC, sources of a PLIC, interrupts of BCM2835.
 * Lines are level-triggered: fn must make its device end the interrupt, or fn is called
 * again. fn returns true if it found something to do. If fn finds nothing IRQ_MOST_VAIN
 * times in a row, the line is disabled, because it would keep core 0 busy. fn may
 * interrupt a kernel, so it uses no floating point, no vectors, no function of the C
 * library, and at most 4 KiB of stack (board/isa.h). Call irq_take on core 0, after early_init has
 * found a controller.
 *
 * ERR_NO_DEVICE: no controller, or no such line; ERR_BAD_ARGUMENT: the line is taken; ERR_NO_SPACE:
 * IRQ_MAX_TAKEN lines are taken; ERR_UNSUPPORTED: firmware keeps the line for itself; ERR_TIMEOUT:
 * the controller does not answer. After an error fn is not called. */
enum err irq_take(uint32_t line, bool (*fn)(void *context), void *context);

/* Let the timer of core 0 end core_idle (board/isa.h, core_timer_start), and test that it does.
 * Errors: those of irq_take; ERR_TIMEOUT: the timer does not end core_idle. */
enum err irq_take_timer(void);

/* Return how often a line was disabled because no function had taken it, or the function found
 * nothing to do; *line: the last such line. */
uint32_t irq_strays(uint32_t *line);

/* ---- for a controller's driver (board/drivers/irq) ------------------------------------------- */

struct irq_controller {
    /* Pass the line on to core 0, level-triggered. Errors: those above. */
    enum err (*enable)(void *state, uint32_t line);
    /* Disable the line again, on the calling core. irq_deliver may call it. */
    void (*disable)(void *state, uint32_t line);
    /* Serve an interrupt of core 0: call irq_deliver() for every pending line, up to a bound; a
     * line that is still pending causes another interrupt. */
    void (*serve)(void *state);
    uint32_t timer_line; /* interrupt of core 0's timer; 0 if the timer needs none */
};

/* Make this the machine's controller; both pointers must stay valid. Core 0, once. */
void irq_attach(const struct irq_controller *controller, void *state);

/* Call the function that has taken the line. A line without a function, which firmware left on, is
 * disabled and counted. Call this before ending the interrupt. */
void irq_deliver(uint32_t line);

#endif
