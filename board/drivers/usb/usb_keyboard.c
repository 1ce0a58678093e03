/* Sections are those of the Device Class Definition for Human Interface Devices 1.11. */
#include "board/drivers/usb/usb_keyboard.h"

#include <string.h>

#include "board/drivers/usb/xhci_registers.h"
#include "board/min_max.h"

enum { MOST_FAULTS = 3, MOST_BYTES = 64 /* bytes of a full-speed packet (USB 2.0, 5.7.3) */ };
enum { SET_REPORT = 9, SET_IDLE = 10, SET_PROTOCOL = 11 }; /* 7.2 */

static uint32_t millis(const struct xhci *x)
{
    return (uint32_t)(x->setup.ticks() / (x->setup.ticks_hz / 1000));
}

/* Ask for a whole packet: some keyboards send more than the boot protocol's 8 bytes, which would be
 * a babble error otherwise. */
static uint32_t asked_bytes(const struct usb_keyboard *k)
{
    return min_u32(max_u32(k->ends.in_packet, KEYBOARD_REPORT_BYTES), MOST_BYTES);
}

static void ask(struct usb_keyboard *k, struct xhci *x)
{
    xhci_put(x, &k->device.in, k->report, asked_bytes(k), k->ends.in_packet, true);
    xhci_ring(x, &k->device, &k->device.in, k->device.in_id);
}

/* Ask for reports only when a key changes, because a keyboard need not support any other way;
 * we repeat held keys ourselves. */
static enum err prepare(struct usb_keyboard *k, struct xhci *x)
{
    uint8_t interface = k->ends.interface;
    enum err e = xhci_set_configuration(x, &k->device, k->ends.configuration);

    if (e == ERR_OK)
        e = xhci_control(x, &k->device, 0x21, SET_PROTOCOL, 0, interface, 0);
    if (e == ERR_OK || e == ERR_UNSUPPORTED)
        e = xhci_control(x, &k->device, 0x21, SET_IDLE, 0, interface, 0);
    return e == ERR_UNSUPPORTED ? ERR_OK : e;
}

static void set_leds(struct usb_keyboard *k, struct xhci *x)
{
    k->lit = k->keys.caps;
    k->device.data[0] = k->lit ? KEYBOARD_LED_CAPS : 0;
    (void)xhci_control(x, &k->device, 0x21, SET_REPORT, 2 << 8, k->ends.interface, 1); /* B.1 */
}

static enum err try_place(struct usb_keyboard *k, struct xhci *host, uint32_t place)
{
    enum err e = xhci_attach(host, &k->device, place);
    uint32_t bytes;

    if (e != ERR_OK)
        return e;
    e = xhci_get_configuration(host, &k->device, &bytes);
    if (e == ERR_OK && !usb_find_keyboard(k->device.data, bytes, &k->ends))
        e = ERR_NO_DEVICE;
    if (e == ERR_OK)
        e = xhci_configure(host, &k->device, &k->ends);
    if (e == ERR_OK)
        e = prepare(k, host);
    if (e != ERR_OK)
        (void)xhci_detach(host, &k->device);
    return e;
}

enum err usb_keyboard_open(struct usb_keyboard *k, struct xhci *host, uint32_t place)
{
    unsigned tries = 0;
    enum err e;

    do
        e = try_place(k, host, place);
    while (xhci_asks_again(host, place, e, &tries));
    if (e != ERR_OK)
        return e;
    k->faults = 0;
    keyboard_keys_let_go(&k->keys); /* a stop of the controller does not close the keyboard, so
                                       keys may still count as held */
    set_leds(k, host);              /* some adapters begin to work only after this request */
    ask(k, host);
    return ERR_OK;
}

/* After a fault the endpoint is halted in the controller; after a stall also in the
 * keyboard. */
static enum err recover(struct usb_keyboard *k, struct xhci *x)
{
    enum err e = xhci_unhalt(x, &k->device, &k->device.in, k->device.in_id);

    if (e != ERR_OK || ++k->faults > MOST_FAULTS)
        return ERR_IO;
    return xhci_control(x, &k->device, 0x02, 1, 0, (uint16_t)(0x80 | k->ends.in), 0);
}

static enum err take_event(struct usb_keyboard *k, struct xhci *x, const struct xhci_trb *event)
{
    uint32_t code = event->status >> 24, left = event->status & 0xffffff;
    enum err e;

    if ((event->control >> 16 & 31) != k->device.in_id)
        return ERR_OK;
    if (code == CODE_SUCCESS || code == CODE_SHORT) {
        dma_sync(&x->setup.window, k->report, sizeof k->report);
        if (left <= asked_bytes(k))
            keyboard_keys_report(&k->keys, k->report,
                                 min_u32(asked_bytes(k) - left, KEYBOARD_REPORT_BYTES), millis(x));
        k->faults = k->losses = 0;
    } else {
        e = recover(k, x);
        if (e != ERR_OK)
            return e;
    }
    ask(k, x);
    return ERR_OK;
}

enum err usb_keyboard_close(struct usb_keyboard *k, struct xhci *host)
{
    keyboard_keys_let_go(&k->keys);
    return xhci_detach(host, &k->device);
}

bool usb_keyboard_look(struct usb_keyboard *k, struct xhci *host)
{
    struct xhci_trb event;

    while (xhci_next(host, &k->device, &event))
        if (take_event(k, host, &event) != ERR_OK)
            return false;
    keyboard_keys_look(&k->keys, millis(host));
    if (k->lit != k->keys.caps)
        set_leds(k, host);
    return true;
}
