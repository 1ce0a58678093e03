/* The parts of the EFI board, and what each ISA's folder provides for them. Core 0 calls all of it. */
#ifndef INGOT_BOARD_EFI_EFI_PARTS_H
#define INGOT_BOARD_EFI_EFI_PARTS_H

#include "board/board.h"
#include "board/device_tree.h"
#include "board/efi/efi.h"

/* ---- parts ------------------------------------------------------------------------------------- */

/* The entry in C, from the ISA's start.S: on our own stack, interrupts of the firmware still on. */
void efi_start(efi_handle image, struct efi_system_table *system) __attribute__((noreturn));

/* The firmware's device tree; its blob is NULL if there is none (only ACPI). */
const struct device_tree *efi_tree(void);

/* The line: a UART of the tree's by our own driver, else the firmware's serial protocol, else its console. */
void efi_console_open(void);
void efi_console_idle(void);
void efi_console_rest(uint32_t micros);
int efi_console_getc(void);
void efi_console_putc(char c);
bool efi_console_interrupted(void);
/* The calling core, which is not core 0, has reported: core 0 sends its text and switches off. */
void efi_console_end_elsewhere(void) __attribute__((noreturn));

/* Why the line is not a UART that the tree names, without a full stop; NULL: it is one. */
const char *efi_console_instead(void);

/* Open a UART that the tree's stdout-path names and that we have a driver for (serial_open). False: there is none. */
bool efi_uart_open(const struct device_tree *tree);

/* Fill ram[], n_ram and ram_bytes: the largest free ranges, except what the firmware needs for
 * itself. Panics if the firmware provides none. */
void efi_memory_take(struct machine *machine);

/* Boot arguments: ingot.txt beside the program and at the volume's root, then the load options. */
void efi_options_read(struct machine *machine);

/* Seconds since 1970 by the firmware's clock; 0: it has none, or it was never set. */
uint64_t efi_clock_date(void);

/* board.find_storage: every disk of the firmware's, the one that we were started from first. */
unsigned efi_storage_find(struct block_device *devices[BOARD_MAX_BLOCK]);

/* board.open_screen, and keys of a keyboard that is not a serial line. */
bool efi_screen_open(struct board_screen *screen, struct memory_range *free);
int efi_keys_take(void *context);
bool efi_keys_open(void);

void efi_power_restart(void);
void efi_power_off(int status) __attribute__((noreturn));

/* ---- of each ISA ------------------------------------------------------------------------------- */

/* The rate of the clock is known, and what kernels need is on. Once, after the firmware's tables were found. */
void efi_isa_open(void);

/* Fill n_cores, core_ids and core_capacity: cores that efi_isa_start_core can start. Returns why there is one core
 * alone, an error message without a full stop; NULL: there is nothing to say. */
const char *efi_isa_find_cores(const struct device_tree *tree, struct machine *machine);

uint64_t efi_isa_ticks(void);
uint64_t efi_isa_ticks_hz(void);
enum err efi_isa_start_core(unsigned core, void (*entry)(void *arg), void *arg);

#endif
