/* Why this file is long: keyboards, drives and hubs come at the same ports, and one look decides
 * which of them a device is. */
#include "board/drivers/usb/usb.h"

#include <string.h>

#include "board/board.h"
#include "board/facts.h"
#include "board/left_out.h"

enum {
    LOOK_MS = 250,      /* time between two looks at the ports */
    REST_MS = 5,        /* time limit for current transfers */
    RESTART_MS = 30000, /* least time between two starts of the controller by looks */
    MOST_LOSSES = 3,    /* most failures without a key after which a keyboard counts as new again */
};

/* The machine has one user, so all keyboards share one layout. */
static struct usb_machine {
    unsigned layout;
    struct usb *controllers[USB_CONTROLLERS];
    unsigned n_controllers;
    unsigned turn; /* number of looks; each look begins at the controller after the last one */
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
    if (!(all || is_new) || usb_keyboard_open(&u->keyboard, &u->host, place) != ERR_NO_DEVICE)
        return;
    if (is_new && !(u->host.news[place] & XHCI_NO_HUB)) /* the device may have counted as a drive */
        u->host.news[place] |= XHCI_NEW_TO_HUBS;
    (void)xhci_hub_open(&u->host, place); /* a keyboard may be behind it */
}

/* Look at devices that are new to keyboards; after a start of the controller, look at all. */
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

/* True if the controller obeys no command, and the device that may be the cause is gone or new. */
static bool is_freed(struct usb *u)
{
    bool fresh;

    return u->host.deaf && (!xhci_is_unused(&u->host, u->host.tried_place, &fresh) || fresh);
}

/* Start the controller again if it was stopped because a device could not be released, or if
 * `again` is set; but not too often, because a device may cause that again and again. */
static bool runs(struct usb *u, bool again)
{
    struct xhci *x = &u->host;
    uint64_t now = x->setup.ticks();

    if ((!x->running || again) && now >= u->restart) {
        u->restart = now + x->setup.ticks_hz / 1000 * RESTART_MS;
        (void)xhci_start(x);
    }
    return x->running;
}

/* Release a keyboard. If it is still there, it counts as new: maybe only its port was disabled
 * (USB 2.0, 11.8.1; Linux: "disabled by hub (EMI?), re-enabling"), or its endpoint failed. */
static void release_keyboard(struct usb *u)
{
    if (u->keyboard.losses++ < MOST_LOSSES)
        u->host.news[u->keyboard.device.place] |= XHCI_NEW_TO_KEYBOARDS;
    if (usb_keyboard_close(&u->keyboard, &u->host) != ERR_OK)
        (void)xhci_stop(&u->host); /* drives notice that */
}

/* A drive that waits for data must not wait for a port, so keyboards are searched for only when all
 * drives rest: at a prompt, after read-ahead layers have arrived, or between two reads of a reply.
 * Drives of a controller that runs must stay attached for the next read. */
static void look(struct usb *u)
{
    bool works = u->keyboard.device.slot == 0 || usb_keyboard_look(&u->keyboard, &u->host);

    /* Reading ports of hubs takes transfers, so they are read four times a second. */
    if (works && !is_due(u, &u->looked))
        return;
    if (u->keyboard.device.slot != 0 &&
        (!works || !xhci_is_connected(&u->host, &u->keyboard.device)))
        release_keyboard(u);
    if (u->keyboard.device.slot == 0 && all_rest(u) && runs(u, false))
        find_keyboard(u);
}

int usb_take(void *usb)
{
    struct usb *u = usb;

    u->keyboard.keys.layout = usb_machine.layout;
    if (u->host.starts != 0)
        look(u);
    return keyboard_keys_take(&u->keyboard.keys);
}

/* ---- drives that come and go ----
 *
 * The drive of a slot is in one of these states:
 * - unknown (n_sectors is 0): it never worked, or was forgotten. Its slot is free.
 * - attached (device.slot is not 0): it is there.
 * - released and there (is_here): the device at its port may be this drive.
 * - released and unplugged: all others.
 * A released drive is taken again by its next request, or by a look that meets it at a place. If
 * another card of its reader is attached, looks ask the reader whether the card was changed. A
 * look may also meet a device that may be the drive, but cannot be taken:
 * - At the drive's own port, this is a device that does not answer, or one with the drive's
 *   numbers. If the drive has open files, it counts as there, because a new drive would end the
 *   files. Otherwise the drive is forgotten, and the device becomes a new drive.
 * - At another port, this is a device with the numbers of a drive that has open files. It is left alone.
 * A device with the same numbers but another size or other first blocks, or with its card in another
 * slot, is another drive. A new drive that has all numbers of a released drive is that drive: it did
 * not answer before. */

static bool is_attached(const struct usb *u, unsigned drive)
{
    return u->drives[drive].device.slot != 0;
}

static bool is_known(const struct usb *u, unsigned drive)
{
    return u->devices[drive].n_sectors != 0;
}

/* A drive that came back to its port counts as there only after a look or a request has met it. */
static bool is_there(struct usb *u, unsigned drive)
{
    const struct usb_storage *s = &u->drives[drive];
    bool fresh;

    return is_attached(u, drive) ||
           (s->is_here && (!u->host.running || xhci_is_unused(&u->host, s->place, &fresh)));
}

/* Pick a slot for a new drive: the slot of a forgotten or refused drive, preferably of the one at
 * this place, so that that drive is not reported as unplugged; else an unused slot; else one whose
 * drive is gone and has no open file. USB_DRIVES: none is free. */
static unsigned free_drive(struct usb *u, uint32_t place)
{
    unsigned at = USB_DRIVES;

    for (unsigned i = 0; i < u->n_drives; i++)
        if (!is_attached(u, i) && !is_known(u, i) &&
            (at == USB_DRIVES ||
             (u->is_told[i] && !(u->is_told[at] && u->drives[at].place == place))))
            at = i;
    if (at != USB_DRIVES)
        return at;
    if (u->n_drives < USB_DRIVES)
        return u->n_drives;
    for (unsigned i = 0; i < USB_DRIVES; i++)
        if (is_known(u, i) && !u->devices[i].in_use && !is_there(u, i))
            return i;
    return USB_DRIVES;
}

static const char unplugged[] = "it was unplugged";

/* The first drive whose state differs from the last report. */
static struct block_device *next_change(struct usb *u)
{
    for (unsigned i = 0; i < u->n_drives; i++) {
        bool there = is_there(u, i);

        /* The next looks open the drive's hub again, and find the drive. */
        if (!there && xhci_hub_returns(&u->host, u->drives[i].place))
            continue;
        u->drives[i].is_here = there;
        if (u->is_told[i] == there)
            continue;
        u->is_told[i] = there;
        u->devices[i].error_message = there ? NULL : unplugged;
        return &u->devices[i];
    }
    return NULL;
}

/* Forget a drive: its slot is free. */
static void forget(struct usb *u, unsigned drive)
{
    u->devices[drive].n_sectors = 0;
    u->devices[drive].error_message = unplugged; /* even if no look reports that */
    u->drives[drive].is_here = false;
}

/* Make a report of a device that cannot be used and has no slot. */
static struct block_device *refuse(struct usb *u, const char *name, const char *why)
{
    u->refused = (struct block_device){ .name = name, .error_message = why };
    return &u->refused;
}

/* Try a released drive at a place. Returns true if the device there may be the drive and must not
 * become a new one; *out reports why it cannot be used. */
static bool try_back(struct usb *u, unsigned drive, uint32_t place, struct block_device **out)
{
    struct usb_storage *s = &u->drives[drive];
    bool was_here = s->is_here;
    enum err e = usb_storage_take_again(s, place, place);
    bool is_its_own = s->place == place, has_files = u->devices[drive].in_use;

    /* The drive's own port was tried first. A drive without open files does not begin to count as
     * there because the device at that port is refused. */
    if (e != ERR_OK && s->device.place != place && !has_files)
        s->is_here = s->is_here && was_here;
    /* Nothing was tried here: the drive was taken or refused at its own port, or no command is
     * obeyed. */
    if (e == ERR_OK || s->device.place != place)
        return false;
    if (is_its_own && !has_files && (s->is_here || e == ERR_REMOVED))
        forget(u, drive);
    if (!has_files || !(is_its_own ? s->is_here : s->why != NULL && e != ERR_REMOVED))
        return false;
    usb_storage_name(s, u->refused_name);
    if (s->why != NULL)
        *out = refuse(u, u->refused_name, s->why);
    return true;
}

/* The device at this place may be this drive, so drives with other numbers are not there. */
static void note_others_gone(struct usb *u, unsigned drive, uint32_t place)
{
    const struct usb_storage *s = &u->drives[drive];

    for (unsigned i = 0; i < u->n_drives; i++)
        if (u->drives[i].place == place &&
            (u->drives[i].identity != s->identity || u->drives[i].serial != s->serial))
            u->drives[i].is_here = false;
}

/* Take back a drive that was here before and is at this place now. The device may also be another
 * one, which has the same numbers as a drive that is at its own place. Returns true if nothing else
 * is to be tried at this place. */
static bool take_back(struct usb *u, uint32_t place, struct block_device **out)
{
    bool fresh;

    /* A drive with open files goes first: another card of its reader may be known, too. The place
     * is in use after a turn if a hub was there. */
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < u->n_drives && xhci_is_unused(&u->host, place, &fresh); i++)
            if (u->devices[i].in_use == (pass == 0) && !is_attached(u, i) && is_known(u, i) &&
                try_back(u, i, place, out)) {
                /* A device that did not answer may be any of them. */
                if (u->drives[i].why != NULL)
                    note_others_gone(u, i, place);
                return true;
            }
    return false;
}

/* If the drive that was just opened was here before, give it back its own slot. *out reports it if
 * it does not work there. */
static bool is_back(struct usb *u, unsigned drive, struct block_device **out)
{
    struct usb_storage *new = &u->drives[drive];

    for (unsigned i = 0; i < u->n_drives; i++) {
        struct usb_storage *s = &u->drives[i];

        if (is_there(u, i) || !is_known(u, i) || !usb_storage_is(s, new))
            continue;
        usb_storage_let_go(new);
        forget(u, drive);
        if (usb_storage_take_again(s, new->place, new->place) != ERR_OK)
            *out = refuse(u, new->name,
                          s->why != NULL
                              ? s->why
                              : "the USB drive does not answer as it should: plug it in again");
        return true;
    }
    return false;
}

/* Take a new drive in slot `at`: *out is set even if it cannot be used. ERR_NO_DEVICE: it is not a
 * drive. ERR_BUSY: it was not tried, because the loss of a drive is to be reported first. */
static enum err take_new(struct usb *u, unsigned at, uint32_t place, struct block_device **out)
{
    enum err e;

    /* The slot's drive is gone. Its name is lost when a device at another place gets the slot. */
    if (u->is_told[at] && u->drives[at].place != place) {
        *out = next_change(u);
        return ERR_BUSY;
    }
    e = usb_storage_open(&u->drives[at], &u->host, place, place, &u->devices[at]);
    if (e != ERR_OK) {
        u->devices[at].n_sectors = 0; /* the slot's previous drive is forgotten */
        return e;
    }
    if (is_back(u, at, out))
        return ERR_OK;
    if (at == u->n_drives)
        u->n_drives++;
    u->is_told[at] = is_attached(u, at);
    *out = &u->devices[at];
    return ERR_OK;
}

/* Try a new drive, then a hub. Returns false if the next look must try the device again. */
static bool take_drive_or_hub(struct usb *u, uint32_t place, struct block_device **out)
{
    unsigned at = free_drive(u, place);
    enum err e = ERR_NO_DEVICE;
    bool fresh;

    /* A hub needs no slot. It must not take the slot of a missing drive, which may be behind the
     * hub. */
    if (at == USB_DRIVES || is_known(u, at))
        e = xhci_hub_open(&u->host, place);
    if (!xhci_is_unused(&u->host, place, &fresh))
        return true;
    if (at == USB_DRIVES) {
        if (e == ERR_NO_DEVICE || e == ERR_NO_SPACE) /* else the change may be another device's */
            xhci_clear_change(&u->host, place);
        if (e == ERR_NO_DEVICE)
            *out = refuse(u, "USB controller",
                          "a USB device is ignored: the limit is three drives");
        return true;
    }
    e = take_new(u, at, place, out);
    /* The drive's start may have opened a hub. */
    if (e == ERR_NO_DEVICE && xhci_is_unused(&u->host, place, &fresh))
        (void)xhci_hub_open(&u->host, place);
    return e != ERR_BUSY;
}

/* Try a drive that was here before, a keyboard, then the others. Returns false as
 * take_drive_or_hub does. */
static bool take_device(struct usb *u, uint32_t place, struct block_device **out)
{
    bool fresh;

    if (take_back(u, place, out))
        return true;
    if (u->keyboard.device.slot == 0)
        find_keyboard_at(u, place, true);
    return !xhci_is_unused(&u->host, place, &fresh) || take_drive_or_hub(u, place, out);
}

/* Take the drive that came to the port before the previous poll, so that its contacts have
 * settled. Returns true if a device was new there. */
static bool take_drive(struct usb *u, uint32_t place, struct block_device **out)
{
    uint8_t *news = &u->host.news[place];
    bool is_new = *news & XHCI_NEW_TO_DRIVES, fresh;

    if (!xhci_is_unused(&u->host, place, &fresh) || !is_new)
        return false;
    if (take_device(u, place, out))
        *news &= (uint8_t) ~(XHCI_NEW_TO_DRIVES | XHCI_NEW_TO_HUBS); /* whatever it is */
    return true;
}

/* Report one hub too many, once. */
static struct block_device *tell_left_out(struct usb *u)
{
    const char *why = u->host.left_out;

    u->host.left_out = NULL;
    if (why == NULL)
        return NULL;
    return refuse(u, "USB controller", why);
}

/* True if the attached drive `other` may be another card of the drive's reader, which may have
 * moved. */
static bool has_other_card(const struct usb *u, unsigned drive, unsigned other)
{
    const struct usb_storage *a = &u->drives[drive], *b = &u->drives[other];

    return is_attached(u, other) && usb_storage_may_be(a, b) && a->unit <= b->last_unit;
}

/* Release a new drive that is the card of another one: the card came to a reader with equal numbers
 * while its own reader counted as there. The next look gives it back to the other one. */
static void give_back(struct usb *u, unsigned drive, unsigned new)
{
    struct usb_storage *n = &u->drives[new];

    if (u->devices[drive].in_use && !is_there(u, drive) && is_attached(u, new) &&
        !u->devices[new].in_use && usb_storage_is(&u->drives[drive], n)) {
        u->host.news[n->place] |= XHCI_NEW_TO_DRIVES;
        usb_storage_let_go(n);
    }
}

/* If a card with open files was replaced by another one, which is attached now, no request tells
 * when the first card is put back. So ask its reader. */
static void ask_readers(struct usb *u)
{
    for (unsigned i = 0; i < u->n_drives; i++)
        for (unsigned j = 0; j < u->n_drives; j++) {
            if (u->devices[i].in_use && !is_attached(u, i) && has_other_card(u, i, j))
                usb_storage_ask_card(&u->drives[j], &u->drives[i], u->devices[j].in_use);
            give_back(u, i, j);
        }
}

/* Note attached drives that nothing tells apart, as two sticks with equal serial numbers onto which
 * one image was written: each is taken again only at its own port. They are asked for their cards
 * first, because one card may have moved from reader to reader. */
static void note_twins(struct usb *u)
{
    for (unsigned i = 0; i < u->n_drives; i++)
        for (unsigned j = 0; j < i; j++) {
            struct usb_storage *a = &u->drives[i], *b = &u->drives[j];

            if (is_attached(u, i) && is_attached(u, j) && !(a->has_twin && b->has_twin) &&
                usb_storage_is_equal(a, b) && usb_storage_has_card(a) && usb_storage_has_card(b))
                a->has_twin = b->has_twin = true;
        }
}

static struct block_device *look_for_drives(struct usb *u)
{
    struct block_device *out = NULL;
    bool took = false;

    if (!is_due(u, &u->looked_for_drives))
        return NULL;
    /* Opening a drive needs control transfers, which must not come between those of a read. */
    if (!all_rest(u) || !runs(u, is_freed(u)))
        return next_change(u);
    xhci_hub_look(&u->host);
    for (unsigned i = 0; i < u->n_drives; i++)
        usb_storage_look(&u->drives[i]);
    ask_readers(u);
    /* Take one new device per look, because each may take seconds. The next look begins after it,
     * so that a device that is new again and again does not keep others from their turn. */
    for (uint32_t i = 0, n = xhci_n_places(&u->host); i < n && !took; i++) {
        u->last_place = u->last_place % n + 1;
        took = take_drive(u, u->last_place, &out);
    }
    note_twins(u);
    if (out == NULL)
        out = tell_left_out(u);
    return out != NULL ? out : next_change(u);
}

struct block_device *usb_look(void)
{
    struct block_device *out = NULL;

    for (unsigned i = 0; i < usb_machine.n_controllers && out == NULL; i++) {
        unsigned turn = usb_machine.turn++ % usb_machine.n_controllers;

        out = look_for_drives(usb_machine.controllers[turn]);
    }
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
    u->host.alive = board.alive;
    if (!dma_reaches(&setup->window, u, sizeof *u))
        return complain(
            u, out, "DMA of the USB controller does not reach the driver's memory: raise `dmaend`");
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
    note_twins(u);
    if (u->host.running)
        find_keyboard(u);
    return n;
}
