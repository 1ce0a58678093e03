#include "board/drivers/irq/bcm_local.h"

#include "board/drivers/irq/core_registers.h"
#include "board/interrupt.h"
#include "board/isa.h"

/* Core mailboxes, sections 4.7 (control) and 4.8. Each core uses the first of its four mailboxes;
 * the next core's mailboxes are 16 bytes further, and its control word is 4 bytes further. */
enum { MAILBOX_CONTROL = 0x50, MAILBOX_SET = 0x80, MAILBOX_CLEAR = 0xc0 };
/* Section 4.4, GPU interrupts routing: 0 is core 0's IRQ. Sections 4.3, 4.6, 4.9 to 4.11: other
 * sources of a core's interrupts, which firmware may have left on. */
enum { GPU_ROUTING = 0x0c, GPU_TO_CORE0_IRQ = 0 };
enum {
    COUNTERS_OFF = 0x14, /* one bit for each performance counter's interrupt */
    BUS_CONTROL = 0x30,  /* of the AXI bus */
    TIMER_CONTROL = 0x34,
    TIMER_CLEAR = 0x38,
    CORE_TIMERS_CONTROL = 0x40, /* IRQs of four timers, then their FIQs */
    IRQ_SOURCE = 0x60,          /* of core 0 */
    FIQ_SHIFT = 4,
};
#define TIMER_FLAG (1u << 31)
/* Bits of IRQ_SOURCE; our numbers for them start at N_INTERRUPTS. */
enum {
    SOURCE_CORE_TIMERS = 0xf,
    SOURCE_VIRTUAL_TIMER = 3,
    SOURCE_COUNTERS = 9,
    SOURCE_BUS = 10,
    SOURCE_TIMER = 11,
    SOURCES = SOURCE_CORE_TIMERS | 1 << SOURCE_COUNTERS | 1 << SOURCE_BUS | 1 << SOURCE_TIMER,
};
/* BCM2835 ARM Peripherals, section 7.5: one bit for each of 64 interrupts, 32 per register, and 8
 * basic interrupts, whose numbers in our code start at BASIC. */
enum {
    PENDING_BASIC = 0x00,
    PENDING_1 = 0x04,
    FIQ_CONTROL = 0x0c,
    ENABLE_1 = 0x10,
    DISABLE_1 = 0x1c,
    DISABLE_2 = 0x20,
    DISABLE_BASIC = 0x24,
    N_INTERRUPTS = 64,
    BASIC = 96,
    BASIC_MASK = 0xff,
};
enum { CONTROL_MAILBOX0_IRQ = 1, WAKE_UP = 1, MAILBOX_ALL = -1 };

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

/* Clear bits that firmware left in the mailbox, because they would interrupt forever. The caller
 * checks the awaited word afterwards, so no wake-up is lost. */
void bcm_local_listen(uintptr_t base, unsigned core)
{
    *reg(base, MAILBOX_CLEAR + 16 * core) = (uint32_t)MAILBOX_ALL;
    *reg(base, MAILBOX_CONTROL + 4 * core) = CONTROL_MAILBOX0_IRQ;
    (void)*reg(base,
               MAILBOX_CLEAR + 16 * core); /* reading it back ensures that the clear has arrived */
    CORE_BARRIER("dsb sy");
}

void bcm_local_wake_others(uintptr_t base, unsigned core)
{
    CORE_BARRIER("dsb ish"); /* earlier stores must be visible first */
    for (unsigned i = 0; i < BCM_LOCAL_CORES; i++)
        if (i != core)
            *reg(base, MAILBOX_SET + 16 * i) = WAKE_UP;
}

void bcm_local_sleep(uintptr_t base, unsigned core)
{
    volatile uint32_t *clear = reg(base, MAILBOX_CLEAR + 16 * core);

    core_idle();
    *clear = WAKE_UP;
    /* The write may be acknowledged before it arrives (nGnRE), and could then clear a wake-up that
     * is sent after the caller's next look. The read returns only after the write has arrived. */
    (void)*clear;
    CORE_BARRIER("dsb sy"); /* the caller's next look comes after the wake-up is taken */
}

static struct bcm_interrupts {
    uintptr_t local;      /* registers of the block next to the cores */
    uintptr_t interrupts; /* of BCM2835's controller */
} bcm_interrupts;

static void deliver_all(uint32_t first, uint32_t pending)
{
    for (; pending != 0; pending &= pending - 1)
        irq_deliver(first + (uint32_t)__builtin_ctz(pending));
}

/* Serve each pending line once. Core 0's wake-ups arrive by the same interrupt and need nothing
 * else, because core 0 is awake. */
static void serve(void *state)
{
    const struct bcm_interrupts *both = state;

    *reg(both->local, MAILBOX_CLEAR) = WAKE_UP;
    for (uint32_t first = 0; first < N_INTERRUPTS; first += 32)
        deliver_all(first, *reg(both->interrupts, PENDING_1 + first / 32 * 4));
    deliver_all(BASIC, *reg(both->interrupts, PENDING_BASIC) & BASIC_MASK);
    deliver_all(N_INTERRUPTS, *reg(both->local, IRQ_SOURCE) & SOURCES);
}

static enum err enable(void *state, uint32_t line)
{
    const struct bcm_interrupts *both = state;

    if (line == BCM_LOCAL_TIMER_LINE) {
        *reg(both->local, CORE_TIMERS_CONTROL) = 1 << SOURCE_VIRTUAL_TIMER;
        return ERR_OK;
    }
    if (line >= N_INTERRUPTS)
        return ERR_NO_DEVICE;
    *reg(both->interrupts, ENABLE_1 + line / 32 * 4) = 1u << line % 32; /* zeros change nothing */
    return ERR_OK;
}

static void disable_local(uintptr_t base, uint32_t source)
{
    if (source == SOURCE_COUNTERS) {
        *reg(base, COUNTERS_OFF) = 1 | 1 << FIQ_SHIFT;
    } else if (source == SOURCE_BUS) {
        *reg(base, BUS_CONTROL) = 0;
    } else if (source == SOURCE_TIMER) {
        *reg(base, TIMER_CONTROL) = 0;
        *reg(base, TIMER_CLEAR) = TIMER_FLAG;
    } else {
        *reg(base, CORE_TIMERS_CONTROL) &= ~(1u << source);
    }
}

static void disable(void *state, uint32_t line)
{
    const struct bcm_interrupts *both = state;

    if (line < N_INTERRUPTS)
        *reg(both->interrupts, DISABLE_1 + line / 32 * 4) = 1u << line % 32;
    else if (line >= BASIC)
        *reg(both->interrupts, DISABLE_BASIC) = 1u << (line - BASIC);
    else
        disable_local(both->local, line - N_INTERRUPTS);
}

/* The firmware leaves its own interrupts on, for example that of USB (Linux, irq-bcm2835.c,
 * "Bootloader left irq enabled"). The mailboxes' controls stay as they are, because cores use
 * them already. */
static void turn_all_off(uintptr_t base, uintptr_t interrupts)
{
    *reg(interrupts, FIQ_CONTROL) = 0;
    *reg(interrupts, DISABLE_1) = ~0u;
    *reg(interrupts, DISABLE_2) = ~0u;
    *reg(interrupts, DISABLE_BASIC) = ~0u;
    *reg(base, COUNTERS_OFF) = ~0u;
    *reg(base, BUS_CONTROL) = 0;
    *reg(base, TIMER_CONTROL) = 0;
    *reg(base, TIMER_CLEAR) = TIMER_FLAG;
    for (unsigned core = 0; core < BCM_LOCAL_CORES; core++)
        *reg(base, CORE_TIMERS_CONTROL + 4 * core) = 0;
}

void bcm_local_init(uintptr_t base, uintptr_t interrupts)
{
    static const struct irq_controller controller = {
        .enable = enable,
        .disable = disable,
        .serve = serve,
        .timer_line = BCM_LOCAL_TIMER_LINE,
    };

    bcm_interrupts = (struct bcm_interrupts){ base, interrupts };
    turn_all_off(base, interrupts);
    *reg(base, GPU_ROUTING) = GPU_TO_CORE0_IRQ;
    irq_attach(&controller, &bcm_interrupts);
}
