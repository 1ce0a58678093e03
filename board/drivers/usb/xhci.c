/* Sections are those of the eXtensible Host Controller Interface specification 1.2. */
#include "board/drivers/usb/xhci.h"

#include <stddef.h>
#include <string.h>

#include "board/drivers/usb/xhci_registers.h"
#include "board/min_max.h"

enum {
    READY_MS = 1000,
    ANSWER_MS = 1000,
    CONNECT_MS = 100,
    RESET_MS = 500,
    RECOVERY_MS = 10, /* USB 2.0, 7.1.7.5 */
    TRB_MOST = 64 << 10,
    SPEED_FULL = 1,
    SPEED_LOW = 2,
    SPEED_HIGH = 3,
    TYPE_CONTROL = 4,
    TYPE_BULK_OUT = 2,
    TYPE_BULK_IN = 6,
    ERRORS_3 = 3 << 1,
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

static void pause_ms(const struct xhci *x, uint32_t ms)
{
    struct xhci_deadline d = xhci_deadline_in(x, ms);

    while (!xhci_is_over(x, &d))
        ;
}

static uint64_t address_of(const struct xhci *x, const void *at)
{
    return dma_address(&x->setup.window, at);
}

static void write_address(const struct xhci *x, unsigned reg, uint64_t address)
{
    xhci_write(x, reg, (uint32_t)address);
    xhci_write(x, reg + 4, (uint32_t)(address >> 32));
}

/* ---- rings ---- */

static void set_ring(struct xhci_ring *ring, struct xhci_trb *trbs)
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

/* 4.9.2: the first one of a hand-over keeps the wrong cycle until all are there. */
static void push(struct xhci *x, struct xhci_ring *ring, uint64_t data, uint32_t status,
                 uint32_t control)
{
    struct xhci_trb *t = &ring->trbs[ring->next];

    put_trb(x, t, data, status, control | (ring->cycle ^ (ring->first == NULL)));
    if (ring->first == NULL)
        ring->first = t;
    if (++ring->next < XHCI_RING - 1)
        return;
    put_trb(x, &ring->trbs[ring->next], address_of(x, ring->trbs), 0,
            TRB_LINK << 10 | TRB_TOGGLE | (control & TRB_CHAIN) | ring->cycle);
    ring->next = 0;
    ring->cycle ^= TRB_CYCLE;
}

static void hand_over(struct xhci *x, struct xhci_ring *ring, uint32_t slot, uint32_t id)
{
    dma_barrier(); /* the rest is there before the first one changes hands */
    ring->first->control ^= TRB_CYCLE;
    dma_sync(&x->setup.window, ring->first, sizeof *ring->first); /* before the doorbell */
    ring->first = NULL;
    xhci_write(x, x->doorbells + 4 * slot, id);
}

void xhci_ring(struct xhci *x, struct xhci_ring *ring, uint32_t id)
{
    hand_over(x, ring, x->slot, id);
}

/* 6.4.1.1: the data of a TRB stays within 64 KiB of the bus; 4.11.2.4: packets that follow it. */
void xhci_put(struct xhci *x, struct xhci_ring *ring, const void *data, uint32_t bytes,
              uint32_t packet, bool tell)
{
    uint64_t at = address_of(x, data);

    dma_sync(&x->setup.window, data, bytes);
    while (bytes != 0) {
        uint32_t n = min_u32(bytes, (uint32_t)(TRB_MOST - at % TRB_MOST));
        uint32_t left = min_u32((bytes - n + packet - 1) / packet, 31);
        uint32_t control = n < bytes ? (uint32_t)TRB_CHAIN : tell ? (uint32_t)TRB_TELL : 0;

        push(x, ring, at, n | left << 17, TRB_NORMAL << 10 | control);
        at += n;
        bytes -= n;
    }
}

/* 4.9.4: the controller flips the cycle with each round, and writes it last. */
bool xhci_next(struct xhci *x, struct xhci_trb *event)
{
    const struct xhci_trb *t = &x->events[x->next_event];

    dma_sync(&x->setup.window, t, sizeof *t);
    if ((*(const volatile uint32_t *)&t->control & TRB_CYCLE) != x->event_cycle)
        return false;
    dma_sync(&x->setup.window, t, sizeof *t); /* then the rest, and data */
    *event = *t;
    if (++x->next_event == XHCI_EVENTS) {
        x->next_event = 0;
        x->event_cycle ^= TRB_CYCLE;
    }
    dma_barrier(); /* the entry is read before the controller may write it again */
    write_address(x, x->runtime + RUN_DEQUEUE,
                  address_of(x, &x->events[x->next_event]) | DEQUEUE_BUSY);
    return true;
}

/* Wait for an event of this type, of this endpoint where it is a transfer's. Others are late: of
 * transfers that were given up. */
static enum err wait_event(struct xhci *x, uint32_t type, uint32_t id, struct xhci_trb *event)
{
    struct xhci_deadline d = xhci_deadline_in(x, ANSWER_MS);
    bool over = false;

    for (;;) {
        if (xhci_next(x, event)) {
            if ((event->control >> 10 & 63) == type &&
                (type == EVENT_COMMAND || (event->control >> 16 & 31) == id))
                return ERR_OK;
        } else if (over) {
            return ERR_TIMEOUT;
        } else {
            over = xhci_is_over(x, &d); /* one more look after the limit */
        }
    }
}

/* 4.6: one command, waited for. */
static enum err obey(struct xhci *x, uint32_t type, uint64_t data, uint32_t control,
                     struct xhci_trb *event)
{
    push(x, &x->commands, data, 0, type << 10 | control);
    hand_over(x, &x->commands, 0, 0);
    if (wait_event(x, EVENT_COMMAND, 0, event) != ERR_OK)
        return ERR_TIMEOUT;
    return err_unless(event->status >> 24 == CODE_SUCCESS, ERR_IO);
}

static enum err obey_slot(struct xhci *x, uint32_t type, uint64_t data, uint32_t id)
{
    struct xhci_trb event;

    return obey(x, type, data, x->slot << 24 | id << 16, &event);
}

/* 4.6.8, 4.6.10 */
enum err xhci_unhalt(struct xhci *x, struct xhci_ring *ring, uint32_t id)
{
    enum err e = obey_slot(x, TRB_RESET_ENDPOINT, 0, id);

    if (e != ERR_OK)
        return e;
    return obey_slot(x, TRB_SET_DEQUEUE, address_of(x, &ring->trbs[ring->next]) | ring->cycle, id);
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

    dma_barrier();
    xhci_write(x, x->operational + OP_COMMAND, 0);
    e = wait_status(x, STATUS_HALTED, STATUS_HALTED);
    if (e != ERR_OK)
        return e;
    xhci_write(x, x->operational + OP_COMMAND, COMMAND_RESET);
    d = xhci_deadline_in(x, READY_MS);
    while (xhci_read(x, x->operational + OP_COMMAND) & COMMAND_RESET)
        if (xhci_is_over(x, &d))
            return fail(x, ERR_TIMEOUT,
                        "the USB controller does not reset: switch the power off and on");
    e = wait_status(x, STATUS_NOT_READY, 0);
    dma_barrier(); /* nothing arrives in memory after this */
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
    x->n_ports = xhci_read(x, CAP_STRUCTURE_1) >> 24;
    x->context_words = parameters & 1u << 2 ? 16 : 8;
    if (!(parameters & 1) && x->setup.window.end > UINT32_MAX)
        return fail(x, ERR_UNSUPPORTED, "the USB controller reaches 4 GiB only: give dmaend=4g");
    return ERR_OK;
}

/* 4.20: pages that are the controller's own */
static enum err set_scratch(struct xhci *x)
{
    uint32_t s = xhci_read(x, CAP_STRUCTURE_2), n = (s >> 21 & 31) << 5 | s >> 27;

    if (n > XHCI_SCRATCH)
        return fail(x, ERR_UNSUPPORTED,
                    "the USB controller wants more memory than is set aside for it");
    for (uint32_t i = 0; i < n; i++)
        x->scratch_list[i] = address_of(x, x->scratch[i]);
    x->contexts[0] = n != 0 ? address_of(x, x->scratch_list) : 0;
    return ERR_OK;
}

static void set_rings(struct xhci *x)
{
    memset(x->events, 0, sizeof x->events);
    x->next_event = 0;
    x->event_cycle = TRB_CYCLE;
    set_ring(&x->commands, x->trbs[0]);
    x->table[0].at = address_of(x, x->events);
    x->table[0].size = XHCI_EVENTS;
    dma_sync(&x->setup.window, x, offsetof(struct xhci, setup)); /* zeroed, and no dirty line */
    write_address(x, x->operational + OP_CONTEXTS, address_of(x, x->contexts));
    write_address(x, x->operational + OP_COMMAND_RING, address_of(x, x->trbs[0]) | TRB_CYCLE);
    xhci_write(x, x->runtime + RUN_TABLE_SIZE, 1);
    write_address(x, x->runtime + RUN_DEQUEUE, address_of(x, x->events) | DEQUEUE_BUSY);
    write_address(x, x->runtime + RUN_TABLE,
                  address_of(x, x->table)); /* last: it begins the ring */
}

enum err xhci_start(struct xhci *x)
{
    enum err e = read_capabilities(x);

    x->slot = 0;
    if (e == ERR_OK)
        e = xhci_stop(x);
    if (e == ERR_OK && !(xhci_read(x, x->operational + OP_PAGE_SIZE) & 1))
        e = fail(x, ERR_UNSUPPORTED, "the USB controller wants pages above 4 KiB: use another one");
    if (e == ERR_OK)
        e = set_scratch(x);
    if (e != ERR_OK)
        return e;
    xhci_write(x, x->operational + OP_CONFIG,
               min_u32(XHCI_SLOTS, xhci_read(x, CAP_STRUCTURE_1) & 0xff));
    set_rings(x);
    xhci_write(x, x->operational + OP_COMMAND, COMMAND_RUN);
    e = wait_status(x, STATUS_HALTED, 0);
    if (e == ERR_OK)
        pause_ms(x, CONNECT_MS); /* USB 2.0, 7.1.7.3: a connection settles */
    return e;
}

/* ---- ports and contexts ---- */

static unsigned port_register(const struct xhci *x, uint32_t port)
{
    return x->operational + OP_PORTS + 16 * (port - 1);
}

/* 4.3.1: a USB 3 port is enabled by itself; reset either, so that the device begins anew. */
static enum err reset_port(struct xhci *x, uint32_t port)
{
    unsigned reg = port_register(x, port);
    uint32_t status = xhci_read(x, reg);
    struct xhci_deadline d = xhci_deadline_in(x, RESET_MS);

    if (status == UINT32_MAX || !(status & PORT_CONNECTED))
        return ERR_NO_DEVICE;
    xhci_write(x, reg, (status & PORT_KEPT) | PORT_CHANGES);
    xhci_write(x, reg, (status & PORT_KEPT) | PORT_RESET);
    while (!((status = xhci_read(x, reg)) & PORT_RESET_CHANGE))
        if (xhci_is_over(x, &d))
            return ERR_TIMEOUT;
    xhci_write(x, reg, (status & PORT_KEPT) | PORT_CHANGES);
    pause_ms(x, RECOVERY_MS);
    x->speed = status >> 10 & 15;
    return err_unless(status & PORT_ENABLED, ERR_IO);
}

static uint32_t *context(struct xhci *x, uint32_t id) /* 6.2.5: behind the input's own */
{
    return x->input + x->context_words * (id + 1);
}

static void set_slot_context(struct xhci *x, uint32_t add, uint32_t last)
{
    memset(x->input, 0, sizeof x->input);
    x->input[1] = add;
    context(x, 0)[0] = x->speed << 20 | last << 27;
    context(x, 0)[1] = x->port << 16;
}

static void set_endpoint(struct xhci *x, uint32_t id, uint32_t type, const struct xhci_ring *ring,
                         uint32_t packet, uint32_t burst)
{
    uint32_t *c = context(x, id);
    uint64_t at = address_of(x, ring->trbs) | TRB_CYCLE;

    c[1] = ERRORS_3 | type << 3 | burst << 8 | packet << 16;
    c[2] = (uint32_t)at;
    c[3] = (uint32_t)(at >> 32);
    c[4] = type == TYPE_CONTROL ? 8 : 0x4000; /* what a TRB has, about */
}

static enum err obey_input(struct xhci *x, uint32_t type)
{
    dma_sync(&x->setup.window, x->input, sizeof x->input);
    return obey_slot(x, type, address_of(x, x->input), 0);
}

static uint32_t first_packet(const struct xhci *x) /* USB 2.0, 5.5.3; USB 3.2, 8.12.2 */
{
    if (x->speed == SPEED_FULL || x->speed == SPEED_LOW)
        return 8;
    return x->speed == SPEED_HIGH ? 64 : 512;
}

static enum err give_address(struct xhci *x)
{
    set_ring(&x->control, x->trbs[1]);
    memset(x->output, 0, sizeof x->output);
    x->contexts[x->slot] = address_of(x, x->output);
    set_slot_context(x, 3, 1);
    set_endpoint(x, XHCI_CONTROL, TYPE_CONTROL, &x->control, first_packet(x), 0);
    dma_sync(&x->setup.window, x->trbs[1], sizeof x->trbs[1]);
    dma_sync(&x->setup.window, x->output, sizeof x->output);
    dma_sync(&x->setup.window, x->contexts, sizeof x->contexts);
    return obey_input(x, TRB_ADDRESS);
}

/* A device of full speed tells its packets' size in the eighth byte, which the first packet has. */
static enum err learn_packet(struct xhci *x)
{
    enum err e = ERR_OK;

    if (x->speed == SPEED_FULL)
        e = xhci_control(x, 0x80, 6, 1 << 8, 0, 8);
    if (e != ERR_OK || x->speed != SPEED_FULL || x->data[7] == 8)
        return e;
    if (x->data[7] != 16 && x->data[7] != 32 && x->data[7] != 64)
        return ERR_IO;
    memset(x->input, 0, sizeof x->input);
    x->input[1] = 2;
    set_endpoint(x, XHCI_CONTROL, TYPE_CONTROL, &x->control, x->data[7], 0);
    return obey_input(x, TRB_EVALUATE);
}

enum err xhci_attach(struct xhci *x, uint32_t port)
{
    struct xhci_trb event;
    enum err e = reset_port(x, port);

    if (e == ERR_OK)
        e = obey(x, TRB_ENABLE_SLOT, 0, 0, &event);
    if (e != ERR_OK)
        return e;
    if (event.control >> 24 == 0 || event.control >> 24 > XHCI_SLOTS)
        return ERR_IO;
    x->slot = event.control >> 24;
    x->port = port;
    e = give_address(x);
    if (e == ERR_OK)
        e = learn_packet(x);
    if (e != ERR_OK)
        xhci_detach(x);
    return e;
}

void xhci_detach(struct xhci *x)
{
    (void)obey_slot(x, TRB_DISABLE_SLOT, 0, 0);
    x->slot = 0;
}

bool xhci_is_connected(const struct xhci *x)
{
    uint32_t controller = xhci_read(x, x->operational + OP_STATUS);

    return controller != UINT32_MAX && !(controller & STATUS_FATAL) && x->slot != 0 &&
           (xhci_read(x, port_register(x, x->port)) & (PORT_CONNECTED | PORT_ENABLED)) ==
               (PORT_CONNECTED | PORT_ENABLED);
}

enum err xhci_configure(struct xhci *x, const struct usb_storage_ends *ends)
{
    x->in_id = 2u * ends->in + 1;
    x->out_id = 2u * ends->out;
    set_ring(&x->in, x->trbs[2]);
    set_ring(&x->out, x->trbs[3]);
    dma_sync(&x->setup.window, x->trbs, sizeof x->trbs);
    set_slot_context(x, 1u | 1u << x->in_id | 1u << x->out_id, max_u32(x->in_id, x->out_id));
    set_endpoint(x, x->in_id, TYPE_BULK_IN, &x->in, ends->in_packet, ends->in_burst);
    set_endpoint(x, x->out_id, TYPE_BULK_OUT, &x->out, ends->out_packet, ends->out_burst);
    return obey_input(x, TRB_CONFIGURE);
}

/* ---- control transfers, 4.11.2.2 ---- */

enum err xhci_control(struct xhci *x, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
                      uint16_t bytes)
{
    bool in = type & 0x80;
    struct xhci_trb event;
    enum err e;

    if (in)
        memset(x->data, 0, sizeof x->data);
    dma_sync(&x->setup.window, x->data, sizeof x->data);
    push(x, &x->control,
         type | (uint64_t)request << 8 | (uint64_t)value << 16 | (uint64_t)index << 32 |
             (uint64_t)bytes << 48,
         8,
         TRB_SETUP << 10 | TRB_IMMEDIATE |
             (bytes == 0 ? 0u
              : in       ? 3u
                         : 2u)
                 << 16);
    if (bytes != 0)
        push(x, &x->control, address_of(x, x->data), bytes, TRB_DATA << 10 | (in ? TRB_IN : 0));
    push(x, &x->control, 0, 0, TRB_STATUS << 10 | TRB_TELL | (in && bytes != 0 ? 0 : TRB_IN));
    xhci_ring(x, &x->control, XHCI_CONTROL);
    e = wait_event(x, EVENT_TRANSFER, XHCI_CONTROL, &event);
    dma_sync(&x->setup.window, x->data, sizeof x->data);
    if (e != ERR_OK || event.status >> 24 == CODE_SUCCESS)
        return e;
    if (event.status >> 24 != CODE_STALL)
        return ERR_IO;
    e = xhci_unhalt(x, &x->control, XHCI_CONTROL);
    return e != ERR_OK ? e : ERR_UNSUPPORTED;
}
