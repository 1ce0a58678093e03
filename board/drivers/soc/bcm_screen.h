/* The display of a Raspberry Pi, through the VideoCore's firmware ("Mailbox property interface",
 * frame buffer): the display's own size, 16 bits per pixel, in the firmware's memory. */
#ifndef INGOT_BOARD_DRIVERS_SCREEN_BCM_SCREEN_H
#define INGOT_BOARD_DRIVERS_SCREEN_BCM_SCREEN_H

#include <stdbool.h>

#include "board/drivers/soc/bcm_mailbox.h"
#include "board/screen.h"

/* Open the display and map its pixels as cached memory. Written pixels must be flushed, because the
 * VideoCore does not see the cores' caches. ERR_NO_DEVICE: no display is attached, or there is no
 * mailbox; ERR_NO_SPACE: the firmware has no memory for the pixels; ERR_UNSUPPORTED: the firmware's
 * answer is impossible, or the firmware does not know the tags; other errors as bcm_mailbox_ask,
 * mmu_map. */
enum err bcm_screen_open(struct bcm_mailbox *m, struct board_screen *screen);

#endif
