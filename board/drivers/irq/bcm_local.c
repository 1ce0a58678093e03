#include "board/drivers/irq/bcm_local.h"

#include "board/drivers/serial/serial.h"
#include "board/isa.h"

/* Sections 4.7 (control) and 4.8, core mailboxes: the first of four for each core, 16 bytes from
 * core to core; the control words 4 bytes. */
enum { MAILBOX_CONTROL = 0x50, MAILBOX_SET = 0x80, MAILBOX_CLEAR = 0xc0 };
/* Section 4.4, GPU interrupts routing: 0 is core 0's IRQ. */
enum { GPU_ROUTING = 0x0c, GPU_TO_CORE0_IRQ = 0 };
/* BCM2835 ARM Peripherals, section 7.5: interrupts 32 to 63. */
enum { ENABLE_2 = 0x14 };
enum { CONTROL_MAILBOX0_IRQ = 1, RING = 1 };

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
            *reg(base, MAILBOX_SET + 16 * i) = RING;
}

void bcm_local_sleep(uintptr_t base, unsigned core)
{
    core_idle();
    *reg(base, MAILBOX_CLEAR + 16 * core) = RING;
    __asm__ volatile("dsb sy" ::: "memory"); /* the caller's next look is after the taking */
}

/* One device interrupts, at a level: whatever came, its bytes are taken, and the ring with them. */
static void serve(void *base)
{
    *reg(*(const uintptr_t *)base, MAILBOX_CLEAR) = RING;
    serial_receive();
}

void bcm_local_take_input(const uintptr_t *base, uintptr_t interrupts, unsigned number)
{
    *reg(*base, GPU_ROUTING) = GPU_TO_CORE0_IRQ;
    *reg(interrupts, ENABLE_2) = 1u << number % 32;
    serial_listen();
    core_interrupts_on(serve, (void *)(uintptr_t)base);
}
