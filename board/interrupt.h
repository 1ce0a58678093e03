/* Interrupts of devices, for any controller. Core 0 alone takes them. */
#ifndef INGOT_BOARD_INTERRUPT_H
#define INGOT_BOARD_INTERRUPT_H

#include <stdint.h>

#include "board/err.h"

enum { IRQ_MAX_TAKEN = 8 };

/* From now on call fn(context) on core 0 for every interrupt of that line. The machine's controller
 * numbers the lines: INTIDs of a GIC, sources of a PLIC, interrupts of BCM2835. They are taken at a
 * level: fn makes its device quiet, and is called again while it is not.
 *
 * fn may come in the middle of a kernel: it uses no floating point, no vectors and 4 KiB of stack
 * (board/isa.h), and no function of the C library. Core 0, after early_init has found a controller.
 *
 * ERR_NO_DEVICE: no controller, or it has no such line; ERR_BAD_ARGUMENT: the line is taken;
 * ERR_NO_SPACE: IRQ_MAX_TAKEN lines are; ERR_UNSUPPORTED: firmware keeps the line for itself;
 * ERR_TIMEOUT: the controller does not answer. After an error fn is never called. */
enum err irq_take(uint32_t line, void (*fn)(void *context), void *context);

/* ---- for a controller's driver (board/drivers/irq) ------------------------------------------- */

struct irq_controller {
    /* Pass the line on to core 0, at a level. Errors: those above. */
    enum err (*enable)(void *state, uint32_t line);
    /* Core 0 was interrupted: irq_deliver() for every line that is pending. */
    void (*serve)(void *state);
};

/* Make it the machine's controller; both must stay. Core 0, once. */
void irq_attach(const struct irq_controller *controller, void *state);

/* Call the function that has taken the line. Does nothing where there is none. */
void irq_deliver(uint32_t line);

#endif
