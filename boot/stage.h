/* How far the start has come, shown by an LED for users without a serial line (docs/BRINGUP.md). */
#ifndef INGOT_BOOT_STAGE_H
#define INGOT_BOOT_STAGE_H

/* Each value is the number of short flashes after a long one. */
enum boot_stage {
    BOOT_STAGE_PAGES = 1, /* page tables for the image, MMU off; also if no stage was entered yet */
    BOOT_STAGE_TREE,      /* finding and copying the device tree */
    BOOT_STAGE_BOARD,     /* board.early_init: interrupts, firmware, console */
    BOOT_STAGE_MEMORY,    /* the console works: finding RAM and cores */
    BOOT_STAGE_PROGRAM,   /* image_main */
    BOOT_NO_PICTURE,      /* not a stage: the display exists but stays dark; the start continues */
};

void boot_stage_enter(enum boot_stage stage);

/* Call after a panic, before the power goes off. If there is an
 * LED but no console yet, the LED shows the stage forever. With a console, the LED shows the stage
 * twice, but not in an emulator. */
void boot_stage_show(void);

/* Show the code of a fault that does not end the start: twice, or once in an emulator; 5 s each. */
void boot_stage_warn(enum boot_stage code);

#endif
