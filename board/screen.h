/* A screen is memory whose pixels a display shows. */
#ifndef INGOT_BOARD_SCREEN_H
#define INGOT_BOARD_SCREEN_H

#include <stddef.h>
#include <stdint.h>

/* The board fills this struct once; then it is constant. */
struct board_screen {
    uint8_t *pixels; /* mapped and cached memory, aligned to 8 bytes */
    uint32_t width, height;
    uint32_t pitch; /* bytes from one row to the next, a multiple of 8 */
    uint32_t bits;  /* bits per pixel, little-endian: 16 (from the top: 5 red, 6 green, 5 blue) or
                       32 (from the top: 8 unused, 8 red, 8 green, 8 blue) */
    /* Make `bytes` bytes of written pixels visible to the display. NULL if nothing needs to be
     * done. */
    void (*flush)(const void *pixels, size_t bytes);
    const char *error_message; /* error message if there is a display but no picture; else NULL */
    const char
        *none; /* error message if no display is found where a user may expect one; else NULL */
};

#endif
