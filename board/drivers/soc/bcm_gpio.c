#include "board/drivers/soc/bcm_gpio.h"

/* Registers (BCM2835 section 6.1, BCM2711 section 5.2); each has ten, 32 or 16 pins. */
enum {
    GPFSEL0 = 0x00,
    GPSET0 = 0x1c,
    GPCLR0 = 0x28,
    GPLEV0 = 0x34,
    GPPUD = 0x94,                   /* BCM2835 */
    GPPUDCLK0 = 0x98,               /* BCM2835 */
    GPIO_PUP_PDN_CNTRL_REG0 = 0xe4, /* BCM2711 */
};

enum { GPPUD_OFF = 0, GPPUD_UP = 2, GPPUD_WAIT = 150 /* cycles */, PUP_NONE = 0, PUP_UP = 1 };

static volatile uint32_t *reg(uintptr_t base, unsigned offset)
{
    return (volatile uint32_t *)(base + offset);
}

void bcm_gpio_function(uintptr_t base, unsigned pin, enum bcm_pin_function function)
{
    volatile uint32_t *select = reg(base, GPFSEL0 + pin / 10 * 4);
    unsigned shift = pin % 10 * 3;

    *select = (*select & ~(7u << shift)) | (uint32_t)function << shift;
}

void bcm_gpio_write(uintptr_t base, unsigned pin, bool high)
{
    *reg(base, (high ? GPSET0 : GPCLR0) + pin / 32 * 4) = 1u << pin % 32;
}

bool bcm_gpio_read(uintptr_t base, unsigned pin)
{
    return (*reg(base, GPLEV0 + pin / 32 * 4) >> pin % 32 & 1) != 0;
}

static void wait_cycles(void)
{
    for (unsigned i = 0; i < GPPUD_WAIT; i++)
        __asm__ volatile("" ::: "memory");
}

void bcm_gpio_pull(uintptr_t base, enum bcm_pull_kind kind, unsigned pin, bool up)
{
    volatile uint32_t *pull = reg(base, GPIO_PUP_PDN_CNTRL_REG0 + pin / 16 * 4);
    unsigned shift = pin % 16 * 2;

    if (kind == BCM_PULL_REGISTER) {
        *pull = (*pull & ~(3u << shift)) | (uint32_t)(up ? PUP_UP : PUP_NONE) << shift;
        return;
    }
    *reg(base, GPPUD) = up ? GPPUD_UP : GPPUD_OFF; /* start of the BCM_PULL_CLOCKED sequence */
    wait_cycles();
    *reg(base, GPPUDCLK0 + pin / 32 * 4) = 1u << pin % 32;
    wait_cycles();
    *reg(base, GPPUD) = GPPUD_OFF;
    *reg(base, GPPUDCLK0 + pin / 32 * 4) = 0;
}
