/* The report of dead hardware, a trap or a failed assertion, before the machine powers off.
 * Everything here writes only with board.putc, and needs a few hundred bytes of stack and no C
 * library. */
#ifndef INGOT_BOOT_PANIC_H
#define INGOT_BOOT_PANIC_H

#include <stdint.h>

/* Print "panic: <message>", the core and a backtrace from here; then power off as failed. The
 * format knows %s %c %% %d %u %x %p and the lengths l, z. The second core to panic is silent. */
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- for the trap handlers ---------------------------------------------------------------- */

/* Take the console for a report, once per machine. Any other core that calls this function stops in
 * it. A trap inside a report (same core) powers off at once. */
void panic_begin(void);

/* Print to the console; only between panic_begin and panic_end. */
void panic_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* If the address lies in a core's guard, say whose stack overflowed. */
void panic_print_guard(uint64_t address);

/* Print the code address and the backtrace from a frame pointer, say how to turn addresses into
 * lines, and power off as failed. */
void panic_end(uintptr_t pc, uintptr_t frame) __attribute__((noreturn));

#endif
