/* Any bytes as what a USB drive, keyboard or hub reports about itself: its configuration, a
 * command's status and sense, its size. Accepted values are within the limits that the driver
 * relies on. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board/drivers/usb/usb_descriptors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_end(uint8_t number, uint16_t packet, uint8_t burst)
{
    if (number == 0 || number > 15 || packet == 0 || packet > 1024 || burst > 15)
        abort();
}

static void check_answers(const uint8_t *data, size_t size)
{
    uint8_t answer[32] = { 0 };
    struct usb_hub_facts hub;
    uint32_t bytes, left;
    unsigned code;

    memcpy(answer, data, size < sizeof answer ? size : sizeof answer);
    if (usb_read_capacity_10(answer, &bytes) == 0 ||
        usb_read_capacity_16(answer, &bytes) > UINT64_MAX / 4096)
        abort();
    if (usb_read_hub(answer, USB_HUB, &hub) &&
        (answer[1] != USB_HUB || hub.n_ports == 0 || hub.think > 3 || hub.power_ms > 510))
        abort();
    if (usb_read_sense(answer, &code) > 15 || code > 65535 ||
        ((answer[0] & 0x7c) != 0x70 && (usb_read_sense(answer, &code) != 0 || code != 0)))
        abort();
    if (usb_read_status(answer, 7, &left) != USB_BROKEN &&
        (memcmp(answer, "USBS", 4) != 0 || answer[4] != 7 || answer[12] > 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *exact = calloc(1, size + (size == 0)); /* no byte behind the last is read unseen */
    struct usb_ends ends;

    if (exact == NULL)
        return 0;
    if (size != 0)
        memcpy(exact, data, size);
    if (usb_find_storage(exact, (uint32_t)size, &ends)) {
        check_end(ends.in, ends.in_packet, ends.in_burst);
        check_end(ends.out, ends.out_packet, ends.out_burst);
        if (ends.interval != 0)
            abort();
    }
    if (usb_find_keyboard(exact, (uint32_t)size, &ends)) {
        check_end(ends.in, ends.in_packet, ends.in_burst);
        if (ends.interval == 0 || ends.out != 0)
            abort();
    }
    if (size != 0)
        check_answers(exact, size);
    free(exact);
    return 0;
}
