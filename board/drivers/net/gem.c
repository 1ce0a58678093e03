/* The steps have the order of AMD's Zynq UltraScale+ manual (UG1085), chapter 34, "Programming
 * Model". */
#include "board/drivers/net/gem.h"

#include <string.h>

#include "board/drivers/net/gem_registers.h"

enum {
    LINE_WORDS = DMA_LINE_BYTES / 4,
    PHY_MICROS = 1000,  /* time to access a PHY register: 64 bits at 2.5 MHz or less */
    SEND_MICROS = 3000, /* twice the time of sending a frame at 10 Mbit/s */
};
#define RUN ((uint32_t)(GEM_CONTROL_PHY | GEM_CONTROL_RECEIVES | GEM_CONTROL_SENDS))

/* ---- the PHY's registers ---- */

static uint64_t ticks_of(const struct gem *g, uint64_t micros)
{
    return g->setup.ticks_hz / 1000000 * micros + 1;
}

static bool phy_is_idle(const struct gem *g)
{
    uint64_t start = g->setup.ticks();

    do {
        if (gem_read(g, GEM_STATUS) & GEM_STATUS_PHY_IDLE)
            return true;
    } while (g->setup.ticks() - start < ticks_of(g, PHY_MICROS));
    return false;
}

static uint16_t read_phy(void *context, unsigned address, unsigned reg)
{
    const struct gem *g = context;

    if (!phy_is_idle(g))
        return 0xffff;
    gem_write(g, GEM_PHY, GEM_PHY_READ | address << 23 | reg << 18);
    return phy_is_idle(g) ? (uint16_t)gem_read(g, GEM_PHY) : 0xffff;
}

static void write_phy(void *context, unsigned address, unsigned reg, uint16_t value)
{
    const struct gem *g = context;

    if (!phy_is_idle(g))
        return;
    gem_write(g, GEM_PHY, GEM_PHY_WRITE | address << 23 | reg << 18 | value);
    (void)phy_is_idle(g);
}

/* ---- descriptors ---- */

static unsigned words_of(const struct gem *g)
{
    return g->wide ? GEM_WORDS : GEM_WORDS / 2;
}

static unsigned slots_of_a_line(const struct gem *g)
{
    return LINE_WORDS / words_of(g);
}

static volatile uint32_t *words(const struct gem *g, struct gem_ring *r, unsigned slot)
{
    return r->words + slot * words_of(g);
}

/* Synchronize a descriptor with memory, before the device or we read it. */
static void sync_slot(const struct gem *g, struct gem_ring *r, unsigned slot)
{
    dma_sync(&g->setup.window, r->words + slot / slots_of_a_line(g) * LINE_WORDS, DMA_LINE_BYTES);
}

/* Write the upper half of a buffer's address, if descriptors have a word for it. */
static void write_top(const struct gem *g, struct gem_ring *r, unsigned slot)
{
    if (g->wide)
        words(g, r, slot)[2] = (uint32_t)(dma_address(&g->setup.window, r->buffers[slot]) >> 32);
}

static void write_low(const struct gem *g, struct gem_ring *r, unsigned slot, uint32_t flags)
{
    words(g, r, slot)[0] = (uint32_t)dma_address(&g->setup.window, r->buffers[slot]) | flags;
}

/* Give the buffers of a whole cache line of descriptors to the device. The first word of a
 * descriptor hands it over, so the device must see the other words first. Without the barrier a
 * core may reorder its writes: the device would then find the last frame's length, or the length of
 * a new frame would be overwritten. */
static void give_line(struct gem *g, unsigned first)
{
    struct gem_ring *r = &g->receives;

    for (unsigned slot = first; slot < first + slots_of_a_line(g); slot++) {
        dma_sync(&g->setup.window, r->buffers[slot], GEM_BUFFER_BYTES);
        words(g, r, slot)[1] = 0;
        write_top(g, r, slot);
    }
    dma_barrier();
    for (unsigned slot = first; slot < first + slots_of_a_line(g); slot++)
        write_low(g, r, slot, slot + 1 == GEM_SLOTS ? GEM_RECEIVE_WRAP : 0);
    sync_slot(g, r, first);
}

static void write_base(const struct gem *g, unsigned low, unsigned top, const void *at)
{
    uint64_t address = dma_address(&g->setup.window, at);

    if (g->wide)
        gem_write(g, top, (uint32_t)(address >> 32));
    gem_write(g, low, (uint32_t)address);
}

/* Empty the send queue. The device starts at the queue's base when sending is enabled again. */
static void empty_sends(struct gem *g)
{
    struct gem_ring *r = &g->sends;

    gem_write(g, GEM_CONTROL, RUN & ~(uint32_t)GEM_CONTROL_SENDS);
    gem_write(g, GEM_SEND_STATUS, gem_read(g, GEM_SEND_STATUS));
    r->next = r->count = 0;
    for (unsigned slot = 0; slot < GEM_SLOTS; slot++)
        words(g, r, slot)[1] = GEM_SEND_OURS | (slot + 1 == GEM_SLOTS ? GEM_SEND_WRAP : 0);
    dma_sync(&g->setup.window, r->words, sizeof r->words);
    write_base(g, GEM_SEND_BASE, GEM_SEND_BASE_TOP, r->words);
    gem_write(g, GEM_CONTROL, RUN);
}

/* Point unused queues at a descriptor without a buffer, because address 0 has no descriptor. */
static void close_other_queues(struct gem *g)
{
    uint32_t queues = gem_read(g, GEM_DESIGN_6);

    g->idle[0] = GEM_RECEIVE_OURS | GEM_RECEIVE_WRAP;
    g->idle[1] = GEM_SEND_OURS | GEM_SEND_WRAP;
    dma_sync(&g->setup.window, g->idle, sizeof g->idle);
    for (unsigned q = 1; q < GEM_QUEUES; q++) {
        if (queues >> q & 1) {
            uint32_t at = (uint32_t)dma_address(&g->setup.window, g->idle);

            gem_write(g, GEM_SEND_BASE_1 + (q - 1) * 4, at);
            gem_write(g, GEM_RECEIVE_BASE_1 + (q - 1) * 4, at);
            gem_write(g, GEM_INTERRUPTS_OFF_1 + (q - 1) * 4, 0xffffffff);
        }
    }
}

/* ---- open, close ---- */

void gem_close(struct gem *g)
{
    g->works = false;
    gem_write(g, GEM_CONTROL, 0);
    (void)gem_read(g, GEM_CONTROL); /* the read ensures that the write has arrived */
}

/* True if this is the address of a station, that is, not of a group and not zero. */
static bool is_address(const uint8_t *a)
{
    return (a[0] & 1) == 0 && (a[0] | a[1] | a[2] | a[3] | a[4] | a[5]) != 0;
}

static bool read_address(const struct gem *g, uint8_t address[6])
{
    uint32_t low = gem_read(g, GEM_ADDRESS_LOW), high = gem_read(g, GEM_ADDRESS_HIGH);

    for (unsigned i = 0; i < 6; i++) {
        uint32_t half = i < 4 ? low : high;

        address[i] = (uint8_t)(g->setup.address != NULL ? g->setup.address[i]
                                                        : half >> 8 * (i % 4));
    }
    return is_address(address);
}

/* Set our address; writing its upper half makes it valid. Frames of all groups are received: lwIP
 * filters them. */
static void write_address(const struct gem *g, const uint8_t a[6])
{
    gem_write(g, GEM_ADDRESS_LOW,
              a[0] | (uint32_t)a[1] << 8 | (uint32_t)a[2] << 16 | (uint32_t)a[3] << 24);
    gem_write(g, GEM_ADDRESS_HIGH, a[4] | (uint32_t)a[5] << 8);
    gem_write(g, GEM_HASH_LOW, 0xffffffff);
    gem_write(g, GEM_HASH_HIGH, 0xffffffff);
}

/* Stop and configure the controller. Nothing is pending afterwards, interrupts are off, and the bus
 * to the PHY works. */
static void configure(struct gem *g)
{
    uint32_t width = gem_read(g, GEM_DESIGN_1) >> 25 & 7; /* 1, 2, 4: words of 32 bits */

    gem_write(g, GEM_CONTROL, 0);
    gem_write(g, GEM_CONTROL, GEM_CONTROL_CLEAR);
    gem_write(g, GEM_INTERRUPTS_OFF, 0xffffffff);
    gem_write(g, GEM_SEND_STATUS, gem_read(g, GEM_SEND_STATUS));
    gem_write(g, GEM_RECEIVE_STATUS, gem_read(g, GEM_RECEIVE_STATUS));
    g->config = GEM_CONFIG_HASH | GEM_CONFIG_1536 | GEM_CONFIG_NO_CHECKSUM | GEM_CONFIG_PHY_CLOCK |
                width / 2 << GEM_CONFIG_WIDTH_SHIFT |
                (g->setup.sgmii ? GEM_CONFIG_SGMII | GEM_CONFIG_PCS : 0);
    gem_write(g, GEM_CONFIG, g->config);
    /* Write this register after the choice of the PCS: an earlier write has no effect (macb_main.c
     * of Linux). */
    if (g->setup.sgmii)
        gem_write(g, GEM_PCS, gem_read(g, GEM_PCS) | GEM_PCS_NEGOTIATES);
    if (g->setup.rgmii)
        gem_write(g, GEM_PINS, GEM_PINS_RGMII);
    gem_write(g, GEM_DMA,
              GEM_DMA_BURST | GEM_DMA_MEMORY | (GEM_BUFFER_BYTES / 64) << GEM_DMA_BUFFER_SHIFT |
                  GEM_DMA_DROPS | (g->wide ? GEM_DMA_64 : 0));
    gem_write(g, GEM_CONTROL, GEM_CONTROL_PHY);
}

static bool memory_is_seen(struct gem *g)
{
    const struct dma_window *w = &g->setup.window;
    uint64_t end = dma_address(w, g) + sizeof *g;

    g->wide = end > (uint64_t)1 << 32;
    return dma_reaches(w, &g->receives, sizeof g->receives) &&
           dma_reaches(w, &g->sends, sizeof g->sends) &&
           (!g->wide || (gem_read(g, GEM_DESIGN_6) & GEM_DESIGN_6_64) != 0);
}

static void start_queues(struct gem *g)
{
    close_other_queues(g);
    for (unsigned slot = 0; slot < GEM_SLOTS; slot += slots_of_a_line(g))
        give_line(g, slot);
    write_base(g, GEM_RECEIVE_BASE, GEM_RECEIVE_BASE_TOP, g->receives.words);
    empty_sends(g);
}

enum err gem_open(struct gem *g, const struct gem_setup *setup, uint8_t address[6],
                  const char **why)
{
    const struct phy_bus bus = { .context = g, .read = read_phy, .write = write_phy };

    memset(g, 0, sizeof *g);
    g->setup = *setup;
    *why = "the network controller cannot reach the image's memory";
    if (!memory_is_seen(g))
        return ERR_UNSUPPORTED;
    *why = "the network controller has no MAC address";
    if (!read_address(g, address))
        return ERR_UNSUPPORTED;
    configure(g);
    *why = "no PHY answers at the network controller";
    if (!phy_find(&g->phy, &bus, setup->phy)) {
        gem_close(g);
        return ERR_NO_DEVICE;
    }
    *why = NULL;
    write_address(g, address);
    start_queues(g);
    g->works = true;
    phy_start(&g->phy);
    return ERR_OK;
}

/* ---- the link ---- */

static void follow_speed(struct gem *g)
{
    unsigned mbits = g->link.mbits;

    if (g->setup.set_speed != NULL)
        g->setup.set_speed(mbits);
    gem_write(g, GEM_CONFIG,
              g->config | (mbits == 1000 ? GEM_CONFIG_1000 : 0) |
                  (mbits == 100 ? GEM_CONFIG_100 : 0) | (g->link.full ? GEM_CONFIG_FULL : 0));
    empty_sends(g);
}

bool gem_is_up(struct gem *g)
{
    bool changed;

    if (!g->works || !phy_follow(&g->phy, &g->link, &changed))
        return false;
    if (changed)
        follow_speed(g);
    return true;
}

/* ---- frames ---- */

/* Free the slots that the device has sent. Start the queue again if it has stopped after an error,
 * or because a frame was given just after the device had looked for one. */
static void look_after_sends(struct gem *g)
{
    struct gem_ring *r = &g->sends;
    uint32_t status;

    while (r->count != 0) {
        unsigned oldest = (r->next + GEM_SLOTS - r->count) % GEM_SLOTS;

        sync_slot(g, r, oldest);
        if (!(words(g, r, oldest)[1] & GEM_SEND_OURS))
            break;
        r->count--;
    }
    if (r->count == 0)
        return;
    status = gem_read(g, GEM_SEND_STATUS);
    if (status & GEM_SEND_TROUBLE) {
        g->n_lost += r->count;
        empty_sends(g);
    } else if (!(status & GEM_SEND_GOES)) {
        gem_write(g, GEM_CONTROL, RUN | GEM_CONTROL_START);
    }
}

/* True if the device has a descriptor in the same cache line. The shared line does no harm if the
 * device snoops the caches. */
static bool line_is_taken(const struct gem *g, unsigned slot)
{
    const struct gem_ring *r = &g->sends;
    unsigned first = slot / slots_of_a_line(g) * slots_of_a_line(g);

    if (g->setup.window.coherent)
        return false;
    for (unsigned i = 1; i <= r->count; i++)
        if ((r->next + GEM_SLOTS - i) % GEM_SLOTS - first < slots_of_a_line(g))
            return true;
    return false;
}

static bool slot_is_free(struct gem *g)
{
    uint64_t start = g->setup.ticks();

    do {
        look_after_sends(g);
        if (g->sends.count < GEM_SLOTS && !line_is_taken(g, g->sends.next))
            return true;
    } while (g->sends.count < GEM_SLOTS && g->setup.ticks() - start < ticks_of(g, SEND_MICROS));
    return false;
}

bool gem_send(struct gem *g, const uint8_t *frame, size_t bytes)
{
    struct gem_ring *r = &g->sends;
    unsigned slot;

    if (!g->works || bytes == 0 || bytes > GEM_FRAME_BYTES || !slot_is_free(g)) {
        g->n_lost++;
        return false;
    }
    slot = r->next;
    memcpy(r->buffers[slot], frame, bytes);
    dma_sync(&g->setup.window, r->buffers[slot], GEM_BUFFER_BYTES);
    write_top(g, r, slot);
    write_low(g, r, slot, 0);
    dma_barrier(); /* address and frame must be visible before the word that hands them over */
    words(g, r, slot)[1] = (uint32_t)bytes | GEM_SEND_LAST |
                           (slot + 1 == GEM_SLOTS ? GEM_SEND_WRAP : 0);
    sync_slot(g, r, slot);
    r->next = (slot + 1) % GEM_SLOTS;
    r->count++;
    gem_write(g, GEM_CONTROL, RUN | GEM_CONTROL_START);
    return true;
}

/* Copy the frame of the next slot. Returns the frame's length, or 0 if the frame is broken. */
static size_t copy_frame(struct gem *g, unsigned slot, uint8_t *to, size_t room)
{
    struct gem_ring *r = &g->receives;
    uint32_t status = words(g, r, slot)[1];
    size_t bytes = status & GEM_RECEIVE_BYTES;

    if (!(status & GEM_RECEIVE_FIRST) || !(status & GEM_RECEIVE_LAST) || bytes > room ||
        bytes > GEM_BUFFER_BYTES)
        return 0;
    dma_sync(&g->setup.window, r->buffers[slot], GEM_BUFFER_BYTES);
    memcpy(to, r->buffers[slot], bytes);
    return bytes;
}

size_t gem_receive(struct gem *g, uint8_t *to, size_t room)
{
    struct gem_ring *r = &g->receives;

    for (unsigned i = 0; g->works && i < GEM_SLOTS; i++) {
        unsigned slot = r->next;
        size_t bytes;

        sync_slot(g, r, slot);
        if (!(words(g, r, slot)[0] & GEM_RECEIVE_OURS))
            break;
        dma_barrier(); /* read this word before the frame that it hands over */
        bytes = copy_frame(g, slot, to, room);
        r->next = (slot + 1) % GEM_SLOTS;
        if (r->next % slots_of_a_line(g) == 0) {
            give_line(g, slot + 1 - slots_of_a_line(g));
            gem_write(g, GEM_CONTROL, RUN); /* QEMU now looks for buffers, if it had none */
        }
        if (bytes != 0)
            return bytes;
        g->n_lost++;
    }
    look_after_sends(g);
    return 0;
}
