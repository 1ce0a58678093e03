/* /receive: receive a file over the line. */
#include "runtime/app/app_receive.h"
#include "runtime/app/commands_private.h"
#include "runtime/console/console_json.h"

/* Read a number; the whole text must be decimal digits. */
static bool read_number(const char *text, uint64_t *number)
{
    bool some = text[0] != '\0';

    *number = 0;
    for (; *text >= '0' && *text <= '9' && *number < 1ull << 56; text++) {
        *number = 10 * *number + (uint64_t)(*text - '0');
    }
    return some && *text == '\0';
}

enum command_result command_receive(struct app *a, char *argument)
{
    char *size, *rate;
    uint64_t bytes, baud = 0;

    argument = commands_cut_word(argument, &size);
    size = commands_cut_word(size, &rate);
    if (!console_is_json(a->setup.console)) {
        if (size[0] != '\0') {
            console_printf(a->setup.console,
                           "error: PATH BYTES is for programs such as `ingot send`; people type "
                           "/receive for YMODEM, or /receive adapters for an adapter\n");
        } else {
            app_receive_ymodem(a, argument);
        }
    } else if (!read_number(size, &bytes) || (rate[0] != '\0' && !read_number(rate, &baud))) {
        console_printf(a->setup.console,
                       "error: /receive takes PATH BYTES [BAUD], as `ingot send` gives them\n");
    } else {
        app_receive_frames(a, argument, bytes, baud < UINT32_MAX ? (uint32_t)baud : UINT32_MAX);
    }
    return COMMAND_DONE;
}
