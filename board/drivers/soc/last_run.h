/* A record of the run, kept in a page of RAM that is never cleared, for the next start. RAM
 * survives a reset, but not a power cycle; a checksum tells the two apart. */
#ifndef INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H
#define INGOT_BOARD_DRIVERS_SOC_LAST_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "board/board.h"

/* Map the page uncached, report how the last run ended, and begin the record of this run. Call
 * once, on core 0. `fired` is true if a register says that the watchdog's block caused the last
 * reset. The register also says so after restart() and power_off(), and after resets by other
 * programs, so `fired` counts only if the record shows an armed watchdog and no end of the run. If
 * `fired` is false, such a record gives BOARD_RUN_RESET, because a Pi 4 whose card was at 1.8 V
 * loses the register's contents. */
void last_run_open(struct board_last_run *last, bool fired);

/* Note that this run is alive `millis` after its start. */
void last_run_alive(uint32_t millis);

/* Note what the run does from now on, with or without a watchdog. doing: a constant text. */
void last_run_doing(const char *doing, bool armed);

/* Note that the run ends normally; restarting is true if the machine then restarts. */
void last_run_close(bool restarting);

#endif
