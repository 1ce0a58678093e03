/* Turns reports of a keyboard in its boot protocol (Device Class Definition for HID 1.11, B.1) into
 * the bytes that a terminal would send. */
#ifndef INGOT_BOARD_DRIVERS_USB_KEYBOARD_KEYS_H
#define INGOT_BOARD_DRIVERS_USB_KEYBOARD_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KEYBOARD_REPORT_BYTES = 8, /* modifiers, an unused byte, six keys */
    KEYBOARD_HELD = 6,
    KEYBOARD_OUT = 64, /* most waiting bytes, a power of two; bytes typed beyond these are lost */
    KEYBOARD_DELAY_MS = 400,
    KEYBOARD_REPEAT_MS = 33,
    KEYBOARD_LED_CAPS = 2,
};

/* State of a keyboard; all zeros: a US keyboard with no key pressed. */
struct keyboard_keys {
    unsigned layout; /* enum keyboard_layout_name */
    bool caps;
    uint8_t held[KEYBOARD_HELD];
    uint8_t modifiers;
    uint8_t repeats; /* the key that repeats; 0: none */
    uint32_t repeat_at;
    uint16_t dead; /* the accent that waits for its letter; 0: none */
    uint8_t out[KEYBOARD_OUT];
    unsigned put, taken; /* positions in `out` */
};

/* Process a report of `bytes` bytes. Times are milliseconds of a clock that may wrap. */
void keyboard_keys_report(struct keyboard_keys *k, const uint8_t *report, uint32_t bytes,
                          uint32_t now);

/* Repeat a held key, at most once per call. */
void keyboard_keys_look(struct keyboard_keys *k, uint32_t now);

/* Release all keys, because the keyboard is gone. Typed text stays. */
void keyboard_keys_let_go(struct keyboard_keys *k);

/* Take the next byte; -1 if there is none. */
int keyboard_keys_take(struct keyboard_keys *k);

#endif
