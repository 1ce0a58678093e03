#include "board/drivers/usb/usb.h"

#include <string.h>

#include "board/facts.h"
#include "board/left_out.h"

enum {
    LOOK_MS = 250,
    REST_MS = 5
}; /* time between two looks at the ports; time limit for current
                                        transfers */

/* The machine has one user, so all keyboards share one layout. */
static struct usb_machine {
    unsigned layout;
    struct usb *controllers[USB_CONTROLLERS];
    unsigned n_controllers;
} usb_machine;

void usb_set_layout(unsigned name)
{
    usb_machine.layout = name;
}

bool usb_has_keyboard(void)
{
    for (unsigned i = 0; i < usb_machine.n_controllers; i++)
        if (usb_machine.controllers[i]->keyboard.device.slot != 0)
            return true;
    return false;
}

/* ---- keyboards ---- */

static void find_keyboard_at(struct usb *u, uint32_t place, bool all)
{
    bool fresh, is_new;

    if (!xhci_is_unused(&u->host, place, &fresh))
        return;
    is_new = u->host.news[place] & XHCI_NEW_TO_KEYBOARDS;
    u->host.news[place] &= (uint8_t)~XHCI_NEW_TO_KEYBOARDS;
    if ((all || is_new) && usb_keyboard_open(&u->keyboard, &u->host, place) == ERR_NO_DEVICE &&
        is_new)
        (void)xhci_hub_open(&u->host, place); /* a keyboard may be behind it */
}

/* Look at devices that came since the last reset of their port; after a start of the controller,
 * look at all. */
static void find_keyboard(struct usb *u)
{
    bool all = u->starts != u->host.starts;

    u->starts = u->host.starts;
    /* First release hubs that are gone, with the devices behind them. */
    xhci_hub_look(&u->host);
    for (uint32_t place = 1; place <= xhci_n_places(&u->host) && u->keyboard.device.slot == 0;
         place++)
        find_keyboard_at(u, place, all);
}

static bool is_due(struct usb *u, uint64_t *looked)
{
    uint64_t now = u->host.setup.ticks();

    if (now - *looked < u->host.setup.ticks_hz / 1000 * LOOK_MS)
        return false;
    *looked = now;
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

/* A drive that waits for data must not wait for a port, so keyboards are only searched when all
 * drives rest, as at a prompt, after read-ahead layers have arrived. */
static void look(struct usb *u)
{
    bool works = u->keyboard.device.slot == 0 || usb_keyboard_look(&u->keyboard, &u->host);

    /* Reading ports of hubs takes transfers, so they are read four times a second. */
    if (works && !is_due(u, &u->looked))
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

    u->keyboard.keys.layout = usb_machine.layout;
    if (u->host.running)
        look(u);
    return keyboard_keys_take(&u->keyboard.keys);
}

/* ---- drives that come and go ----  */

static bool is_attached(const struct usb *u, unsigned drive)
{
    return u->drives[drive].device.slot != 0;
}

/* Pick a slot for a new drive: an unused one, else one whose drive is gone and has no open file.
 * USB_DRIVES: none is free. */
static unsigned free_drive(const struct usb *u)
{
    /* No files are open on a slot whose drive never worked. */
    for (unsigned i = 0; i < u->n_drives; i++)
        if (!is_attached(u, i) && u->devices[i].n_sectors == 0 && !u->drives[i].dead)
            return i;
    if (u->n_drives < USB_DRIVES)
        return u->n_drives;
    for (unsigned i = 0; i < USB_DRIVES; i++)
        if (!is_attached(u, i) && !u->devices[i].in_use && !u->drives[i].dead)
            return i;
    return USB_DRIVES;
}

/* Take back a drive that was here before. ERR_NO_DEVICE: it is another device. */
static enum err take_back(struct usb *u, uint32_t place)
{
    for (unsigned i = 0; i < u->n_drives; i++)
        if (!is_attached(u, i) && u->devices[i].n_sectors != 0 &&
            usb_storage_take(&u->drives[i], place, place) == ERR_OK)
            return ERR_OK;
    return ERR_NO_DEVICE;
}

/* Take a new drive: *out is set even if it cannot be used. ERR_NO_DEVICE: it is not a
 * drive. */
static enum err take_new(struct usb *u, uint32_t place, struct block_device **out)
{
    unsigned at = free_drive(u);
    enum err e;

    if (at == USB_DRIVES) {
        u->refused = (struct block_device){
            .name = "USB controller",
            .error_message =
                "the new USB device is ignored: three drives are known, which is the maximum"
        };
        u->host.news[place] |= XHCI_LEFT_ALONE;
        *out = &u->refused;
        return ERR_OK;
    }
    e = usb_storage_open(&u->drives[at], &u->host, place, place, &u->devices[at]);
    if (e != ERR_OK) {
        u->devices[at].n_sectors = 0; /* the slot's previous drive is forgotten */
        return e;
    }
    if (at == u->n_drives)
        u->n_drives++;
    for (unsigned i = 0; i < u->n_drives; i++)
        if (i != at)
            usb_storage_compare(&u->drives[i], &u->drives[at]);
    u->is_told[at] = is_attached(u, at);
    *out = &u->devices[at];
    return ERR_OK;
}

/* Take the drive that came to the port before the previous poll, so that its contacts have
 * settled. */
static void take_drive(struct usb *u, uint32_t place, struct block_device **out)
{
    uint8_t *news = &u->host.news[place];
    bool is_new = *news & XHCI_NEW_TO_DRIVES, fresh;

    if (!xhci_is_unused(&u->host, place, &fresh) || !is_new)
        return;
    /* Try a drive that was here before, then a keyboard, then a new drive, then a hub. */
    if (take_back(u, place) != ERR_OK && u->keyboard.device.slot == 0)
        find_keyboard_at(u, place, true);
    if (xhci_is_unused(&u->host, place, &fresh) && take_new(u, place, out) == ERR_NO_DEVICE)
        (void)xhci_hub_open(&u->host, place);
    *news &= (uint8_t)~XHCI_NEW_TO_DRIVES; /* whatever it is */
}

/* True for a released drive that is still at its port: only a transfer failed, and the next read
 * takes the drive again. */
static bool waits(struct usb *u, unsigned drive)
{
    const struct usb_storage *s = &u->drives[drive];
    bool fresh;

    return s->stopped && u->is_told[drive] &&
           (!u->host.running || xhci_is_unused(&u->host, s->place, &fresh));
}

/* The first drive whose state differs from the last report. */
static struct block_device *next_change(struct usb *u)
{
    for (unsigned i = 0; i < u->n_drives; i++) {
        bool is_there = is_attached(u, i) || waits(u, i);

        if (u->is_told[i] == is_there)
            continue;
        u->is_told[i] = is_there;
        u->devices[i].error_message = is_there ? NULL : "it was unplugged";
        return &u->devices[i];
    }
    return NULL;
}

/* Report one hub too many, once. */
static struct block_device *tell_left_out(struct usb *u)
{
    const char *why = u->host.left_out;

    u->host.left_out = NULL;
    if (why == NULL)
        return NULL;
    u->refused = (struct block_device){ .name = "USB controller", .error_message = why };
    return &u->refused;
}

static struct block_device *look_for_drives(struct usb *u)
{
    struct block_device *out = NULL;

    if (!is_due(u, &u->looked_for_drives))
        return NULL;
    /* Opening a drive needs control transfers, which must not come between those of a read. */
    if (!u->host.running || !all_rest(u))
        return next_change(u);
    xhci_hub_look(&u->host);
    for (unsigned i = 0; i < u->n_drives; i++)
        usb_storage_look(&u->drives[i]);
    for (uint32_t place = 1; place <= xhci_n_places(&u->host) && out == NULL; place++)
        take_drive(u, place, &out);
    if (out == NULL)
        out = tell_left_out(u);
    return out != NULL ? out : next_change(u);
}

struct block_device *usb_look(void)
{
    struct block_device *out = NULL;

    for (unsigned i = 0; i < usb_machine.n_controllers && out == NULL; i++)
        out = look_for_drives(usb_machine.controllers[i]);
    return out;
}

/* ---- the start ---- */

static unsigned complain(struct usb *u, struct block_device **out, const char *why)
{
    u->devices[0] = (struct block_device){ .name = "USB controller", .error_message = why };
    out[0] = &u->devices[0];
    return 1;
}

/* Note that the ports up to `last` were looked at. */
static void note_looked(struct usb *u, uint32_t last)
{
    for (uint32_t place = 1; place <= last; place++)
        u->host.news[place] &= (uint8_t)~XHCI_NEW_TO_DRIVES;
}

static unsigned find_drives(struct usb *u, struct block_device **out, unsigned most)
{
    uint32_t place = 1, last = xhci_n_places(&u->host);
    unsigned *n = &u->n_drives;

    for (; *n < USB_DRIVES && *n < most; ++*n) {
        if (usb_storage_open(&u->drives[*n], &u->host, place, last, &u->devices[*n]) != ERR_OK) {
            note_looked(u, last);
            break;
        }
        place = u->drives[*n].place + 1;
        note_looked(u, place - 1);
        for (unsigned i = 0; i < *n; i++)
            usb_storage_compare(&u->drives[i], &u->drives[*n]);
        u->is_told[*n] = is_attached(u, *n);
        out[*n] = &u->devices[*n];
    }
    return *n;
}

static void keep_controller(struct usb *u)
{
    for (unsigned i = 0; i < usb_machine.n_controllers; i++)
        if (usb_machine.controllers[i] == u)
            return;
    if (usb_machine.n_controllers < USB_CONTROLLERS)
        usb_machine.controllers[usb_machine.n_controllers++] = u;
    else
        left_out_note(LEFT_OUT_CONTROLLERS, 1, 0);
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
    /* There is no controller, so there is nothing to report. */
    if (e == ERR_NO_DEVICE)
        return 0;
    facts_add(xhci_facts, &u->host);
    if (e != ERR_OK) {
        (void)xhci_stop(&u->host);
        return complain(u, out, u->host.why);
    }
    keep_controller(u);
    /* Drives come first; a keyboard is searched among the remaining devices. */
    n = find_drives(u, out, most);
    if (u->host.running)
        find_keyboard(u);
    return n;
}
