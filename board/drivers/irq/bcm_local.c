#include "board/drivers/irq/bcm_local.h"

#include "board/interrupt.h"
#include "board/isa.h"

/* Sections 4.7 (control) and 4.8, core mailboxes: the first of four for each core, 16 bytes from
 * core to core; the control words 4 bytes. */
enum { MAILBOX_CONTROL = 0x50, MAILBOX_SET = 0x80, MAILBOX_CLEAR = 0xc0 };
/* Section 4.4, GPU interrupts routing: 0 is core 0's IRQ. */
enum { GPU_ROUTING = 0x0c, GPU_TO_CORE0_IRQ = 0 };
/* BCM2835 ARM Peripherals, section 7.5: a bit an interrupt, 32 of the 64 in each register. */
enum { PENDING_1 = 0x04, ENABLE_1 = 0x10, N_INTERRUPTS = 64 };
enum { CONTROL_MAILBOX0_IRQ = 1, WAKE_UP = 1 };

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

void bcm_local_listen(uintptr_t base, unsigned core)
{
    *reg(base, MAILBOX_CONTROL + 4 * core) = CONTROL_MAILBOX0_IRQ;
}

void bcm_local_wake_others(uintptr_t base, unsigned core)
{
    __asm__ volatile("dsb ish" ::: "memory"); /* stores first: DDI 0487, DSB */
    for (unsigned i = 0; i < BCM_LOCAL_CORES; i++)
        if (i != core)
            *reg(base, MAILBOX_SET + 16 * i) = WAKE_UP;
}

void bcm_local_sleep(uintptr_t base, unsigned core)
{
    volatile uint32_t *clear = reg(base, MAILBOX_CLEAR + 16 * core);

    core_idle();
    *clear = WAKE_UP;
    /* The write may be acknowledged on its way (nGnRE), and would then clear a wake-up that is sent
     * after the caller's next look: the read comes back once it has arrived. */
    (void)*clear;
    __asm__ volatile("dsb sy" ::: "memory"); /* the caller's next look is after the taking */
}

static struct bcm_interrupts {
    uintptr_t local;      /* of the block beside the cores */
    uintptr_t interrupts; /* of BCM2835's controller */
} bcm_interrupts;

/* Wake-ups of core 0 arrive by the same interrupt, and are done with once it is awake. */
static void serve(void *state)
{
    const struct bcm_interrupts *both = state;
    uint32_t pending;

    *reg(both->local, MAILBOX_CLEAR) = WAKE_UP;
    for (uint32_t first = 0; first < N_INTERRUPTS; first += 32) {
        pending = *reg(both->interrupts, PENDING_1 + first / 32 * 4);
        for (; pending != 0; pending &= pending - 1)
            irq_deliver(first + (uint32_t)__builtin_ctz(pending));
    }
}

static enum err enable(void *state, uint32_t line)
{
    const struct bcm_interrupts *both = state;

    if (line >= N_INTERRUPTS)
        return ERR_NO_DEVICE;
    *reg(both->interrupts, ENABLE_1 + line / 32 * 4) = 1u << line % 32; /* zeros change nothing */
    return ERR_OK;
}

void bcm_local_init(uintptr_t base, uintptr_t interrupts)
{
    static const struct irq_controller controller = { .enable = enable, .serve = serve };

    bcm_interrupts = (struct bcm_interrupts){ base, interrupts };
    *reg(base, GPU_ROUTING) = GPU_TO_CORE0_IRQ;
    irq_attach(&controller, &bcm_interrupts);
}
