/* Shows a number on an LED, for errors before the serial line works: a long flash, then as many
 * short flashes as the number says. A Raspberry Pi's firmware has codes of its own, none of which
 * begins with a single long flash (raspberrypi.com/documentation, "LED warning flash codes"). */
#ifndef INGOT_BOARD_LED_CODE_H
#define INGOT_BOARD_LED_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LED_CODE_LONG_MILLIS = 1000,
    LED_CODE_SHORT_MILLIS = 200, /* length of a short flash and of the dark time before it */
    LED_CODE_PAUSE_MILLIS = 1500,
};

struct led {
    void (*set)(bool lit);
    uint64_t (*ticks)(void);
    uint64_t ticks_hz; /* 0 if not known: then the times are estimates */
};

/* Show `code` once and leave the LED dark. This takes 2.5 s, plus 0.4 s for each short flash. The
 * function ends even if the counter stands still. Only one core may call it at a time. */
void led_code_show(const struct led *led, unsigned code);

#endif
