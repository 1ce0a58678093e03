/* A RISC-V machine under SBI firmware: its tree, clock, harts and power. There is only one machine,
 * so a board puts these functions directly into its struct board. */
#ifndef INGOT_BOARD_DRIVERS_SOC_SBI_MACHINE_H
#define INGOT_BOARD_DRIVERS_SOC_SBI_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "board/device_tree.h"
#include "board/drivers/serial/ns16550.h"
#include "board/drivers/soc/riscv_timer.h"
#include "board/err.h"
#include "board/isa.h"

/* Read the tree at dtb. If dtb is NULL, no other hart can be started, and the `time` counter is
 * assumed to have `timebase_hz`. Harts that cannot work (device_tree_next_cpu) get no
 * number. Returns the tree, which stays valid; its blob is NULL if there is none. */
const struct device_tree *sbi_machine_init(const void *dtb, uint64_t timebase_hz);

/* A board's 16550, for a tree that names no console of that kind ("ns16550a"). */
struct sbi_machine_ns16550 {
    const char *kind;
    uintptr_t address;
    size_t bytes;          /* of its registers */
    unsigned shift, width; /* as ns16550_init takes them */
};

/* For early_init: open the console at the firmware's rate. The console uses its interrupt if the
 * tree names one and the PLIC delivers it; otherwise it is polled. */
void sbi_machine_open_ns16550(struct ns16550 *uart, const struct sbi_machine_ns16550 *place);

/* For consoles that are not a 16550: after serial_open, receive by the interrupt that the
 * UART's node names. */
void sbi_machine_listen(const struct device_tree_node *uart);

/* Never start this hart, even if the tree lists it; a hart that already runs
 * this code goes on. */
void sbi_machine_leave_out(uint64_t hart);

/* For board.amend: harts from `first` to `last` that the tree does not name, but the firmware lets
 * us start, become cores too. */
struct machine;
void sbi_machine_add_unnamed(struct machine *machine, uint64_t first, uint64_t last);

/* For board.ticks_hz and board.start_core. */
uint64_t sbi_machine_ticks_hz(void);
enum err sbi_machine_start_core(unsigned core, void (*entry)(void *arg), void *arg);

/* For board.restart: uses SRST. The second function is for board.power_off: it uses SRST, or
 * the legacy call; otherwise the hart sleeps. */
void sbi_machine_restart(void);
void sbi_machine_power_off(int status) __attribute__((noreturn));

/* Clock, cores and restart, as members of struct board. */
#define SBI_MACHINE \
    .ticks = riscv_timer_ticks, .ticks_hz = sbi_machine_ticks_hz, \
    .start_core = sbi_machine_start_core, .wait = core_wait, .wake = core_wake, \
    .restart = sbi_machine_restart

#endif
