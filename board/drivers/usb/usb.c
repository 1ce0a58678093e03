#include "board/drivers/usb/usb.h"

#include <string.h>

enum { LOOK_MS = 250, REST_MS = 5 }; /* between two looks at the ports; for what is under way */

static unsigned layout; /* a machine has one person at it */
static bool is_there;

void usb_set_layout(unsigned name)
{
    layout = name;
}

bool usb_has_keyboard(void)
{
    return is_there;
}

/* One that came since its port was reset last, or all since the controller was started. */
static void find_keyboard(struct usb *u)
{
    bool all = u->starts != u->host.starts, fresh;

    u->starts = u->host.starts;
    xhci_hub_look(&u->host);
    for (uint32_t place = 1; place <= xhci_n_places(&u->host) && u->keyboard.device.slot == 0;
         place++)
        if (xhci_is_unused(&u->host, place, &fresh) && (all || fresh) &&
            usb_keyboard_open(&u->keyboard, &u->host, place) == ERR_NO_DEVICE && fresh)
            (void)xhci_hub_open(&u->host, place); /* a keyboard may be behind it */
    is_there = u->keyboard.device.slot != 0;
}

static bool is_due(struct usb *u)
{
    uint64_t now = u->host.setup.ticks();

    if (now - u->looked < u->host.setup.ticks_hz / 1000 * LOOK_MS)
        return false;
    u->looked = now;
    return true;
}

/* A drive that waits for its data must not wait for a port: it takes a keyboard in when it rests, as it does at a
 * prompt, once layers that were asked for ahead are there. */
static void look(struct usb *u)
{
    bool works = u->keyboard.device.slot == 0 || usb_keyboard_look(&u->keyboard, &u->host);

    if (works && !is_due(u))
        return;
    if (u->keyboard.device.slot != 0 &&
        (!works || !xhci_is_connected(&u->host, &u->keyboard.device)) &&
        usb_keyboard_close(&u->keyboard, &u->host) != ERR_OK)
        (void)usb_storage_stop(&u->storage); /* and with it all of the controller */
    if (u->keyboard.device.slot == 0 && u->host.running &&
        (u->storage.host == NULL || usb_storage_rests(&u->storage, REST_MS)))
        find_keyboard(u);
}

int usb_take(void *usb)
{
    struct usb *u = usb;

    u->keyboard.keys.layout = layout;
    if (u->host.running)
        look(u);
    return keyboard_keys_take(&u->keyboard.keys);
}

enum err usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device *out)
{
    enum err e;

    if (u->host.running)
        (void)xhci_stop(&u->host);
    memset(u, 0, sizeof *u);
    memset(out, 0, sizeof *out);
    u->host.setup = *setup;
    if (!dma_reaches(&setup->window, u, sizeof *u)) {
        out->name = "USB controller";
        out->problem =
            "the USB controller's DMA ends before the driver's memory: make `dmaend` larger";
        return ERR_OK;
    }
    e = xhci_start(&u->host);
    if (e == ERR_NO_DEVICE)
        return e;
    if (e != ERR_OK) {
        (void)xhci_stop(&u->host);
        out->name = "USB controller";
        out->problem = u->host.why;
        return ERR_OK;
    }
    e = usb_storage_open(&u->storage, &u->host, out);
    if (u->host.running)
        find_keyboard(u);
    return e;
}
