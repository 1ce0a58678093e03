/* The parts of the EFI board, and the functions that each ISA's folder provides. Core 0 calls all
 * of them. */
#ifndef INGOT_BOARD_EFI_EFI_PARTS_H
#define INGOT_BOARD_EFI_EFI_PARTS_H

#include "board/board.h"
#include "board/device_tree.h"
#include "board/efi/efi.h"

/* ---- parts ------------------------------------------------------------------------------------- */

/* The entry in C, called by the ISA's start.S on our own stack; the firmware's interrupts are still
 * on. */
void efi_start(efi_handle image, struct efi_system_table *system) __attribute__((noreturn));

/* The firmware's device tree; its blob is NULL if the firmware has only ACPI. */
const struct device_tree *efi_tree(void);

/* Open the console: a UART of the tree with our own driver, else the firmware's serial protocol,
 * else the firmware's console. */
void efi_console_open(void);
void efi_console_idle(void);
void efi_console_rest(uint32_t micros);
int efi_console_getc(void);
void efi_console_putc(char c);
bool efi_console_interrupted(void);
/* End a run on a core other than 0: core 0 sends this core's report and switches off. */
void efi_console_end_elsewhere(void) __attribute__((noreturn));

/* Our pixels are on the display now: a console that has only this display is no longer written to,
 * because the firmware would draw and scroll its text over the pixels. */
void efi_console_cover(void);

/* Return the reason, without a full stop, why the console is not a UART that the tree names; NULL
 * if it is. */
const char *efi_console_instead(void);

/* Open a UART that the tree's stdout-path names and for which we have a driver (serial_open).
 * Returns false if there is none. */
bool efi_uart_open(const struct device_tree *tree);

/* Allocate ram[0], the largest free range that the firmware gives, and set n_ram and ram_bytes.
 * Panics if the firmware provides no memory. */
void efi_memory_take(struct machine *machine);

/* Read the boot arguments: first \EFI\BOOT\ingot.txt of our volume, or \ingot.txt if there is none,
 * then the load options. */
void efi_options_read(struct machine *machine);

/* Return the firmware's time in seconds since 1970; 0: no clock, or it was never set. */
uint64_t efi_clock_date(void);

/* For board.find_storage: open every disk of the firmware, beginning with the disk from which we
 * were started. */
unsigned efi_storage_find(struct block_device *devices[BOARD_MAX_BLOCK]);

/* For board.open_screen. The next two functions read keys of a keyboard, not of a serial line. */
bool efi_screen_open(struct board_screen *screen, struct memory_range *free);
int efi_keys_take(void *context);
bool efi_keys_open(void);

void efi_power_restart(void);
void efi_power_off(int status) __attribute__((noreturn));

/* ---- of each ISA ------------------------------------------------------------------------------- */

/* Find the clock's rate and switch on what kernels need. Call once, after the firmware's tables
 * were found. */
void efi_isa_open(void);

/* Fill n_cores, core_ids and core_capacity with cores that efi_isa_start_core can start. Returns
 * the reason, without a full stop, why there is only one core; NULL if there is nothing to
 * report. */
const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine);

uint64_t efi_isa_ticks(void);
uint64_t efi_isa_ticks_hz(void);
enum err efi_isa_start_core(unsigned core, void (*entry)(void *arg), void *arg);

#endif
