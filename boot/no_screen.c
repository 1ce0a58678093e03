/* Implements boot/screen.h for a board that cannot have a display; it needs no glyphs and no
 * drawing. */
#include "boot/screen.h"

#include <stddef.h>

void boot_screen_open(struct platform *platform, const struct machine *machine)
{
    (void)platform;
    (void)machine;
}

const char *boot_screen_error_message(void)
{
    return NULL;
}

const char *boot_screen_none(void)
{
    return NULL;
}

void boot_screen_take(void)
{
}

void boot_screen_put(char c)
{
    (void)c;
}

void boot_screen_hold(void)
{
}

void boot_screen_drop(void)
{
}
