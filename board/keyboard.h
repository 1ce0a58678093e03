/* Layouts of keyboards, under the names that `keyboard=` accepts. */
#ifndef INGOT_BOARD_KEYBOARD_H
#define INGOT_BOARD_KEYBOARD_H

enum keyboard_layout_name {
    KEYBOARD_US,
    KEYBOARD_UK,
    KEYBOARD_DE,
    KEYBOARD_FR,
    KEYBOARD_IT,
    KEYBOARD_ES,
    KEYBOARD_LAYOUTS
};

#endif
