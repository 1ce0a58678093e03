/* A record of the run, kept in a page of RAM that is never cleared, for the next start. A reset
 * leaves RAM as it was, a power cycle does not, and a checksum tells the two apart. */
#ifndef INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H
#define INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "board/board.h"

/* Map the page uncached, tell how the last run ended and begin the record of this one. fired: a register
 * says that the watchdog's block made the last reset. It says so after restart() and power_off(), too, and
 * after runs of other programs, so that it counts for a record of a run that had a watchdog and no end. Such
 * a record without the register is BOARD_RUN_RESET: a Pi 4 whose card was at 1.8 V forgets the register. Once,
 * on core 0. */
void last_run_open(struct board_last_run *last, bool fired);

/* This run lives at `millis` after its start. */
void last_run_alive(uint32_t millis);

/* It does something else now, with or without a watchdog. doing: a constant. */
void last_run_doing(const char *doing, bool armed);

/* It ends, as it should. restarting: to begin again, for last_run_open to know. */
void last_run_close(bool restarting);

#endif
