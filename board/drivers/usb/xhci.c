/* Sections are those of the eXtensible Host Controller Interface specification 1.2. */
#include "board/drivers/usb/xhci.h"

#include <stddef.h>
#include <string.h>

#include "board/drivers/usb/xhci_private.h"
#include "board/drivers/usb/xhci_registers.h"
#include "board/isa.h"
#include "board/min_max.h"

enum {
    READY_MS = 1000,
    ANSWER_MS = 1000,
    COMMAND_MS = 5000, /* as Linux and U-Boot wait: Address Device includes the device's answer */
    CONNECT_MS = 100,
    POWER_MS = 20, /* 4.19.4 */
    TRB_MOST = 64 << 10,
    TELL_EVENTS = XHCI_EVENTS / 4,
};

static enum err fail(struct xhci *x, enum err e, const char *why)
{
    x->why = why;
    return e;
}

struct xhci_deadline xhci_deadline_in(const struct xhci *x, uint32_t ms)
{
    return (struct xhci_deadline){ x->setup.ticks(), x->setup.ticks_hz / 1000 * ms };
}

bool xhci_is_over(const struct xhci *x, const struct xhci_deadline *d)
{
    return x->setup.ticks() - d->start > d->ticks;
}

void xhci_alive(const struct xhci *x)
{
    if (x->alive != NULL && core_number() == 0)
        x->alive();
}

void xhci_pause(const struct xhci *x, uint32_t ms)
{
    struct xhci_deadline d = xhci_deadline_in(x, ms);

    xhci_alive(x);
    while (!xhci_is_over(x, &d))
        ;
}

uint64_t xhci_address(const struct xhci *x, const void *at)
{
    return dma_address(&x->setup.window, at);
}

static void write_address(const struct xhci *x, unsigned reg, uint64_t address)
{
    xhci_write(x, reg, (uint32_t)address);
    xhci_write(x, reg + 4, (uint32_t)(address >> 32));
}

/* ---- rings ---- */

void xhci_set_ring(struct xhci_ring *ring, struct xhci_trb *trbs)
{
    *ring = (struct xhci_ring){ .trbs = trbs, .cycle = TRB_CYCLE };
    memset(trbs, 0, XHCI_RING * sizeof *trbs);
}

static void put_trb(struct xhci *x, struct xhci_trb *t, uint64_t data, uint32_t status,
                    uint32_t control)
{
    *t = (struct xhci_trb){ data, status, control };
    dma_sync(&x->setup.window, t, sizeof *t);
}

/* The first TRB that is handed over keeps the wrong cycle bit until all are there (4.9.2). */
void xhci_push(struct xhci *x, struct xhci_ring *ring, uint64_t data, uint32_t status,
               uint32_t control)
{
    struct xhci_trb *t = &ring->trbs[ring->next];

    put_trb(x, t, data, status, control | (ring->cycle ^ (ring->first == NULL)));
    if (ring->first == NULL)
        ring->first = t;
    if (++ring->next < XHCI_RING - 1)
        return;
    /* The last entry links back to the first one, and from there on the cycle bit is inverted
     * (4.11.5.1). */
    put_trb(x, &ring->trbs[ring->next], xhci_address(x, ring->trbs), 0,
            TRB_LINK << 10 | TRB_TOGGLE | (control & TRB_CHAIN) | ring->cycle);
    ring->next = 0;
    ring->cycle ^= TRB_CYCLE;
}

static void hand_over(struct xhci *x, struct xhci_ring *ring, uint32_t slot, uint32_t id)
{
    dma_barrier(); /* all others must be there before the first one is handed over */
    ring->first->control ^= TRB_CYCLE;
    dma_sync(&x->setup.window, ring->first, sizeof *ring->first); /* before the doorbell */
    ring->first = NULL;
    xhci_write(x, x->doorbells + 4 * slot, id);
}

/* If the hub in a VL805 is asked while bits 0 to 2 of MFINDEX are 0 (5.5.1), it sends too late for
 * a full-speed device, and the port babbles (Linux's quirk VLI_HUB_TT_QUIRK, raspberrypi/linux pull
 * request 5262). So wait for the next microframe. */
static void avoid_microframe_0(const struct xhci *x, const struct xhci_device *d, uint32_t id)
{
    struct xhci_deadline limit = xhci_deadline_in(x, 1);
    uint32_t port;

    if (d->speed != XHCI_SPEED_FULL || xhci_translator(d, &port) == NULL ||
        (id != XHCI_CONTROL && d->out_id == 0))
        return;
    while ((xhci_read(x, x->runtime + RUN_FRAME) & MICROFRAME) == 0 && !xhci_is_over(x, &limit))
        ;
}

void xhci_ring(struct xhci *x, struct xhci_device *d, struct xhci_ring *ring, uint32_t id)
{
    avoid_microframe_0(x, d, id);
    hand_over(x, ring, d->slot, id);
}

/* The number of bytes for the next TRB, whose data must not cross a multiple of 64 KiB on the bus
 * (6.4.1.1). At SuperSpeed a VL805 garbles data from a TRB that is longer than a packet and not a
 * multiple of it (Linux's quirk VLI_SS_BULK_OUT_BUG; raspberrypi/linux issue 4844). */
static uint32_t piece_bytes(uint64_t at, uint32_t bytes, uint32_t packet)
{
    uint32_t n = min_u32(bytes, (uint32_t)(TRB_MOST - at % TRB_MOST));

    return n > packet ? n - n % packet : n;
}

/* A TRB gives the number of packets that follow it in the transfer; 0 for the last TRB
 * (4.11.2.4). */
void xhci_put(struct xhci *x, struct xhci_ring *ring, const void *data, uint32_t bytes,
              uint32_t packet, bool tell)
{
    uint64_t at = xhci_address(x, data);
    uint32_t packets = (bytes + packet - 1) / packet, done = 0;

    dma_sync(&x->setup.window, data, bytes);
    while (done < bytes) {
        uint32_t n = piece_bytes(at + done, bytes - done, packet);
        bool is_last = done + n == bytes;
        uint32_t left = is_last ? 0 : min_u32(packets - (done + n) / packet, 31);
        uint32_t control = !is_last ? (uint32_t)TRB_CHAIN : tell ? (uint32_t)TRB_TELL : 0;

        xhci_push(x, ring, at + done, n | left << 17, TRB_NORMAL << 10 | control);
        done += n;
    }
}

/* The controller flips the cycle bit with each round, and writes it last (4.9.4). */
static bool pull(struct xhci *x, struct xhci_trb *event)
{
    const struct xhci_trb *t = &x->events[x->next_event];

    dma_sync(&x->setup.window, t, sizeof *t);
    if ((*(const volatile uint32_t *)&t->control & TRB_CYCLE) != x->event_cycle)
        return false;
    dma_sync(&x->setup.window, t, sizeof *t); /* then read the rest, and the data */
    *event = *t;
    if (++x->next_event == XHCI_EVENTS) {
        x->next_event = 0;
        x->event_cycle ^= TRB_CYCLE;
    }
    if (x->next_event % TELL_EVENTS != 0) /* report the position from time to time (4.9.4.1) */
        return true;
    dma_barrier(); /* the entries are read before the controller may write them again */
    write_address(x, x->runtime + RUN_DEQUEUE,
                  xhci_address(x, &x->events[x->next_event]) | DEQUEUE_BUSY);
    return true;
}

static bool is_of(const struct xhci_device *d, const struct xhci_trb *event)
{
    return (event->control >> 10 & 63) == EVENT_TRANSFER && event->control >> 24 == d->slot;
}

/* Keep an event for its device. Events of commands and ports are dropped: they are late, or
 * registers report the same. A device with too many events is broken. */
static void keep(struct xhci *x, const struct xhci_trb *event)
{
    for (uint32_t slot = 1; slot <= XHCI_SLOTS; slot++) {
        struct xhci_device *d = x->devices[slot];

        if (d != NULL && is_of(d, event) && d->n_kept < XHCI_KEPT)
            d->kept[d->n_kept++] = *event;
    }
}

bool xhci_next(struct xhci *x, struct xhci_device *d, struct xhci_trb *event)
{
    if (!x->running)
        return false;
    /* Take events that arrived while another device's event was awaited. */
    if (d->n_kept != 0) {
        *event = d->kept[0];
        memmove(d->kept, d->kept + 1, --d->n_kept * sizeof d->kept[0]);
        return true;
    }
    while (pull(x, event)) {
        if (is_of(d, event))
            return true;
        keep(x, event);
    }
    return false;
}

/* True for the awaited event. An abandoned command may still answer, but its event names its own
 * TRB (6.4.2.2). */
static bool is_awaited(const struct xhci_device *d, uint64_t command, const struct xhci_trb *event)
{
    if (d != NULL)
        return is_of(d, event) && (event->control >> 16 & 31) == XHCI_CONTROL;
    return (event->control >> 10 & 63) == EVENT_COMMAND && event->data == command;
}

enum err xhci_wait(struct xhci *x, const struct xhci_device *d, uint64_t command,
                   struct xhci_trb *event)
{
    struct xhci_deadline limit = xhci_deadline_in(x, d != NULL ? ANSWER_MS : COMMAND_MS);
    bool over = false;

    xhci_alive(x);
    for (;;) {
        if (pull(x, event)) {
            if (is_awaited(d, command, event))
                return ERR_OK;
            keep(x, event);
        } else if (over) {
            return ERR_TIMEOUT;
        } else {
            over = xhci_is_over(x, &limit); /* look once more after the limit */
        }
    }
}

/* Run one command and wait for its end (4.6). */
enum err xhci_obey(struct xhci *x, uint32_t type, uint64_t data, uint32_t control,
                   struct xhci_trb *event)
{
    uint64_t command = xhci_address(x, &x->commands.trbs[x->commands.next]);

    if (x->deaf)
        return ERR_TIMEOUT;
    xhci_push(x, &x->commands, data, 0, type << 10 | control);
    hand_over(x, &x->commands, 0, 0);
    /* A controller that does not answer a command answers no later one, so ask no more until a
     * restart. */
    x->deaf = xhci_wait(x, NULL, command, event) != ERR_OK;
    if (x->deaf)
        return ERR_TIMEOUT;
    return err_unless(event->status >> 24 == CODE_SUCCESS, ERR_IO);
}

enum err xhci_obey_slot(struct xhci *x, const struct xhci_device *d, uint32_t type, uint64_t data,
                        uint32_t id)
{
    struct xhci_trb event;

    return xhci_obey(x, type, data, d->slot << 24 | id << 16, &event);
}

/* 4.6.8 to 4.6.10 */
enum err xhci_drop(struct xhci *x, const struct xhci_device *d, const struct xhci_ring *ring,
                   uint32_t id, uint32_t command)
{
    enum err e = xhci_obey_slot(x, d, command, 0, id);

    if (e != ERR_OK)
        return e;
    /* Continue after the dropped entries, at the place of the next one. */
    return xhci_obey_slot(x, d, TRB_SET_DEQUEUE,
                          xhci_address(x, &ring->trbs[ring->next]) | ring->cycle, id);
}

enum err xhci_unhalt(struct xhci *x, struct xhci_device *d, const struct xhci_ring *ring,
                     uint32_t id)
{
    enum err e = xhci_clear_translator(x, d, id);

    return e == ERR_OK ? xhci_drop(x, d, ring, id, TRB_RESET_ENDPOINT) : e;
}

/* ---- start and stop, in the order of 4.2 ---- */

static enum err wait_status(struct xhci *x, uint32_t mask, uint32_t want)
{
    struct xhci_deadline d = xhci_deadline_in(x, READY_MS);

    for (;;) {
        bool over = xhci_is_over(x, &d);
        uint32_t status = xhci_read(x, x->operational + OP_STATUS);

        if (status == UINT32_MAX)
            return fail(x, ERR_IO, "the USB controller is gone: restart");
        if ((status & mask) == want)
            return ERR_OK;
        if (over)
            return fail(x, ERR_TIMEOUT,
                        "the USB controller does not answer: switch the power off and on");
    }
}

enum err xhci_stop(struct xhci *x)
{
    struct xhci_deadline d;
    enum err e;

    x->running = x->deaf = false;
    x->dead = true;
    /* A reset forgets all devices; drivers notice that their devices have no slot any more. */
    for (uint32_t slot = 1; slot <= XHCI_SLOTS; slot++) {
        if (x->devices[slot] != NULL)
            x->devices[slot]->slot = x->devices[slot]->n_kept = 0;
        x->devices[slot] = NULL;
    }
    dma_barrier();
    /* No register may be written before the controller is ready (5.4.2), which takes a VL805 a
     * while after its program was loaded. */
    e = wait_status(x, STATUS_NOT_READY, 0);
    if (e != ERR_OK)
        return e;
    xhci_write(x, x->operational + OP_COMMAND, 0);
    /* Halt the controller first, because a reset while it runs is undefined (5.4.1). */
    e = wait_status(x, STATUS_HALTED, STATUS_HALTED);
    if (e != ERR_OK)
        return e;
    xhci_write(x, x->operational + OP_COMMAND, COMMAND_RESET);
    d = xhci_deadline_in(x, READY_MS);
    while (xhci_read(x, x->operational + OP_COMMAND) & COMMAND_RESET)
        if (xhci_is_over(x, &d))
            return fail(x, ERR_TIMEOUT,
                        "the USB controller does not reset: switch the power off and on");
    /* Until it is ready, registers must not be written (5.4.2). */
    e = wait_status(x, STATUS_NOT_READY, 0);
    x->dead = e != ERR_OK;
    dma_barrier(); /* after this nothing arrives in memory */
    return e;
}

static enum err read_capabilities(struct xhci *x)
{
    uint32_t length = xhci_read(x, CAP_LENGTH), parameters = xhci_read(x, CAP_PARAMETERS);

    if (length == UINT32_MAX || (length & 0xff) == 0)
        return ERR_NO_DEVICE;
    x->operational = length & 0xff;
    x->doorbells = xhci_read(x, CAP_DOORBELLS) & ~3u;
    x->runtime = xhci_read(x, CAP_RUNTIME) & ~31u;
    x->structure_1 = xhci_read(x, CAP_STRUCTURE_1);
    x->structure_2 = xhci_read(x, CAP_STRUCTURE_2);
    x->parameters = parameters;
    x->n_ports = x->structure_1 >> 24;
    x->context_words = parameters & 1u << 2 ? 16 : 8;
    /* Without AC64 all addresses have 32 bits (5.3.6). */
    if (!(parameters & 1) && x->setup.window.end > UINT32_MAX)
        return fail(x, ERR_UNSUPPORTED, "the USB controller reaches 4 GiB only: give dmaend=4g");
    return ERR_OK;
}

/* Give the controller its scratchpad pages (4.20). */
static enum err set_scratch(struct xhci *x)
{
    uint32_t s = x->structure_2, n = (s >> 21 & 31) << 5 | s >> 27;

    if (n > XHCI_SCRATCH)
        return fail(
            x, ERR_UNSUPPORTED,
            "the USB controller needs more than 64 pages of memory for itself: use another one, and report "
            "the lines of `diag` that begin with USB");
    /* Zero them for each start, because an earlier run has written there (set_rings makes the zeros
     * visible). */
    memset(x->scratch, 0, n * sizeof x->scratch[0]);
    for (uint32_t i = 0; i < n; i++)
        x->scratch_list[i] = xhci_address(x, x->scratch[i]);
    x->contexts[0] = n != 0 ? xhci_address(x, x->scratch_list) : 0;
    return ERR_OK;
}

static void set_rings(struct xhci *x)
{
    memset(x->events, 0, sizeof x->events);
    x->next_event = 0;
    x->event_cycle = TRB_CYCLE;
    xhci_set_ring(&x->commands, x->trbs);
    x->table[0].at = xhci_address(x, x->events);
    x->table[0].size = XHCI_EVENTS;
    dma_sync(&x->setup.window, x, offsetof(struct xhci, setup)); /* zeroed, without dirty lines */
    write_address(x, x->operational + OP_CONTEXTS, xhci_address(x, x->contexts));
    write_address(x, x->operational + OP_COMMAND_RING, xhci_address(x, x->trbs) | TRB_CYCLE);
    xhci_write(x, x->runtime + RUN_TABLE_SIZE, 1);
    write_address(x, x->runtime + RUN_DEQUEUE, xhci_address(x, x->events) | DEQUEUE_BUSY);
    write_address(x, x->runtime + RUN_TABLE,
                  xhci_address(x, x->table)); /* written last, because this write starts the ring */
}

/* Switch the ports' power on, which may be off after a reset if the controller has switches for it
 * (5.4.8). */
static void power_ports(struct xhci *x)
{
    bool any = false;

    for (uint32_t port = 1; port <= x->n_ports; port++) {
        unsigned reg = xhci_port_register(x, port);
        uint32_t status = xhci_read(x, reg);

        if (status & PORT_POWER)
            continue;
        xhci_write(x, reg, (status & PORT_KEPT) | PORT_POWER);
        any = true;
    }
    xhci_pause(x, CONNECT_MS + (any ? POWER_MS : 0)); /* USB 2.0, 7.1.7.3: a connection settles */
}

/* Look at the controller's ports first, then at those of hubs; a hub has a lower number than the
 * hubs behind it. */
static void find_hubs(struct xhci *x)
{
    bool fresh;

    for (uint32_t place = 1; place <= xhci_n_places(x); place++)
        if (xhci_is_unused(x, place, &fresh))
            (void)xhci_hub_open(x, place);
}

enum err xhci_start(struct xhci *x)
{
    enum err e = read_capabilities(x);

    x->why = NULL;
    if (e == ERR_OK)
        e = xhci_stop(x);
    if (e == ERR_OK && !(xhci_read(x, x->operational + OP_PAGE_SIZE) & 1))
        e = fail(x, ERR_UNSUPPORTED,
                 "the USB controller needs pages larger than 4 KiB: use another one");
    if (e == ERR_OK)
        e = set_scratch(x);
    if (e != ERR_OK)
        return e;
    /* Set the number of slots, the tables and the rings, then Run (4.2). */
    xhci_write(x, x->operational + OP_CONFIG, min_u32(XHCI_SLOTS, x->structure_1 & 0xff));
    set_rings(x);
    xhci_write(x, x->operational + OP_COMMAND, COMMAND_RUN);
    e = wait_status(x, STATUS_HALTED, 0);
    if (e != ERR_OK)
        return e;
    x->running = true;
    x->starts++;
    power_ports(x);
    find_hubs(x);
    return ERR_OK;
}
