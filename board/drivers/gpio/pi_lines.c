#include "board/drivers/gpio/pi_lines.h"

#include "board/drivers/soc/bcm_gpio.h"

enum {
    LINES = 28,
    EEPROM_LAST = 1,
    I2C_DATA = 2,
    I2C_CLOCK = 3,
    UART_TRANSMIT = 14,
    UART_RECEIVE = 15
};

static uintptr_t registers;
static bool has_i2c;

void pi_lines_open(uintptr_t gpio)
{
    registers = gpio;
}

void pi_lines_take_i2c(void)
{
    has_i2c = true;
}

const char *pi_lines_error_message(unsigned line)
{
    if (line >= LINES)
        return "the 40-pin header has lines 2 to 27";
    if (line <= EEPROM_LAST)
        return "lines 0 and 1 are reserved for the EEPROM of an add-on board";
    return NULL;
}

static const char *soc_error_message(unsigned line)
{
    if (line == UART_TRANSMIT || line == UART_RECEIVE)
        return "lines 14 and 15 belong to the serial line";
    if (has_i2c && (line == I2C_DATA || line == I2C_CLOCK))
        return "lines 2 and 3 belong to the I2C bus of sensors=";
    return pi_lines_error_message(line);
}

static void soc_write(unsigned line, bool high)
{
    bcm_gpio_write(registers, line, high);
}

/* Set the level before the line becomes an output; GPSET and GPCLR also act on an input. */
static void soc_setup(unsigned line, bool output, bool high)
{
    if (output)
        soc_write(line, high);
    bcm_gpio_function(registers, line, output ? BCM_PIN_OUTPUT : BCM_PIN_INPUT);
}

static bool soc_read(unsigned line)
{
    return bcm_gpio_read(registers, line);
}

const struct board_pins pi_lines = {
    .error_message = soc_error_message,
    .setup = soc_setup,
    .write = soc_write,
    .read = soc_read,
};
