/* A record of the run, kept in a page of RAM that is never cleared, for the next start. A reset
 * keeps RAM, a power cycle does not, and a checksum tells the two apart. */
#ifndef INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H
#define INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "board/board.h"

/* Map the page uncached, tell how the last run ended and begin the record of this one. Call
 * once, on core 0. fired: a register says that the watchdog's block caused the last reset. It also
 * says so after restart() and power_off(), and after runs of other programs, so it is used only if
 * the record's run had a watchdog and did not end. Such a record without the register gives
 * BOARD_RUN_RESET: a Pi 4 whose card was at 1.8 V forgets the register. */
void last_run_open(struct board_last_run *last, bool fired);

/* This run is alive at `millis` after its start. */
void last_run_alive(uint32_t millis);

/* The run does something else now, with or without a watchdog. doing: a constant. */
void last_run_doing(const char *doing, bool armed);

/* The run ends normally. restarting: to begin again, for last_run_open. */
void last_run_close(bool restarting);

#endif
