/* The display of a Raspberry Pi, through the VideoCore's firmware ("Mailbox property interface",
 * frame buffer): the display's own size, 16 bits a pixel, in memory of the firmware's. */
#ifndef INGOT_BOARD_DRIVERS_SCREEN_BCM_SCREEN_H
#define INGOT_BOARD_DRIVERS_SCREEN_BCM_SCREEN_H

#include <stdbool.h>

#include "board/drivers/soc/bcm_mailbox.h"
#include "board/screen.h"

/* Maps the pixels, cached; what is written is flushed, because the VideoCore does not look into
 * the cores' caches. ERR_NO_DEVICE: no display is attached, or there is no mailbox;
 * ERR_NO_SPACE: the firmware has no memory for it; ERR_UNSUPPORTED: its answer is impossible, or
 * it does not know the questions; others of bcm_mailbox_ask and mmu_map. */
enum err bcm_screen_open(struct bcm_mailbox *m, struct board_screen *screen);

#endif
