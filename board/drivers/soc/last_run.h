/* A record of the run, kept in a page of RAM that is never cleared, for the next start. A reset
 * leaves RAM as it was, a power cycle does not, and a checksum tells the two apart. */
#ifndef INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H
#define INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "board/board.h"

/* Map the page uncached, tell how the last run ended (BOARD_RUN_UNKNOWN, _RESET or _RESTARTED) and
 * begin the record of this one. armed: whether a watchdog was. Once, on core 0. */
void last_run_open(struct board_last_run *last, bool *armed);

/* This run lives at `millis` after its start. */
void last_run_alive(uint32_t millis);

/* It does something else now, with or without a watchdog. doing: a constant. */
void last_run_doing(const char *doing, bool armed);

/* It ends, as it should. restarting: to begin again, for last_run_open to know. */
void last_run_close(bool restarting);

#endif
