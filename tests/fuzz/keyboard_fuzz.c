/* Any bytes as a layout and a keyboard's reports, with time going by between them. The output is
 * whole characters of UTF-8 and keys that a terminal has, however late somebody takes it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board/drivers/usb/keyboard_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How many bytes of a character must follow. */
static unsigned check_byte(unsigned due, uint8_t byte)
{
    if (due != 0) {
        if ((byte & 0xc0) != 0x80)
            abort();
        return due - 1;
    }
    if (byte < 0x80)
        return 0;
    if (byte < 0xc2 || byte > 0xef)
        abort();
    return byte < 0xe0 ? 1 : 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct keyboard_keys k = { 0 };
    uint32_t now = 0;
    unsigned due = 0;
    int byte;

    if (size == 0)
        return 0;
    k.layout = data[0];
    for (size_t at = 1; at + 2 < size;) {
        uint32_t n = data[at] & 15;
        uint8_t *exact;

        now += (uint32_t)data[at + 1] * 64;
        at += 2;
        if (n > size - at)
            n = (uint32_t)(size - at);
        exact = malloc(n + (n == 0)); /* no byte behind the last is read unseen */
        if (exact == NULL)
            return 0;
        memcpy(exact, data + at, n);
        keyboard_keys_report(&k, exact, n, now);
        free(exact);
        at += n;
        keyboard_keys_look(&k, now);
        if (k.put - k.taken > KEYBOARD_OUT)
            abort();
        while ((n & 1) && (byte = keyboard_keys_take(&k)) >= 0)
            due = check_byte(due, (uint8_t)byte);
    }
    while ((byte = keyboard_keys_take(&k)) >= 0)
        due = check_byte(due, (uint8_t)byte);
    if (due != 0)
        abort();
    return 0;
}
