/* The characters on the keys of keyboards, as tables. */
#ifndef INGOT_BOARD_DRIVERS_USB_KEYBOARD_LAYOUTS_H
#define INGOT_BOARD_DRIVERS_USB_KEYBOARD_LAYOUTS_H

#include <stdint.h>

#include "board/keyboard.h"

enum { KEYBOARD_KEYS = 48 }; /* keys that give a character */

/* Accents that wait for a letter, as the combining characters of Unicode. */
enum { DEAD_GRAVE = 0x300, DEAD_ACUTE = 0x301, DEAD_HAT = 0x302, DEAD_DOTS = 0x308 };

/* Keys in the order of their usages (HID Usage Tables, 10): a to z, 1 to 0, the five from `-` to
 * the one left of or above Enter, the six from `;` to `/`, and the one next to the left Shift.
 * `third` (with AltGr) and `fourth` (with AltGr and Shift) are pairs: the key's character on a US
 * keyboard (`<` for the key next to Shift), then the character that it gives. NULL: there is no
 * AltGr; that key is an Alt. */
struct keyboard_layout {
    uint16_t plain[KEYBOARD_KEYS + 1], shift[KEYBOARD_KEYS + 1];
    const uint16_t *third, *fourth;
};
extern const struct keyboard_layout keyboard_layouts[KEYBOARD_LAYOUTS];

/* The index of a usage's character in the rows; KEYBOARD_KEYS if the usage has no character. */
unsigned keyboard_position(uint8_t usage);

/* The character at a position; 0: none. `with`: bit 0 Shift, bit 1 AltGr. */
uint16_t keyboard_character(const struct keyboard_layout *layout, unsigned position, unsigned with);

/* The letter with the accent, or 0. The second function returns the accent by itself. */
uint16_t keyboard_compose(uint16_t dead, uint16_t letter);
uint16_t keyboard_accent(uint16_t dead);

#endif
