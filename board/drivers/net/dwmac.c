/* The steps have the order of U-Boot's dwc_eth_qos.c. */
#include "board/drivers/net/dwmac.h"

#include <string.h>

#include "board/drivers/net/dwmac_registers.h"

enum {
    PHY_MICROS = 2000,     /* time to access a PHY register: 64 bits at 2.5 MHz or less */
    RESET_MICROS = 100000, /* time for the reset, which needs the PHY's clock */
    LEAST_BYTES = 60,      /* shortest frame that is sent; shorter ones are padded */
    FIFO_UNIT = 128,
    QUEUE_UNIT = 256,
    MOST_BURST = 32,
    RECEIVE_BURST = 8,
    READS = 2, /* at most 3 reads are under way on the bus; the register takes one less */
    SEND_WEIGHT = 0x10,
};

/* ---- time, the PHY's registers ---- */

/* Wait until these bits of a register are clear. */
static bool await_clear(const struct dwmac *d, unsigned reg, uint32_t bits, uint64_t micros)
{
    uint64_t start = d->setup.ticks(), limit = d->setup.ticks_hz / 1000000 * micros + 1;

    do {
        if ((dwmac_read(d, reg) & bits) == 0)
            return true;
    } while (d->setup.ticks() - start < limit);
    return false;
}

/* Run a request for a register of the PHY. Returns false if the bus does not answer. */
static bool ask_phy(const struct dwmac *d, unsigned address, unsigned reg, uint32_t what)
{
    dwmac_write(d, DWMAC_MDIO,
                address << DWMAC_MDIO_PHY_SHIFT | reg << DWMAC_MDIO_REG_SHIFT | DWMAC_MDIO_CLOCK |
                    what | DWMAC_MDIO_BUSY);
    return await_clear(d, DWMAC_MDIO, DWMAC_MDIO_BUSY, PHY_MICROS);
}

static uint16_t read_phy(void *context, unsigned address, unsigned reg)
{
    const struct dwmac *d = context;

    if (!ask_phy(d, address, reg, DWMAC_MDIO_READ))
        return 0xffff;
    return (uint16_t)dwmac_read(d, DWMAC_MDIO_DATA);
}

static void write_phy(void *context, unsigned address, unsigned reg, uint16_t value)
{
    const struct dwmac *d = context;

    dwmac_write(d, DWMAC_MDIO_DATA, value);
    (void)ask_phy(d, address, reg, DWMAC_MDIO_WRITE);
}

/* ---- descriptors ---- */

static void sync_slot(const struct dwmac *d, const struct dwmac_ring *r, unsigned slot)
{
    dma_sync(&d->setup.window, (const void *)&r->slots[slot], sizeof r->slots[slot]);
}

/* Give the device a frame of `bytes` bytes to send, or an empty buffer to fill if `bytes` is 0. */
static void give(const struct dwmac *d, struct dwmac_ring *r, unsigned slot, uint32_t bytes,
                 uint32_t status)
{
    volatile uint32_t *words = r->slots[slot].words;
    uint64_t address = dma_address(&d->setup.window, r->buffers[slot]);

    dma_sync(&d->setup.window, r->buffers[slot], DWMAC_BUFFER_BYTES);
    words[0] = (uint32_t)address;
    words[1] = 0; /* memory_is_seen() has checked: the buffer is below 4 GiB */
    words[2] = bytes;
    dma_barrier(); /* other words must be visible before the one that hands the descriptor
                      over */
    words[3] = status | DWMAC_DEVICES;
    sync_slot(d, r, slot);
}

static uint32_t address_of(const struct dwmac *d, const struct dwmac_ring *r, unsigned slot)
{
    return (uint32_t)dma_address(&d->setup.window, (const void *)&r->slots[slot]);
}

/* Give the device a buffer for a frame. The device stops before the descriptor at the tail. The
 * tail is set to the buffer given last, which therefore stays unused; a tail one further could mean
 * that no buffer is left. */
static void give_receive(struct dwmac *d, unsigned slot)
{
    give(d, &d->receives, slot, 0, DWMAC_BUFFER_VALID);
    dma_barrier(); /* the descriptor must be visible before the device is told */
    dwmac_write(d, DWMAC_RECEIVE_TAIL, address_of(d, &d->receives, slot));
}

/* ---- reset, queues ---- */

/* A FIFO's size in units of QUEUE_UNIT, minus one; our only queue gets the whole FIFO. */
static uint32_t queue_units(uint32_t features, unsigned shift)
{
    uint32_t power = features >> shift & DWMAC_FIFO_MASK;

    return ((uint32_t)FIFO_UNIT << (power < 16 ? power : 16)) / QUEUE_UNIT - 1;
}

static void set_queues(const struct dwmac *d)
{
    uint32_t features = dwmac_read(d, DWMAC_FEATURES_1);
    uint32_t sends = queue_units(features, DWMAC_SEND_FIFO_SHIFT),
             receives = queue_units(features, DWMAC_RECEIVE_FIFO_SHIFT),
             burst = sends + 1 < MOST_BURST ? sends + 1 : MOST_BURST; /* less than half of the
                                                                         FIFO */

    /* The FIFOs pass on only whole frames; a FIFO of 2 KiB has room for a frame. */
    dwmac_write(d, DWMAC_SEND_QUEUE,
                DWMAC_QUEUE_WHOLE_SENDS | DWMAC_QUEUE_SENDS_ON | sends << DWMAC_QUEUE_SENDS_SHIFT);
    dwmac_write(d, DWMAC_SEND_WEIGHT, SEND_WEIGHT);
    dwmac_write(d, DWMAC_RECEIVE_QUEUE,
                DWMAC_QUEUE_WHOLE_RECEIVES | receives << DWMAC_QUEUE_RECEIVES_SHIFT);
    dwmac_write(d, DWMAC_QUEUES, DWMAC_QUEUE_0);
    dwmac_write(d, DWMAC_QUEUE_ROUTES, 0); /* every received frame goes to queue 0 */
    dwmac_write(d, DWMAC_BUS, DWMAC_BUS_BURSTS | READS << DWMAC_BUS_READS_SHIFT);
    dwmac_write(d, DWMAC_CHANNEL,
                DWMAC_CHANNEL_TIMES_8 |
                    (uint32_t)(sizeof(struct dwmac_descriptor) - 16) / d->setup.bus_bytes
                        << DWMAC_CHANNEL_SKIP_SHIFT);
    dwmac_write(d, DWMAC_SENDS, DWMAC_SECOND | burst << DWMAC_BURST_SHIFT);
    dwmac_write(d, DWMAC_RECEIVES,
                DWMAC_BUFFER_BYTES << DWMAC_BUFFER_SHIFT | RECEIVE_BURST << DWMAC_BURST_SHIFT);
}

/* Write all descriptors, then start both engines, and set the tail last, as U-Boot does. */
static void start_rings(struct dwmac *d)
{
    dwmac_write(d, DWMAC_SEND_LIST_TOP, 0);
    dwmac_write(d, DWMAC_SEND_LIST, address_of(d, &d->sends, 0));
    dwmac_write(d, DWMAC_SEND_LENGTH, DWMAC_SLOTS - 1);
    dwmac_write(d, DWMAC_RECEIVE_LIST_TOP, 0);
    dwmac_write(d, DWMAC_RECEIVE_LIST, address_of(d, &d->receives, 0));
    dwmac_write(d, DWMAC_RECEIVE_LENGTH, DWMAC_SLOTS - 1);
    for (unsigned slot = 0; slot < DWMAC_SLOTS; slot++) {
        sync_slot(d, &d->sends, slot); /* zeros: the descriptor is ours */
        give(d, &d->receives, slot, 0, DWMAC_BUFFER_VALID);
    }
    dma_barrier(); /* the descriptors must be visible before the engines start */
    dwmac_write(d, DWMAC_SENDS, dwmac_read(d, DWMAC_SENDS) | DWMAC_ON);
    dwmac_write(d, DWMAC_RECEIVES, dwmac_read(d, DWMAC_RECEIVES) | DWMAC_ON);
    dwmac_write(d, DWMAC_RECEIVE_TAIL, address_of(d, &d->receives, DWMAC_SLOTS - 1));
}

/* ---- open ---- */

static bool memory_is_seen(const struct dwmac *d)
{
    const struct dma_window *w = &d->setup.window;
    uint64_t end = dma_address(w, d) + sizeof *d;

    /* Below 4 GiB the lower half of an address is enough, on controllers of every width. */
    return end <= (uint64_t)1 << 32 && dma_reaches(w, &d->receives, sizeof d->receives) &&
           dma_reaches(w, &d->sends, sizeof d->sends);
}

static bool is_address(const uint8_t *a)
{
    return a != NULL && (a[0] & 1) == 0 && (a[0] | a[1] | a[2] | a[3] | a[4] | a[5]) != 0;
}

/* Receive frames to our address, to everybody and to all groups: lwIP filters groups. */
static void write_address(const struct dwmac *d, const uint8_t a[6])
{
    dwmac_write(d, DWMAC_FILTER, DWMAC_FILTER_ALL_GROUPS);
    dwmac_write(d, DWMAC_ADDRESS_HIGH, a[4] | (uint32_t)a[5] << 8);
    dwmac_write(d, DWMAC_ADDRESS_LOW,
                a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 | (uint32_t)a[3] << 24);
}

enum err dwmac_open(struct dwmac *d, const struct dwmac_setup *setup, uint8_t address[6],
                    const char **why)
{
    const struct phy_bus bus = { .context = d, .read = read_phy, .write = write_phy };

    memset(d, 0, sizeof *d);
    d->setup = *setup;
    *why = "the network controller is not a GMAC of version 5";
    if ((dwmac_read(d, DWMAC_VERSION) >> 4 & 15) != DWMAC_VERSION_5)
        return ERR_UNSUPPORTED;
    *why = "the network controller cannot reach the image's memory";
    if (!memory_is_seen(d))
        return ERR_UNSUPPORTED;
    *why = "the device tree has no address for the network controller (local-mac-address)";
    if (!is_address(setup->address))
        return ERR_UNSUPPORTED;
    /* The reset stops everything that the firmware left running. */
    *why = "the network controller stays in reset: its PHY gives it no clock";
    dwmac_write(d, DWMAC_DMA, DWMAC_DMA_RESET);
    if (!await_clear(d, DWMAC_DMA, DWMAC_DMA_RESET, RESET_MICROS))
        return ERR_TIMEOUT;
    *why = "no PHY answers at the network controller";
    if (!phy_find(&d->phy, &bus, setup->phy))
        return ERR_NO_DEVICE;
    *why = NULL;
    memcpy(address, setup->address, 6);
    dwmac_write(d, DWMAC_INTERRUPTS, 0);
    dwmac_write(d, DWMAC_CHANNEL_INTERRUPTS, 0);
    set_queues(d);
    write_address(d, address);
    start_rings(d);
    d->works = true;
    yt8531_start(&d->setup.yt8531, &d->phy);
    phy_start(&d->phy);
    return ERR_OK;
}

/* ---- the link ---- */

static void follow_link(const struct dwmac *d)
{
    uint32_t speed = d->link.mbits == 1000 ? 0 : DWMAC_CONFIG_SLOW;

    if (d->link.mbits == 100)
        speed |= DWMAC_CONFIG_100;
    dwmac_write(d, DWMAC_CONFIG,
                speed | (d->link.full ? DWMAC_CONFIG_FULL : 0) | DWMAC_CONFIG_NO_PADDING |
                    DWMAC_CONFIG_NO_CHECKSUM | DWMAC_CONFIG_SENDS | DWMAC_CONFIG_RECEIVES);
}

bool dwmac_is_too_slow(const struct dwmac *d)
{
    return d->works && d->setup.gigabit_only && d->link.mbits != 0 && d->link.mbits != 1000;
}

bool dwmac_is_up(struct dwmac *d)
{
    bool changed;

    if (!d->works || !phy_follow(&d->phy, &d->link, &changed))
        return false;
    if (dwmac_is_too_slow(d)) {
        if (changed)
            dwmac_write(d, DWMAC_CONFIG, 0); /* stop the frames that an earlier,
                                                faster link allowed */
        return false;
    }
    if (changed) {
        yt8531_follow(&d->setup.yt8531, &d->phy, d->link.mbits);
        follow_link(d);
    }
    return true;
}

/* ---- close ---- */

/* The steps have the order of U-Boot's eqos_stop. */
void dwmac_close(struct dwmac *d)
{
    d->works = false;
    dwmac_write(d, DWMAC_SENDS, dwmac_read(d, DWMAC_SENDS) & ~(uint32_t)DWMAC_ON);
    dwmac_write(d, DWMAC_CONFIG, 0);
    dwmac_write(d, DWMAC_RECEIVES, dwmac_read(d, DWMAC_RECEIVES) & ~(uint32_t)DWMAC_ON);
    (void)dwmac_read(d, DWMAC_RECEIVES); /* the read ensures that the writes have arrived */
}

/* ---- frames ---- */

/* Take back the descriptors of sent frames. */
static void look_after_sends(struct dwmac *d)
{
    while (d->n_sent != d->given) {
        unsigned slot = d->n_sent % DWMAC_SLOTS;

        sync_slot(d, &d->sends, slot);
        if (d->sends.slots[slot].words[3] & DWMAC_DEVICES)
            return;
        d->n_sent++;
    }
}

/* One slot stays empty, because a tail at the oldest slot would mean that nothing is to be sent. */
bool dwmac_send(struct dwmac *d, const uint8_t *frame, size_t bytes)
{
    unsigned slot = d->given % DWMAC_SLOTS;
    uint32_t length = (uint32_t)(bytes < LEAST_BYTES ? LEAST_BYTES : bytes);

    if (d->works)
        look_after_sends(d);
    if (!d->works || bytes == 0 || bytes > DWMAC_FRAME_BYTES ||
        d->given - d->n_sent >= DWMAC_SLOTS - 1) {
        d->n_lost++;
        return false;
    }
    memset(d->sends.buffers[slot], 0, LEAST_BYTES);
    memcpy(d->sends.buffers[slot], frame, bytes);
    give(d, &d->sends, slot, length, DWMAC_FIRST | DWMAC_LAST | length);
    d->given++;
    dma_barrier(); /* the descriptor must be visible before the device is told */
    dwmac_write(d, DWMAC_SEND_TAIL, address_of(d, &d->sends, d->given % DWMAC_SLOTS));
    return true;
}

/* Copy the frame in the slot to `to`. Returns the frame's length, or 0 if the frame is broken. */
static size_t copy_frame(struct dwmac *d, unsigned slot, uint8_t *to, size_t room)
{
    uint32_t status = d->receives.slots[slot].words[3];
    size_t bytes = status & DWMAC_BYTES_MASK;

    if (!(status & DWMAC_FIRST) || !(status & DWMAC_LAST) || (status & DWMAC_ERROR) ||
        bytes > DWMAC_BUFFER_BYTES || bytes > room)
        return 0;
    dma_sync(&d->setup.window, d->receives.buffers[slot], DWMAC_BUFFER_BYTES);
    memcpy(to, d->receives.buffers[slot], bytes);
    return bytes;
}

size_t dwmac_receive(struct dwmac *d, uint8_t *to, size_t room)
{
    for (unsigned i = 0; d->works && i < DWMAC_SLOTS; i++) {
        unsigned slot = d->taken % DWMAC_SLOTS;
        size_t bytes;

        sync_slot(d, &d->receives, slot);
        if (d->receives.slots[slot].words[3] & DWMAC_DEVICES)
            return 0;
        dma_barrier(); /* read this word before the frame that it hands over */
        bytes = copy_frame(d, slot, to, room);
        d->taken++;
        give_receive(d, slot);
        if (bytes != 0)
            return bytes;
        d->n_lost++;
    }
    return 0;
}
