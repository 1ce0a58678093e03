/* Pins of BCM2835 to BCM2711 (BCM2835 ARM Peripherals, chapter 6; BCM2711 ARM Peripherals,
 * chapter 5). */
#ifndef INGOT_BOARD_DRIVERS_SOC_BCM_GPIO_H
#define INGOT_BOARD_DRIVERS_SOC_BCM_GPIO_H

#include <stdbool.h>
#include <stdint.h>

enum { BCM_GPIO_BYTES = 0xf4 };

/* Values of GPFSEL. */
enum bcm_pin_function { BCM_PIN_INPUT = 0, BCM_PIN_OUTPUT = 1, BCM_PIN_ALT0 = 4, BCM_PIN_ALT3 = 7 };

/* How pull resistors are set: by a sequence on BCM2835 and BCM2837, by a register on BCM2711. */
enum bcm_pull_kind { BCM_PULL_CLOCKED, BCM_PULL_REGISTER };

/* Set a pin's function. The registers at base are mapped as device memory; `pin` is 0 to 53. */
void bcm_gpio_function(uintptr_t base, unsigned pin, enum bcm_pin_function function);
void bcm_gpio_write(uintptr_t base, unsigned pin, bool high);

bool bcm_gpio_read(uintptr_t base, unsigned pin);

/* Enable a pin's pull-up, or switch its pull resistors off. */
void bcm_gpio_pull(uintptr_t base, enum bcm_pull_kind kind, unsigned pin, bool up);

#endif
