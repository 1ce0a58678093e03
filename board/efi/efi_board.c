/* The board for machines with EFI firmware; it uses the firmware's devices. */
#include "board/board.h"

#include "board/drivers/serial/serial.h"
#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "board/isa.h"
#include "memory.h" /* from the board's folder: EFI_BOARD_NAME */

static void efi_early_init(const void *dtb)
{
    (void)dtb;
    efi_console_open();
}

static void reset_system(uint32_t how, efi_status status)
{
    serial_drain();
    efi_enter();
    efi_system()->runtime->reset_system(how, status, 0, NULL);
    (void)efi_leave(EFI_SUCCESS);
}

void efi_power_restart(void)
{
    reset_system(EFI_RESET_COLD, EFI_SUCCESS);
}

void efi_power_off(int status)
{
    if (core_number() != 0)
        efi_console_end_elsewhere();
    reset_system(EFI_RESET_SHUTDOWN, status == 0 ? EFI_SUCCESS : EFI_ERROR_BIT | 1);
    core_halt();
}

const struct board board = {
    .name = EFI_BOARD_NAME,
    .early_init = efi_early_init,
    .putc = efi_console_putc,
    .getc = efi_console_getc,
    .idle = efi_console_idle,
    .rest = efi_console_rest,
    .interrupted = efi_console_interrupted,
    .lost = serial_lost,
    .flow_control = serial_flow_control,
    .set_input_buffer = serial_set_input_buffer,
    .ticks = efi_isa_ticks,
    .ticks_hz = efi_isa_ticks_hz,
    .start_core = efi_isa_start_core,
    .wait = core_wait,
    .wake = core_wake,
    .open_screen = efi_screen_open,
    .find_storage = efi_storage_find,
    .restart = efi_power_restart,
    .power_off = efi_power_off,
};
