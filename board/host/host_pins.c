#include "board/host/host_pins.h"

#include <stdio.h>

#include "board/host/host_board.h"

static uint32_t levels; /* bit: line */

static const char *host_pin_error_message(unsigned line)
{
    return line < HOST_PINS ? NULL : "the simulated lines are 0 to 31";
}

static void host_pin_write(unsigned line, bool high)
{
    levels = (levels & ~(UINT32_C(1) << line)) | (uint32_t)high << line;
    host_console_flush();
    fprintf(stderr, "(simulated line %u is %s)\n", line, high ? "high" : "low");
}

static void host_pin_setup(unsigned line, bool output, bool high)
{
    if (output) {
        levels = (levels & ~(UINT32_C(1) << line)) | (uint32_t)high << line;
    }
}

static bool host_pin_read(unsigned line)
{
    return (levels >> line & 1) != 0;
}

const struct board_pins host_pins = {
    .error_message = host_pin_error_message,
    .setup = host_pin_setup,
    .write = host_pin_write,
    .read = host_pin_read,
};
