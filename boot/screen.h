/* The board's display as a second console: it shows the same text as the serial line. */
#ifndef INGOT_BOOT_SCREEN_H
#define INGOT_BOOT_SCREEN_H

#include "board/board.h"
#include "runtime/base/platform.h"

/* Find the board's display, and set the functions of platform->screen. Takes memory from the
 * platform's arena. Without a display nothing changes. */
void boot_screen_open(struct platform *platform, const struct machine *machine);

/* Returns why an existing display is not used, or NULL. */
const char *boot_screen_error_message(void);

/* Return why the display stays dark, or NULL if nobody can be looking at a display. */
const char *boot_screen_none(void);

/* ---- for a panic, on any core, at any time ---- */

/* From now on only the report writes to the screen: other writers have finished, or will not write
 * any more. */
void boot_screen_take(void);
void boot_screen_put(char c);
/* Show the report; wait for a while if the display goes off with the machine. */
void boot_screen_hold(void);
/* Stop using the screen, because the report itself failed, perhaps in this file. */
void boot_screen_drop(void);

#endif
