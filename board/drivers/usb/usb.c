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

static bool all_rest(struct usb *u)
{
    for (unsigned i = 0; i < u->n_drives; i++)
        if (!usb_storage_rests(&u->drives[i], REST_MS))
            return false;
    return true;
}

static void stop(struct usb *u)
{
    (void)xhci_stop(&u->host);
    for (unsigned i = 0; i < u->n_drives; i++)
        (void)usb_storage_stop(&u->drives[i]);
}

/* A drive that waits for its data must not wait for a port: it takes a keyboard in when all rest, as they do at a
 * prompt, once layers that were asked for ahead are there. */
static void look(struct usb *u)
{
    bool works = u->keyboard.device.slot == 0 || usb_keyboard_look(&u->keyboard, &u->host);

    if (works && !is_due(u))
        return;
    if (u->keyboard.device.slot != 0 &&
        (!works || !xhci_is_connected(&u->host, &u->keyboard.device)) &&
        usb_keyboard_close(&u->keyboard, &u->host) != ERR_OK)
        stop(u);
    if (u->keyboard.device.slot == 0 && u->host.running && all_rest(u))
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

static unsigned complain(struct usb *u, struct block_device **out, const char *why)
{
    u->devices[0] = (struct block_device){ .name = "USB controller", .problem = why };
    out[0] = &u->devices[0];
    return 1;
}

static unsigned find_drives(struct usb *u, struct block_device **out, unsigned most)
{
    unsigned *n = &u->n_drives;
    uint32_t place = 1;

    for (; *n < USB_DRIVES && *n < most; ++*n) {
        if (usb_storage_open(&u->drives[*n], &u->host, place, &u->devices[*n]) != ERR_OK)
            break;
        place = u->drives[*n].place + 1;
        for (unsigned i = 0; i < *n; i++)
            usb_storage_compare(&u->drives[i], &u->drives[*n]);
        out[*n] = &u->devices[*n];
    }
    return *n;
}

unsigned usb_open(struct usb *u, const struct xhci_setup *setup, struct block_device **out,
                  unsigned most)
{
    enum err e;
    unsigned n;

    if (u->host.running)
        (void)xhci_stop(&u->host);
    memset(u, 0, sizeof *u);
    u->host.setup = *setup;
    if (!dma_reaches(&setup->window, u, sizeof *u))
        return complain(
            u, out,
            "the USB controller's DMA ends before the driver's memory: make `dmaend` larger");
    e = xhci_start(&u->host);
    if (e == ERR_NO_DEVICE)
        return 0;
    if (e != ERR_OK) {
        (void)xhci_stop(&u->host);
        return complain(u, out, u->host.why);
    }
    n = find_drives(u, out, most);
    if (u->host.running)
        find_keyboard(u);
    return n;
}
