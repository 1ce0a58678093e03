/* Leave an emulator that has no power switch (RISC-V Semihosting 1.0). */
#ifndef INGOT_BOARD_DRIVERS_SOC_SEMIHOSTING_H
#define INGOT_BOARD_DRIVERS_SOC_SEMIHOSTING_H

/* End the emulator with that exit status, or stop in the debugger. If no debugger listens (no
 * `-semihosting`, a real board without a probe), the core sleeps forever. riscv64 only. */
void semihosting_exit(int status) __attribute__((noreturn));

#endif
