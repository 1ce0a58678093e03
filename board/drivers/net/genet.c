/* The steps have the order of U-Boot's bcmgenet.c. */
#include "board/drivers/net/genet.h"

#include <string.h>

#include "board/drivers/net/genet_registers.h"

enum {
    PHY_MICROS = 1000,  /* time to access a PHY register: 64 bits at 2.5 MHz or less */
    STOP_MICROS = 5000, /* time for the engines to stop */
    REST_MICROS = 10,   /* pause after each step of a reset */
    ALIGN_BYTES = 2,    /* bytes that the device puts before a frame */
    LEAST_BYTES = 60,   /* shortest frame that is sent; shorter ones are padded */
    FRAME_MOST = 1536,
};

/* ---- time, the PHY's registers ---- */

static uint64_t ticks_of(const struct genet *g, uint64_t micros)
{
    return g->setup.ticks_hz / 1000000 * micros + 1;
}

static void rest(const struct genet *g)
{
    uint64_t start = g->setup.ticks();

    while (g->setup.ticks() - start < ticks_of(g, REST_MICROS)) {
    }
}

/* Wait until these bits of a register are as wanted. */
static bool await(const struct genet *g, unsigned reg, uint32_t bits, bool set, uint64_t micros)
{
    uint64_t start = g->setup.ticks();

    do {
        if (((genet_read(g, reg) & bits) != 0) == set)
            return true;
    } while (g->setup.ticks() - start < ticks_of(g, micros));
    return false;
}

/* Run a request for a register of the PHY. Returns false if the bus does not answer. */
static bool ask_phy(const struct genet *g, uint32_t request)
{
    genet_write(g, GENET_MDIO, request);
    genet_write(g, GENET_MDIO, request | GENET_MDIO_BUSY);
    return await(g, GENET_MDIO, GENET_MDIO_BUSY, false, PHY_MICROS);
}

static uint32_t phy_place(unsigned address, unsigned reg)
{
    return address << GENET_MDIO_PHY_SHIFT | reg << GENET_MDIO_REG_SHIFT;
}

static uint16_t read_phy(void *context, unsigned address, unsigned reg)
{
    const struct genet *g = context;
    uint32_t answer;

    if (!ask_phy(g, GENET_MDIO_READ | phy_place(address, reg)))
        return 0xffff;
    answer = genet_read(g, GENET_MDIO);
    return answer & GENET_MDIO_FAILED ? 0xffff : (uint16_t)answer;
}

static void write_phy(void *context, unsigned address, unsigned reg, uint16_t value)
{
    (void)ask_phy(context, GENET_MDIO_WRITE | phy_place(address, reg) | value);
}

/* ---- reset ---- */

static void set_bits(const struct genet *g, unsigned reg, uint32_t bits, bool set)
{
    uint32_t before = genet_read(g, reg);

    genet_write(g, reg, set ? before | bits : before & ~bits);
}

/* Stop the device. If the firmware loaded us over the network, the device may still write a
 * frame to memory that is ours now. Wait up to STOP_MICROS for each engine; not every engine
 * reports that it has stopped. */
static void stop(const struct genet *g)
{
    set_bits(g, GENET_COMMAND, GENET_COMMAND_SENDS | GENET_COMMAND_RECEIVES, false);
    set_bits(g, GENET_SENDS + GENET_ENGINE_CONTROL, GENET_ENGINE_ON, false);
    set_bits(g, GENET_RECEIVES + GENET_ENGINE_CONTROL, GENET_ENGINE_ON, false);
    (void)await(g, GENET_SENDS + GENET_ENGINE_STATUS, GENET_ENGINE_STOPPED, true, STOP_MICROS);
    (void)await(g, GENET_RECEIVES + GENET_ENGINE_STATUS, GENET_ENGINE_STOPPED, true, STOP_MICROS);
}

static void reset(const struct genet *g)
{
    genet_write(g, GENET_PORT, GENET_PORT_EXTERNAL_RGMII);
    genet_write(g, GENET_RECEIVE_FLUSH, 2);
    rest(g);
    genet_write(g, GENET_RECEIVE_FLUSH, 0);
    rest(g);
    genet_write(g, GENET_COMMAND, 0);
    genet_write(g, GENET_COMMAND, GENET_COMMAND_RESET | GENET_COMMAND_LOOP);
    rest(g);
    genet_write(g, GENET_COMMAND, 0);
    genet_write(g, GENET_COUNTERS, GENET_COUNTERS_CLEAR);
    genet_write(g, GENET_COUNTERS, 0);
    genet_write(g, GENET_FRAME_MOST, FRAME_MOST);
    /* Firmware that loaded us over the network may have enabled status blocks, as Linux's driver
     * does. */
    set_bits(g, GENET_RECEIVE_BUFFER, GENET_STATUS_BLOCK, false);
    set_bits(g, GENET_SEND_BUFFER, GENET_STATUS_BLOCK, false);
    set_bits(g, GENET_RECEIVE_BUFFER, GENET_RECEIVE_ALIGNS, true);
    genet_write(g, GENET_SEND_BUFFER_SIZE, 1);
    genet_write(g, GENET_SEND_FLUSH, 1);
    rest(g);
    genet_write(g, GENET_SEND_FLUSH, 0);
}

/* ---- the queues ---- */

static unsigned descriptor(unsigned base, unsigned slot)
{
    return base + slot * GENET_DESCRIPTOR_BYTES;
}

static void write_buffer(const struct genet *g, unsigned base, unsigned slot, const uint8_t *buffer)
{
    uint64_t at = dma_address(&g->setup.window, buffer);

    genet_write(g, descriptor(base, slot) + 4, (uint32_t)at);
    genet_write(g, descriptor(base, slot) + 8, (uint32_t)(at >> 32));
}

/* Empty a queue. The device's index cannot be written, so our index and both pointers are set to
 * match it: index n is slot n % GENET_SLOTS, and a pointer counts words. Returns the index. */
static uint16_t start_queue(const struct genet *g, unsigned base)
{
    uint16_t index = (uint16_t)genet_read(g, base + GENET_QUEUE_DEVICE);
    uint32_t pointer = index % GENET_SLOTS * (GENET_DESCRIPTOR_BYTES / 4);

    genet_write(g, base + GENET_ENGINE_BURST, GENET_BURST);
    genet_write(g, base + GENET_QUEUE_START, 0);
    genet_write(g, base + GENET_QUEUE_END, GENET_SLOTS * GENET_DESCRIPTOR_BYTES / 4 - 1);
    genet_write(g, base + GENET_QUEUE_POINTER_1, pointer);
    genet_write(g, base + GENET_QUEUE_POINTER_2, pointer);
    genet_write(g, base + GENET_QUEUE_OURS, index);
    genet_write(g, base + GENET_QUEUE_SIZE, GENET_SLOTS << 16 | GENET_BUFFER_BYTES);
    genet_write(g, base + GENET_ENGINE_QUEUES, 1 << GENET_QUEUE);
    return index;
}

static void start_queues(struct genet *g)
{
    const struct dma_window *w = &g->setup.window;

    g->taken = start_queue(g, GENET_RECEIVES);
    genet_write(g, GENET_RECEIVES + GENET_QUEUE_FLOW, GENET_FLOW_RECEIVES);
    for (unsigned slot = 0; slot < GENET_SLOTS; slot++)
        write_buffer(g, GENET_RECEIVES, slot, g->received[slot]);
    dma_sync(w, g->received, sizeof g->received);
    g->given = start_queue(g, GENET_SENDS);
    genet_write(g, GENET_SENDS + GENET_QUEUE_DONE, 1);
    genet_write(g, GENET_SENDS + GENET_QUEUE_FLOW, 0);
    genet_write(g, GENET_SENDS + GENET_ENGINE_CONTROL, GENET_ENGINE_QUEUE | GENET_ENGINE_ON);
    genet_write(g, GENET_RECEIVES + GENET_ENGINE_CONTROL, GENET_ENGINE_QUEUE | GENET_ENGINE_ON);
}

/* ---- open ---- */

/* Choose the given address, else the one that the firmware left in the registers, which must be
 * read before the reset. Returns false if neither is the address of a station. */
static bool find_address(const struct genet *g, uint8_t a[6])
{
    uint32_t high = genet_read(g, GENET_ADDRESS_HIGH), low = genet_read(g, GENET_ADDRESS_LOW);

    for (unsigned i = 0; i < 6; i++) {
        uint32_t left = i < 4 ? high >> (24 - 8 * i) : low >> (40 - 8 * i);

        a[i] = g->setup.address != NULL ? g->setup.address[i] : (uint8_t)left;
    }
    return (a[0] & 1) == 0 && (a[0] | a[1] | a[2] | a[3] | a[4] | a[5]) != 0;
}

static void write_address(const struct genet *g, const uint8_t a[6])
{
    genet_write(g, GENET_ADDRESS_HIGH,
                (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3]);
    genet_write(g, GENET_ADDRESS_LOW, (uint32_t)a[4] << 8 | a[5]);
}

static void write_filter(const struct genet *g, unsigned n, const uint8_t a[6])
{
    unsigned at = GENET_FILTER_ADDRESS + n * GENET_FILTER_BYTES;

    genet_write(g, at, (uint32_t)a[0] << 8 | a[1]);
    genet_write(g, at + 4,
                (uint32_t)a[2] << 24 | (uint32_t)a[3] << 16 | (uint32_t)a[4] << 8 | a[5]);
}

/* Receive frames to our address, to everybody, and to the groups that lwIP joins. A solicited-node
 * group ends in the same 24 bits as the IPv6 addresses that are made from `own` (RFC 4291, 2.5.1
 * and 2.7.1). RFC 1112, 6.4, and RFC 2464, 7, map groups of IPv4 and IPv6 to these addresses. */
static void write_filters(const struct genet *g, const uint8_t own[6])
{
    const uint8_t rows[][6] = {
        { own[0], own[1], own[2], own[3], own[4], own[5] },
        { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
        { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x01 }, /* 224.0.0.1: all hosts */
        { 0x01, 0x00, 0x5e, 0x00, 0x00, 0xfb }, /* 224.0.0.251: mDNS */
        { 0x33, 0x33, 0x00, 0x00, 0x00, 0x01 }, /* ff02::1: all nodes */
        { 0x33, 0x33, 0x00, 0x00, 0x00, 0xfb }, /* ff02::fb: mDNS */
        { 0x33, 0x33, 0xff, own[3], own[4], own[5] },
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };

    _Static_assert((int)ROWS <= (int)GENET_MOST_FILTERS, "there are too few filters for the rows");
    for (unsigned n = 0; n < ROWS; n++)
        write_filter(g, n, rows[n]);
    genet_write(g, GENET_FILTERS, ((1u << ROWS) - 1) << (GENET_MOST_FILTERS - ROWS));
}

/* Do everything that comes before the PHY. Returns NULL or an error message. */
static const char *start(struct genet *g, uint8_t address[6])
{
    const struct dma_window *w = &g->setup.window;

    if ((genet_read(g, GENET_REVISION) >> 24 & 15) != GENET_REVISION_5)
        return "the network controller is not a GENET of version 5";
    if (!dma_reaches(w, g->received, sizeof g->received) ||
        !dma_reaches(w, g->sent, sizeof g->sent))
        return "the network controller cannot reach the image's memory";
    if (!find_address(g, address))
        return "the network controller has no MAC address";
    stop(g);
    reset(g);
    write_address(g, address);
    write_filters(g, address);
    return NULL;
}

enum err genet_open(struct genet *g, const struct genet_setup *setup, uint8_t address[6],
                    const char **why)
{
    const struct phy_bus bus = { .context = g, .read = read_phy, .write = write_phy };

    memset(g, 0, sizeof *g);
    g->setup = *setup;
    *why = start(g, address);
    if (*why != NULL)
        return ERR_UNSUPPORTED;
    if (!phy_find(&g->phy, &bus, setup->phy)) {
        *why = "no PHY answers at the network controller";
        return ERR_NO_DEVICE;
    }
    start_queues(g);
    g->works = true;
    phy_start(&g->phy);
    return ERR_OK;
}

/* ---- the link ---- */

static uint32_t speed_of(unsigned mbits)
{
    uint32_t slow = mbits == 100 ? 1 : 0;

    return mbits == 1000 ? 2 : slow;
}

static void follow_link(struct genet *g)
{
    uint32_t rgmii = genet_read(g, GENET_RGMII) & ~(uint32_t)GENET_RGMII_NO_OUT_OF_BAND;

    genet_write(g, GENET_RGMII, rgmii | GENET_RGMII_LINK | GENET_RGMII_ON | GENET_RGMII_NO_DELAY);
    genet_write(g, GENET_COMMAND,
                speed_of(g->link.mbits) << GENET_COMMAND_SPEED_SHIFT |
                    (g->link.full ? 0 : GENET_COMMAND_HALF) | GENET_COMMAND_SENDS |
                    GENET_COMMAND_RECEIVES);
}

bool genet_is_up(struct genet *g)
{
    bool changed;

    if (!g->works || !phy_follow(&g->phy, &g->link, &changed))
        return false;
    if (changed)
        follow_link(g);
    return true;
}

/* ---- frames ---- */

bool genet_send(struct genet *g, const uint8_t *frame, size_t bytes)
{
    unsigned slot = g->given % GENET_SLOTS;
    uint32_t length = (uint32_t)(bytes < LEAST_BYTES ? LEAST_BYTES : bytes);
    uint16_t in_flight;

    if (!g->works || bytes == 0 || bytes > GENET_FRAME_BYTES) {
        g->n_lost++;
        return false;
    }
    in_flight = (uint16_t)(g->given - (uint16_t)genet_read(g, GENET_SENDS + GENET_QUEUE_DEVICE));
    if (in_flight >= GENET_SLOTS) { /* the queue is full, or the index is not one of ours */
        g->n_lost++;
        return false;
    }
    memset(g->sent[slot], 0, LEAST_BYTES);
    memcpy(g->sent[slot], frame, bytes);
    dma_sync(&g->setup.window, g->sent[slot], GENET_BUFFER_BYTES);
    write_buffer(g, GENET_SENDS, slot, g->sent[slot]);
    genet_write(g, descriptor(GENET_SENDS, slot),
                length << GENET_BYTES_SHIFT | GENET_SEND_TAG | GENET_SEND_CHECKSUM | GENET_FIRST |
                    GENET_LAST);
    g->given++;
    dma_barrier(); /* the frame and its descriptor must be visible before the index */
    genet_write(g, GENET_SENDS + GENET_QUEUE_OURS, g->given);
    return true;
}

/* Copy the next frame to `to`; returns its length, or 0 if the frame is broken. */
static size_t copy_frame(struct genet *g, unsigned slot, uint8_t *to, size_t room)
{
    uint32_t status = genet_read(g, descriptor(GENET_RECEIVES, slot));
    size_t bytes = status >> GENET_BYTES_SHIFT & GENET_BYTES_MASK;

    if (!(status & GENET_FIRST) || !(status & GENET_LAST) || (status & GENET_RECEIVE_WRONG) ||
        bytes <= ALIGN_BYTES || bytes > GENET_BUFFER_BYTES || bytes - ALIGN_BYTES > room)
        return 0;
    dma_sync(&g->setup.window, g->received[slot], GENET_BUFFER_BYTES);
    memcpy(to, g->received[slot] + ALIGN_BYTES, bytes - ALIGN_BYTES);
    return bytes - ALIGN_BYTES;
}

size_t genet_receive(struct genet *g, uint8_t *to, size_t room)
{
    for (unsigned i = 0; g->works && i < GENET_SLOTS; i++) {
        uint16_t there = (uint16_t)genet_read(g, GENET_RECEIVES + GENET_QUEUE_DEVICE);
        unsigned slot = g->taken % GENET_SLOTS;
        size_t bytes;

        if (there == g->taken)
            return 0;
        bytes = copy_frame(g, slot, to, room);
        /* A core may have fetched lines of the buffer, which must not be written back over the next
         * frame. */
        dma_sync(&g->setup.window, g->received[slot], GENET_BUFFER_BYTES);
        g->taken++;
        genet_write(g, GENET_RECEIVES + GENET_QUEUE_OURS, g->taken);
        if (bytes != 0)
            return bytes;
        g->n_lost++;
    }
    return 0;
}
