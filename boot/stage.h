/* How far the start has come, for those who have no line yet: an LED shows it (docs/BRINGUP.md). */
#ifndef INGOT_BOOT_STAGE_H
#define INGOT_BOOT_STAGE_H

/* Each is the number of short flashes after a long one. */
enum boot_stage {
    BOOT_STAGE_PAGES = 1, /* tables for the image itself, MMU off; before any other is set */
    BOOT_STAGE_TREE,      /* the device tree is looked for and copied */
    BOOT_STAGE_BOARD,     /* board.early_init: interrupts, firmware, console */
    BOOT_STAGE_MEMORY,    /* there is a console: RAM and cores are found */
    BOOT_STAGE_PROGRAM,   /* image_main */
    BOOT_NO_PICTURE,      /* no stage: there is a display, and it stays dark; the start goes on */
};

void boot_stage_enter(enum boot_stage stage);

/* Before the power goes off after a panic. Until there is a console: show the stage forever, where there is a
 * LED. From then on the line has the report: show it three times, but not to an emulator. */
void boot_stage_show(void);

/* Show the code of a fault that does not end the start: twice, or once in an emulator; 5 s each. */
void boot_stage_warn(enum boot_stage code);

#endif
