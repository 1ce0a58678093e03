/* Equal sticks that are exchanged, cards that move between equal readers, and disks in standby. */
#include "tests/unit/board/fakes/usb_done.h"
#include "tests/unit/board/fakes/usb_machine.h"
#include "tests/unit/tap.h"

static bool serials; /* sticks and readers have different serial numbers */

/* Look as the program does: read each drive that is found. */
static void list(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct block_device *d;

        f.now += 300;
        d = usb_look();
        if (d != NULL && d->error_message == NULL)
            (void)read_from(d);
    }
}

/* Number of reads of a drive, among ten, that have the data of a unit. */
static unsigned n_right(unsigned drive, int unit)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 10; i++) {
        n += unit_read(&usb.devices[drive]) == unit;
        f.now += 5000;
        list(LOOKS);
    }
    return n;
}

static void stick(unsigned unit, uint32_t port)
{
    put_drive(unit, port);
    if (!serials)
        f.units[unit].number = '7';
}

/* Sticks at ports 2 and 3 are exchanged. */
static void test_exchanged(bool looks_between, bool with_numbers, unsigned files)
{
    unsigned a, b;

    serials = with_numbers;
    clear();
    stick(0, 2);
    stick(1, 3);
    (void)open_all();
    list(LOOKS);
    usb.devices[0].in_use = true;
    usb.devices[1].in_use = files == 2;
    pull(&f.units[0]);
    if (looks_between)
        list(LOOKS);
    pull(&f.units[1]);
    if (looks_between)
        list(LOOKS);
    f.units[0].port = 3;
    f.units[1].port = 2;
    plug(&f.units[0]);
    if (looks_between)
        list(LOOKS);
    plug(&f.units[1]);
    list(4 * LOOKS);
    a = n_right(0, 0);
    b = n_right(1, 1);
    OK(a >= 8 && b >= 8 && n_wrong == 0,
       "sticks %s serial numbers, %u with files, exchanged %s looks: %u and %u of 10 reads",
       with_numbers ? "different" : "equal", files, looks_between ? "with" : "without", a, b);
}

/* A stick that is ignored, because three drives are known, comes to a port while the first one is
 * away. The first one's request or a look comes first when it is back. */
static void test_ignored(bool equal, uint32_t port, bool looks_first)
{
    unsigned a;

    serials = true;
    clear();
    stick(0, 2);
    stick(1, 3);
    stick(2, 4);
    serials = false;
    stick(0, 2);
    (void)open_all();
    list(LOOKS);
    usb.devices[0].in_use = usb.devices[1].in_use = usb.devices[2].in_use = true;
    pull(&f.units[0]);
    list(LOOKS);
    serials = !equal;
    stick(3, port);
    list(LOOKS);
    f.units[0].port = 5;
    plug(&f.units[0]);
    if (looks_first)
        list(4 * LOOKS);
    a = n_right(0, 0);
    OK(a >= (looks_first ? 8 : 10) && n_wrong == 0,
       "a fourth stick, %s, at port %u while the first is away, which a %s finds: %u of 10 reads",
       equal ? "equal" : "with another number", (unsigned)port, looks_first ? "look" : "request",
       a);
}

/* ---- readers: all disks have the same data, and a card begins at a block of its own ---- */

enum { A = 0, B = 20, NO_CARD = -1 };

static int cards[3]; /* of units 0 to 2 */
static bool is_changed[3];
static uint8_t keys[3], codes[3];

static unsigned number_of(const struct fake_unit *u)
{
    return (unsigned)(u - f.units);
}

static void fail_card(struct fake_unit *u)
{
    unsigned i = number_of(u);
    uint8_t c = u->cdb[0];

    u->times = 0;
    if (c == 0x12 || c == 3)
        return;
    keys[i] = codes[i] = 0;
    if (is_changed[i]) {
        keys[i] = 6;
        codes[i] = 0x28;
        is_changed[i] = false;
    } else if (cards[i] == NO_CARD) {
        keys[i] = 2;
        codes[i] = 0x3a;
    } else {
        u->shift = (uint32_t)cards[i];
    }
    if (keys[i] == 0)
        return;
    u->failed = u->wanted == 0;
    u->of_any = u->wanted != 0;
    u->times = u->of_any;
    u->fault = STALLED;
}

static void tell_card(struct fake_unit *u)
{
    unsigned i = number_of(u);

    if (u->cdb[0] != 3)
        return;
    u->answer[2] = keys[i];
    u->answer[12] = codes[i];
    keys[i] = codes[i] = 0;
}

static void reader(unsigned unit, uint32_t port, int card)
{
    stick(unit, port);
    memcpy(f.units[unit].disk, f.units[0].disk, sizeof f.units[0].disk);
    f.units[unit].on_command = fail_card;
    f.units[unit].on_answer = tell_card;
    cards[unit] = card;
    is_changed[unit] = false;
}

static void card_in(unsigned unit, int card)
{
    cards[unit] = card;
    is_changed[unit] = card != NO_CARD;
}

static unsigned n_right_card(unsigned drive, uint32_t card)
{
    unsigned n = 0;

    for (unsigned i = 0; i < 10; i++) {
        n += read_from(&usb.devices[drive]) == ERR_OK && is_of(buffers[0], 0, 5 + card);
        f.now += 5000;
        list(LOOKS);
    }
    return n;
}

/* The cards of two readers are taken out; then they are exchanged, or put back. */
static void test_exchanged_cards(bool exchanges, bool with_numbers, unsigned files)
{
    unsigned a, b;

    serials = with_numbers;
    clear();
    reader(0, 2, A);
    reader(1, 3, B);
    (void)open_all();
    list(LOOKS);
    usb.devices[0].in_use = true;
    usb.devices[1].in_use = files == 2;
    card_in(0, NO_CARD);
    list(LOOKS);
    (void)read_from(&usb.devices[0]);
    list(LOOKS);
    card_in(1, NO_CARD);
    list(LOOKS);
    (void)read_from(&usb.devices[1]);
    list(LOOKS);
    card_in(0, exchanges ? B : A);
    list(LOOKS);
    card_in(1, exchanges ? A : B);
    list(4 * LOOKS);
    a = n_right_card(0, A);
    b = n_right_card(1, B);
    OK(a >= 8 && b >= 8 && n_wrong == 0,
       "cards of two readers %s serial numbers, %u with files, that are %s: %u and %u of 10 reads",
       with_numbers ? "different" : "equal", files,
       exchanges ? "exchanged" : "taken out and put back", a, b);
}

/* ---- a disk in standby: it is ready, and its first read waits until it spins ---- */

static uint64_t wakes_at; /* 0: it sleeps */
static unsigned wake_ms;
static bool waits;

static uint64_t waking_ticks(void)
{
    struct fake_unit *u = &f.units[0];

    f.now++;
    if (waits && f.now >= wakes_at) {
        waits = false;
        if (u->has_command && u->slot != 0 && u->times != 0) {
            u->times = 0;
            if (u->ends[BULK_IN].busy) /* the model has taken the TRB */
                u->ends[BULK_IN].at -= sizeof(struct xhci_trb);
            u->ends[BULK_IN].busy = false;
            ring_device(u->slot, BULK_IN);
        }
    }
    return f.now;
}

static void wait_for_motor(struct fake_unit *u)
{
    u->times = 0;
    if (!moves_blocks(u))
        return;
    if (wakes_at == 0)
        wakes_at = f.now + wake_ms;
    if (f.now >= wakes_at)
        return;
    u->fault = SILENT;
    u->times = 1;
    waits = true;
}

/* Read as the file layer does: for 5 s, then reset the drive, and try three times more. */
static enum err read_patiently(struct block_device *device)
{
    for (unsigned i = 0; i < 4; i++) {
        static struct block_request r;
        uint64_t until = f.now + 5000;
        enum err e;

        r = (struct block_request){ .sector = 5, .n_sectors = SECTORS, .buffer = buffers[0] };
        e = device->submit != NULL ? device->submit(device, &r) : ERR_IO;
        while (e == ERR_OK && !r.done && f.now < until) {
            (void)waking_ticks();
            (void)device->poll(device);
        }
        if (e == ERR_OK && !r.done)
            (void)device->reset(device);
        if (e == ERR_OK && r.done && r.status == ERR_OK)
            return ERR_OK;
    }
    return ERR_IO;
}

static void test_standby(unsigned ms, bool plugged_in)
{
    struct xhci_setup setup;
    enum err e;

    clear();
    wakes_at = 0;
    wake_ms = ms;
    waits = false;
    setup = fake_setup();
    setup.ticks = waking_ticks;
    put_drive(0, 2);
    f.units[0].on_command = wait_for_motor;
    if (plugged_in)
        pull(&f.units[0]);
    memset(&usb, 0, sizeof usb);
    (void)usb_open(&usb, &setup, found, 8);
    if (plugged_in)
        plug(&f.units[0]);
    list(1);
    f.now += 60000;
    list(4 * LOOKS);
    f.now += 60000;
    list(4 * LOOKS);
    e = read_patiently(&usb.devices[0]);
    OK(e == ERR_OK && is_of(buffers[0], 0, 5) && n_wrong == 0,
       "a disk in standby that needs %u ms, %s, is read: %s", ms,
       plugged_in ? "plugged in later" : "there at the start",
       usb.devices[0].error_message != NULL ? usb.devices[0].error_message : "no message");
}

/* A card with open files moves to an equal reader. Its own reader is pulled first, or counts as there
 * until it is pulled or gets another card. */
static void test_moved_card(bool late, bool gets_other, bool is_asked)
{
    unsigned a;

    serials = false;
    clear();
    reader(0, 2, A);
    reader(1, 3, B);
    (void)open_all();
    list(LOOKS);
    usb.devices[0].in_use = true;
    card_in(0, NO_CARD);
    if (is_asked)
        (void)read_from(&usb.devices[0]);
    list(LOOKS);
    if (!late)
        pull(&f.units[0]);
    list(LOOKS);
    pull(&f.units[1]);
    list(LOOKS);
    reader(1, 3, A);
    list(LOOKS);
    if (late && gets_other)
        card_in(0, 60);
    else if (late)
        pull(&f.units[0]);
    list(LOOKS);
    a = n_right_card(0, A);
    OK(a >= 8 && n_wrong == 0, "a card in an equal reader, whose own reader%s %s: %u of 10 reads",
       is_asked ? "" : " was not asked and",
       !late        ? "was pulled before"
       : gets_other ? "has another card"
                    : "is pulled afterwards",
       a);
}

/* An equal reader without a card comes to another port while a card with open files is away. */
static void test_report(void)
{
    const struct block_device *d;

    serials = false;
    clear();
    reader(0, 2, A);
    (void)open_all();
    list(LOOKS);
    usb.devices[0].in_use = true;
    pull(&f.units[0]);
    list(LOOKS);
    reader(1, 3, NO_CARD);
    d = looks();
    OK(d != NULL && has_name(d, ", port 3") && d->error_message != NULL &&
           has_name(&usb.devices[0], ", port 2") && n_wrong == 0,
       "an empty reader is reported at its own port: %s", d != NULL ? d->name : "it is not");
}

int main(void)
{
    test_report();
    for (unsigned is_asked = 0; is_asked < 2; is_asked++) {
        test_moved_card(false, false, is_asked);
        test_moved_card(true, false, is_asked);
        test_moved_card(true, true, is_asked);
    }
    test_standby(3000, false);
    test_standby(3000, true);
    test_standby(8000, false);
    test_standby(8000, true);
    for (unsigned files = 1; files < 3; files++) {
        test_exchanged_cards(false, false, files);
        test_exchanged_cards(true, false, files);
    }
    for (unsigned n = 0; n < 2; n++)
        for (unsigned l = 0; l < 2; l++)
            for (unsigned files = 1; files < 3; files++)
                test_exchanged(!l, !n, files);
    for (uint32_t port = 1; port <= 2; port++)
        for (unsigned equal = 0; equal < 2; equal++) {
            test_ignored(equal, port, true);
            test_ignored(equal, port, false);
        }
    return usb_done();
}
