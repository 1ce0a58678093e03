/* The parts of an image that a computer cannot have, so that a board's own code runs as a program of Linux: system
 * registers, firmware calls, page tables. Device pages are memory at their own addresses, filled as the board's
 * firmware leaves them. */
#ifndef INGOT_TESTS_BOARDS_BOOT_FAKE_H
#define INGOT_TESTS_BOARDS_BOOT_FAKE_H

#include <stdbool.h>
#include <stdint.h>

/* A register that the test names, with its value before the board's code runs or a question about
 * it afterwards. */
struct box_register {
    uint64_t at;
    uint32_t value;
    bool is_asked;
};

enum { BOX_MOST_REGISTERS = 128, BOX_MOST_PAGES = 4096, BOX_MOST_ACTS = 8 };

/* Bits that the device at a register has cleared and set whenever time is looked at. */
struct box_act {
    uint64_t at;
    uint32_t clears, sets;
};

/* The firmware below S-mode: bit n says that hart n is in our domain; it may be older than SBI 0.2,
 * which knows neither harts nor resets. */
struct box_sbi {
    uint32_t domain;
    bool is_old;
};

struct box {
    uint64_t hart; /* the answer of core_hardware_id() */
    uint32_t
        fill; /* the value of each word of a device block that no register names, up to BOX_FILL_BYTES of a block */
    uint64_t mailbox;   /* 0: there is no VideoCore */
    uint32_t memory[2]; /* VideoCore's answer: base and bytes of the cores' part of the first GiB */
    uint32_t revision;  /* and the board's revision code */
    bool is_powered;
    unsigned n_answers,
        n_stale; /* messages that it answered, and those that it did not find in memory */
    struct box_register registers[BOX_MOST_REGISTERS];
    unsigned n_registers;
    struct box_act acts[BOX_MOST_ACTS];
    unsigned n_acts;
    struct box_sbi sbi;
    bool twins; /* RAM beyond 4 GiB is a copy of that at 0x80000000 */
    enum {
        BOX_STAYS,
        BOX_RESTARTS,
        BOX_GOES_OFF
    } ends; /* what the board is asked for at the end */
};

enum { BOX_FILL_BYTES = 0x10000 };

extern struct box box;

/* Prints "register AT VALUE" for each question; 0 where nothing is mapped. */
void box_print_registers(void);

#endif
