#include "board/drivers/i2c/pi_i2c.h"

#include "board/drivers/gpio/pi_lines.h"
#include "board/drivers/i2c/bcm_i2c.h"
#include "board/drivers/soc/bcm_gpio.h"
#include "board/drivers/soc/generic_timer.h"
#include "board/isa.h"

/* Function ALT0 of both pins is I2C1 (BCM2835, section 6.2). The board has resistors of 1.8 kOhm to
 * 3.3 V there. */
enum { BUS = 1, PIN_DATA = 2, PIN_CLOCK = 3 };

static struct {
    struct bcm_i2c bus;
    uintptr_t gpio;
    struct bcm_mailbox *mailbox;
    bool is_set;
} pi;

void pi_i2c_open(uintptr_t bsc1, uintptr_t gpio, struct bcm_mailbox *mailbox)
{
    pi.bus.base = bsc1;
    pi.gpio = gpio;
    pi.mailbox = mailbox;
}

static const char *i2c1_claim(unsigned bus)
{
    if (bus != BUS)
        return "the 40-pin header has only the bus i2c1";
    pi_lines_take_i2c();
    return NULL;
}

/* Set up the bus for the highest core clock, because that clock changes with the load and the bus
 * must never exceed its limit. */
static bool set_up(void)
{
    if (!pi.is_set && mmu_map(pi.bus.base, BCM_I2C_BYTES, MAP_DEVICE) == ERR_OK) {
        pi.bus.ticks = generic_timer_ticks;
        pi.bus.ticks_hz = generic_timer_hz();
        bcm_i2c_open(&pi.bus, bcm_mailbox_clock(pi.mailbox, BCM_GET_MAX_CLOCK, BCM_CLOCK_CORE));
        bcm_gpio_function(pi.gpio, PIN_DATA, BCM_PIN_ALT0);
        bcm_gpio_function(pi.gpio, PIN_CLOCK, BCM_PIN_ALT0);
        pi.is_set = true;
    }
    return pi.is_set;
}

static enum err i2c1_write(unsigned bus, unsigned address, const uint8_t *bytes, unsigned n)
{
    if (bus != BUS || !set_up())
        return ERR_UNSUPPORTED;
    return bcm_i2c_write(&pi.bus, address, bytes, n);
}

static enum err i2c1_read(unsigned bus, unsigned address, uint8_t *bytes, unsigned n)
{
    if (bus != BUS || !set_up())
        return ERR_UNSUPPORTED;
    return bcm_i2c_read(&pi.bus, address, bytes, n);
}

const struct board_i2c pi_i2c = { .claim = i2c1_claim, .write = i2c1_write, .read = i2c1_read };
