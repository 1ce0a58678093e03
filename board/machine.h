/* Facts about a machine in plain data: its memory, its condition, the end of its last run.
 * struct board (board/board.h) and struct platform (runtime/base/platform.h) use them. */
#ifndef INGOT_BOARD_MACHINE_H
#define INGOT_BOARD_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A board with more cores sets BOARD_MOST_CORES in its board.mk. */
#ifndef BOARD_MOST_CORES
#define BOARD_MOST_CORES 8
#endif

enum {
    BOARD_MAX_CORES = BOARD_MOST_CORES,
    BOARD_MAX_RAM = 16,
    BOARD_MAX_BLOCK = 8,
    BOARD_ARGS_BYTES = 8192
};

struct memory_range {
    uint8_t *base;
    size_t bytes;
};

/* Reasons for slow cores. */
enum board_limit {
    BOARD_LIMIT_VOLTAGE = 1 << 0,   /* the supply voltage is too low */
    BOARD_LIMIT_CLOCK = 1 << 1,     /* the firmware has capped the clock */
    BOARD_LIMIT_THROTTLED = 1 << 2, /* the clock is the lowest, because of heat or low voltage */
    BOARD_LIMIT_HOT = 1 << 3,       /* the soft limit of temperature is reached */
};

enum { BOARD_NO_TEMPERATURE = INT32_MIN };

struct board_health {
    int32_t temperature;  /* thousandths of a degree Celsius, or BOARD_NO_TEMPERATURE */
    uint32_t clock_hz;    /* clock of the cores; 0: unknown */
    uint32_t limits;      /* bits of enum board_limit, at this moment */
    uint32_t limits_past; /* bits of all limits that were reached since power-on */
};

enum { BOARD_DOING_BYTES = 32 };

/* How the previous run ended. */
struct board_last_run {
    enum board_run_end {
        BOARD_RUN_UNKNOWN,   /* the power was off, or the machine was switched off properly */
        BOARD_RUN_RESTARTED, /* by restart() */
        BOARD_RUN_RESET,     /* by a reset from outside */
        BOARD_RUN_HUNG,      /* by the watchdog */
    } end;
    bool armed;                    /* a watchdog was armed: it may have caused the reset */
    uint32_t alive_millis;         /* time from the start of that run to its last alive(), or 0 */
    char doing[BOARD_DOING_BYTES]; /* what the run was doing at that time; "": not known */
};

#endif
