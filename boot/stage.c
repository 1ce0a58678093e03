#include "boot/stage.h"

#include "board/board.h"
#include "board/led_code.h"

#include <stddef.h>

enum { ROUNDS = 2 }; /* they must take less than the watchdog's 15 s; those of stage 5 take 9 s */

static enum boot_stage stage; /* 0 counts as BOOT_STAGE_PAGES, because the first code that runs
                               * cannot set it */

void boot_stage_enter(enum boot_stage entered)
{
    stage = entered;
}

static bool is_emulated(void)
{
    return board.is_emulated != NULL && board.is_emulated();
}

void boot_stage_warn(enum boot_stage code)
{
    struct led led = { board.led, board.ticks, 0 };

    if (board.led == NULL)
        return;
    led.ticks_hz = board.ticks_hz();
    for (unsigned i = 0; i < (is_emulated() ? 1 : ROUNDS); i++)
        led_code_show(&led, (unsigned)code);
}

void boot_stage_show(void)
{
    struct led led = { board.led, board.ticks, 0 };

    if (board.led == NULL)
        return;
    led.ticks_hz = board.ticks_hz();
    if (stage < BOOT_STAGE_PAGES)
        stage = BOOT_STAGE_PAGES;
    while (stage < BOOT_STAGE_MEMORY)
        led_code_show(&led, (unsigned)stage);
    for (unsigned i = 0; i < ROUNDS && !is_emulated(); i++)
        led_code_show(&led, (unsigned)stage);
}
