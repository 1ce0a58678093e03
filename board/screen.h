/* A screen: pixels in memory that a display shows. */
#ifndef INGOT_BOARD_SCREEN_H
#define INGOT_BOARD_SCREEN_H

#include <stddef.h>
#include <stdint.h>

/* Constant once the board has filled it. */
struct board_screen {
    uint8_t *pixels; /* mapped, cached; aligned to 8 bytes */
    uint32_t width, height;
    uint32_t pitch; /* bytes from a row to the next, a multiple of 8 */
    uint32_t bits;  /* of a pixel, little-endian: 16, of which red has the upper 5, green 6 and
                     * blue 5; or 32: from above 8 of nothing, red, green, blue */
    /* Pixels (bytes) were written: the display is to see them. NULL: it sees what the cores see. */
    void (*flush)(const void *pixels, size_t bytes);
    const char *
        error_message; /* an error message where there is a display and no picture can be had; NULL: none */
    const char *
        none; /* an error message where no display is found and one may be expected; NULL: nothing to say */
};

#endif
