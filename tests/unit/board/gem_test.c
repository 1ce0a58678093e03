/* Cadence's GEM and its PHY over a model of their registers: frames both ways with descriptors of both widths and
 * with caches that hide memory, links that change, queues in trouble. The model reads and writes memory as a bus
 * master sees it. Why this file is long: its tests share one model. */
#include "board/drivers/net/gem.h"

#include <string.h>

#include "board/drivers/net/gem_registers.h"
#include "board/drivers/net/tree_gem.h"
#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

enum { PHY = 7, FRAMES = 64, MOST_SENT = 80 };

static struct gem driver;
static uint8_t memory[sizeof driver], fetched[sizeof driver];
static uint8_t address[6];
static const char *why;

static struct fake {
    uint32_t regs[0x1000 / 4];
    uint16_t phy[32];
    unsigned phy_at;    /* its address */
    uint16_t other[32]; /* another PHY on the same bus */
    unsigned other_at;  /* 0: there is none */
    unsigned phy_writes, other_writes, speed;
    bool silent;      /* no PHY answers */
    bool holds;       /* it sends nothing for now */
    unsigned send_at; /* slots of its two queues */
    unsigned receive_at;
    bool looked; /* it is at a descriptor without a buffer since it was last told of buffers */
    uint64_t offset;
    uint64_t ticks;
    unsigned pcs_early; /* writes to the PCS before it was chosen, which have no effect */
    unsigned n_early;   /* descriptors handed over while the device cannot see the rest of them */
    uint8_t sent[MOST_SENT][GEM_BUFFER_BYTES];
    uint32_t sent_bytes[MOST_SENT], n_sent;
} f;

static uint64_t ticks(void)
{
    return f.ticks += 10;
}

static void set_speed(unsigned mbits)
{
    f.speed = mbits;
}

/* ---- the queues ---- */

static bool is_wide(void)
{
    return (f.regs[GEM_DMA / 4] & GEM_DMA_64) != 0;
}

/* Returns word `w` of the descriptor in slot `at` of the queue at a base register. */
static volatile uint32_t *word(unsigned base, unsigned top, unsigned at, unsigned w)
{
    uint64_t start = f.regs[base / 4] | (is_wide() ? (uint64_t)f.regs[top / 4] << 32 : 0);

    return (uint32_t *)dma_log_seen((uintptr_t)(start - f.offset)) + at * (is_wide() ? 4 : 2) + w;
}

static volatile uint32_t *send_word(unsigned w)
{
    return word(GEM_SEND_BASE, GEM_SEND_BASE_TOP, f.send_at, w);
}

static volatile uint32_t *receive_word(unsigned w)
{
    return word(GEM_RECEIVE_BASE, GEM_RECEIVE_BASE_TOP, f.receive_at, w);
}

static uint8_t *buffer_of(uint32_t low, uint32_t high)
{
    uint64_t at = (low & ~3u) | (is_wide() ? (uint64_t)high << 32 : 0);

    return dma_log_seen((uintptr_t)(at - f.offset));
}

/* Sends what is there, and stops at a descriptor that is ours. A dirty line that a core writes back
 * later would undo that. */
static void send_all(void)
{
    while (!f.holds && f.n_sent < MOST_SENT && !(*send_word(1) & GEM_SEND_OURS)) {
        uint32_t status = *send_word(1);

        f.sent_bytes[f.n_sent] = status & 0x3fff;
        memcpy(f.sent[f.n_sent++], buffer_of(*send_word(0), is_wide() ? *send_word(2) : 0),
               status & 0x3fff);
        *send_word(1) = status | GEM_SEND_OURS;
        dma_log_evict_all();
        f.send_at = status & GEM_SEND_WRAP ? 0 : f.send_at + 1;
    }
}

/* Receives a frame. False: there is no buffer. */
static bool arrive(const uint8_t *frame, uint32_t bytes, uint32_t flags)
{
    uint32_t low = *receive_word(0);

    if (low & GEM_RECEIVE_OURS || f.looked) {
        f.looked = true;
        return false;
    }
    memcpy(buffer_of(low, is_wide() ? *receive_word(2) : 0), frame, bytes);
    *receive_word(1) = bytes | flags;
    *receive_word(0) = low | GEM_RECEIVE_OURS;
    dma_log_evict_all();
    f.receive_at = low & GEM_RECEIVE_WRAP ? 0 : f.receive_at + 1;
    return true;
}

/* Runs at each barrier. The core's writes since the last barrier may have become visible in any
 * order, so a descriptor that was handed over in between must have had its other words right at the
 * first of the two. */
static struct gem_ring ordered;

static void order(void)
{
    struct gem_ring *r = &driver.receives;
    unsigned n = is_wide() ? 4 : 2;

    for (unsigned slot = 0; slot < GEM_SLOTS; slot++) {
        const uint32_t *now = r->words + slot * n, *before = ordered.words + slot * n;

        if ((before[0] & GEM_RECEIVE_OURS) && !(now[0] & GEM_RECEIVE_OURS))
            f.n_early += before[1] != now[1] || (n == 4 && before[2] != now[2]);
    }
    memcpy(ordered.words, r->words, sizeof ordered.words);
}

enum { WHOLE = 1 << 14 | 1 << 15 };

/* ---- the registers ---- */

static void ask_phy(uint32_t value)
{
    unsigned at = value >> 23 & 31, reg = value >> 18 & 31;
    bool there = !f.silent && at == f.phy_at, other = f.other_at != 0 && at == f.other_at;

    if ((value & GEM_PHY_READ) == GEM_PHY_READ) {
        f.regs[GEM_PHY / 4] = there ? f.phy[reg] : other ? f.other[reg] : 0xffff;
    } else if (other) {
        f.other[reg] = (uint16_t)value;
        f.other_writes++;
    } else if (there) {
        f.phy[reg] = (uint16_t)value;
        f.phy_writes++;
    }
}

uint32_t gem_read(const struct gem *g, unsigned reg)
{
    (void)g;
    return reg == GEM_STATUS ? (uint32_t)GEM_STATUS_PHY_IDLE : f.regs[reg / 4];
}

void gem_write(const struct gem *g, unsigned reg, uint32_t value)
{
    (void)g;
    if (reg == GEM_PHY) {
        ask_phy(value);
        return;
    }
    if (reg == GEM_SEND_STATUS || reg == GEM_RECEIVE_STATUS) {
        f.regs[reg / 4] &= ~value;
        return;
    }
    f.pcs_early += reg == 0x200 && !(f.regs[GEM_CONFIG / 4] & GEM_CONFIG_PCS);
    f.regs[reg / 4] = value;
    if (reg != GEM_CONTROL)
        return;
    f.looked = false;
    if (!(value & GEM_CONTROL_SENDS))
        f.send_at = 0;
    else if (value & GEM_CONTROL_START)
        send_all();
}

/* Sets a link of so many Mbit/s in full duplex; 0: no cable. */
static void plug(unsigned mbits)
{
    f.phy[1] = mbits != 0 ? 0x796d : 0x7949;
    f.phy[5] = mbits >= 100 ? 0x41e1 : 0x4061;
    f.phy[10] = mbits == 1000 ? 0x3800 : 0;
}

static void power_up(void)
{
    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(&driver, 0xa5, sizeof driver); /* contents of memory before anybody wrote it */
    f.regs[GEM_ADDRESS_LOW / 4] = 0x12005452;
    f.regs[GEM_ADDRESS_HIGH / 4] = 0x5634;
    f.regs[GEM_DESIGN_1 / 4] = 2u << 25;
    f.regs[GEM_DESIGN_6 / 4] = GEM_DESIGN_6_64 | 2;
    f.phy_at = PHY;
    f.phy[0] = 0x1140;
    f.phy[2] = 0x0141;
    f.phy[3] = 0x0cc2;
    f.phy[15] = 0x3000;
    f.phy[9] = 0x0300;
    f.phy[4] = 0x01e1;
    plug(1000);
}

struct how {
    const char *name;
    bool coherent;
    uint64_t offset; /* of the bus */
};

/* The image of this program lies above 4 GiB: an offset that wraps takes it to the beginning, where descriptors are narrow. */
static uint64_t low_offset(void)
{
    return 0x1000000 - ((uintptr_t)&driver & ~(uintptr_t)0xffff);
}

static enum err open_it(const struct how *h)
{
    const struct gem_setup setup = {
        .mmio = 0x20110000,
        .window = { .offset = h->offset, .end = UINT64_MAX, .coherent = h->coherent },
        .ticks = ticks,
        .ticks_hz = 1000000,
        .set_speed = set_speed,
    };

    f.offset = h->offset;
    if (!h->coherent)
        dma_log_watch((uint8_t *)&driver, memory, fetched, sizeof driver);
    memset(address, 0, sizeof address);
    return gem_open(&driver, &setup, address, &why);
}

static void fill(uint8_t *frame, uint32_t bytes, unsigned seed)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(seed * 31 + i * 7);
}

/* ---- tests ---- */

static void test_open(const struct how *h)
{
    static const uint8_t expected[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };

    power_up();
    OK(open_it(h) == ERR_OK && why == NULL && memcmp(address, expected, 6) == 0,
       "%s: the port opens with the address of its registers", h->name);
    OK(is_wide() == (((uintptr_t)&driver + h->offset) >> 32 != 0), "%s: descriptors are %s",
       h->name, is_wide() ? "wide" : "narrow");
    OK(f.phy_writes == 0, "%s: a link that the firmware has is not negotiated again", h->name);
    OK(f.regs[GEM_CONTROL / 4] == (GEM_CONTROL_PHY | GEM_CONTROL_RECEIVES | GEM_CONTROL_SENDS) &&
           (f.regs[GEM_CONFIG / 4] >> GEM_CONFIG_WIDTH_SHIFT & 3) == 1 &&
           f.regs[GEM_INTERRUPTS_OFF / 4] == 0xffffffff,
       "%s: the port works at its bus's width, without interrupts", h->name);
    OK(*(uint32_t *)dma_log_seen((uintptr_t)(f.regs[GEM_SEND_BASE_1 / 4] - (uint32_t)f.offset) |
                                 ((uintptr_t)&driver & ~(uintptr_t)0xffffffff)) ==
               (GEM_RECEIVE_OURS | GEM_RECEIVE_WRAP) &&
           f.regs[GEM_RECEIVE_BASE_1 / 4] == f.regs[GEM_SEND_BASE_1 / 4] &&
           f.regs[(GEM_SEND_BASE_1 + 4) / 4] == 0,
       "%s: the other queue has no buffer", h->name);
    OK(gem_is_up(&driver) && f.speed == 1000 &&
           (f.regs[GEM_CONFIG / 4] & (GEM_CONFIG_1000 | GEM_CONFIG_FULL)) ==
               (GEM_CONFIG_1000 | GEM_CONFIG_FULL),
       "%s: a link has 1000 Mbit/s", h->name);
}

static void test_frames(const struct how *h)
{
    uint8_t frame[GEM_FRAME_BYTES], back[GEM_FRAME_BYTES];
    unsigned right = 0;

    power_up();
    (void)open_it(h);
    (void)gem_is_up(&driver);
    OK(gem_receive(&driver, back, sizeof back) == 0, "%s: no frame has come yet", h->name);
    for (unsigned i = 0; i < 100; i++) { /* indices go round the rings */
        uint32_t bytes = i == 0 ? GEM_FRAME_BYTES : 60 + i * 11;

        fill(frame, bytes, i);
        right += arrive(frame, bytes, WHOLE) && gem_receive(&driver, back, sizeof back) == bytes &&
                 memcmp(frame, back, bytes) == 0;
    }
    OK(right == 100 && driver.n_lost == 0, "%s: 100 frames come as they are (%u)", h->name, right);
    right = 0;
    for (unsigned i = 0; i < 75; i++) {
        uint32_t bytes = i == 0 ? GEM_FRAME_BYTES : 14 + i * 13;

        fill(frame, bytes, i + 5);
        right += gem_send(&driver, frame, bytes) && f.n_sent == i + 1 && f.sent_bytes[i] == bytes &&
                 memcmp(f.sent[i], frame, bytes) == 0;
    }
    OK(right == 75, "%s: 75 frames go out as they are (%u)", h->name, right);
    OK(!gem_send(&driver, frame, GEM_FRAME_BYTES + 1) && driver.n_lost == 1,
       "%s: a frame that is too long is lost", h->name);
}

/* As many frames come at once as there are buffers; the device loses the next ones, and later ones
 * come. */
static void test_full(const struct how *h)
{
    uint8_t frame[60] = { 0 }, back[GEM_FRAME_BYTES];
    unsigned n = 0, right = 0;

    power_up();
    (void)open_it(h);
    for (frame[0] = 0; frame[0] < GEM_SLOTS; frame[0]++)
        n += arrive(frame, sizeof frame, WHOLE);
    OK(n == GEM_SLOTS && !arrive(frame, sizeof frame, WHOLE), "%s: all buffers are full", h->name);
    for (unsigned i = 0; i < GEM_SLOTS; i++)
        right += gem_receive(&driver, back, sizeof back) == 60 && back[0] == i;
    OK(right == GEM_SLOTS && gem_receive(&driver, back, sizeof back) == 0 &&
           arrive(frame, sizeof frame, WHOLE) && gem_receive(&driver, back, sizeof back) == 60,
       "%s: the frames come in their order, and then another one", h->name);
}

/* Buffers go back to a coherent device, too, in an order that it can rely on. */
static void test_order(const struct how *h)
{
    uint8_t frame[60] = { 1 }, back[GEM_FRAME_BYTES];
    unsigned right = 0;

    power_up();
    (void)open_it(h);
    dma_log.ordered = order;
    order();
    f.n_early = 0;
    for (unsigned i = 0; i < 3 * GEM_SLOTS; i++)
        right += arrive(frame, sizeof frame, WHOLE) &&
                 gem_receive(&driver, back, sizeof back) == sizeof frame;
    order();
    OK(right == 3 * GEM_SLOTS && f.n_early == 0,
       "%s: a descriptor is handed over after its other words (%u early)", h->name, f.n_early);
}

/* Held frames are sent later, each once. */
static void test_held(const struct how *h)
{
    uint8_t frame[60] = { 0 };
    unsigned n = 0, right = 0;

    power_up();
    (void)open_it(h);
    (void)gem_is_up(&driver);
    f.holds = true;
    f.regs[GEM_SEND_STATUS / 4] = GEM_SEND_GOES;
    while (n < 200 && gem_send(&driver, frame, sizeof frame)) {
        frame[0]++;
        n++;
    }
    OK(n == (h->coherent ? GEM_SLOTS : 1), "%s: a device that is busy takes %u frames", h->name, n);
    f.holds = false;
    f.regs[GEM_SEND_STATUS / 4] = 0; /* it stopped a moment before the last one arrived */
    (void)gem_receive(&driver, frame, sizeof frame);
    for (unsigned i = 0; i < n; i++)
        right += f.sent[i][0] == i;
    OK(f.n_sent == n && right == n && gem_send(&driver, frame, sizeof frame) && f.n_sent == n + 1,
       "%s: each frame goes out once, and then another one", h->name);
    f.holds = true;
    (void)gem_send(&driver, frame, sizeof frame);
    f.regs[GEM_SEND_STATUS / 4] = 1 << 8; /* the bus has refused */
    (void)gem_receive(&driver, frame, sizeof frame);
    f.holds = false;
    n = f.n_sent;
    OK(f.send_at == 0 && f.regs[GEM_SEND_STATUS / 4] == 0 &&
           gem_send(&driver, frame, sizeof frame) && f.n_sent == n + 1,
       "%s: a queue in trouble begins anew", h->name);
}

static void test_broken(const struct how *h)
{
    uint8_t frame[GEM_BUFFER_BYTES] = { 1 }, back[GEM_FRAME_BYTES];

    power_up();
    (void)open_it(h);
    (void)arrive(frame, 100, GEM_RECEIVE_FIRST);
    (void)arrive(frame, 100, GEM_RECEIVE_LAST);
    (void)arrive(frame, GEM_FRAME_BYTES + 1, WHOLE);
    (void)arrive(frame, 0, WHOLE);
    (void)arrive(frame, 60, WHOLE);
    OK(gem_receive(&driver, back, sizeof back) == 60 && driver.n_lost == 4,
       "%s: pieces and frames that are too long are lost, and the next one comes", h->name);
}

static void test_link(void)
{
    const struct how h = { "link", true, 0 };

    power_up();
    plug(0);
    OK(open_it(&h) == ERR_OK && !gem_is_up(&driver), "without a cable the network is down");
    OK(f.phy[0] == 0x1200 && f.phy[4] == 0x01e1 && f.phy[9] == 0x0200,
       "the PHY negotiates, at 1000 Mbit/s in full duplex only");
    plug(100);
    OK(gem_is_up(&driver) && f.speed == 100 &&
           (f.regs[GEM_CONFIG / 4] & (GEM_CONFIG_1000 | GEM_CONFIG_100 | GEM_CONFIG_FULL)) ==
               (GEM_CONFIG_100 | GEM_CONFIG_FULL),
       "a cable of 100 Mbit/s brings the link up");
    plug(0);
    OK(!gem_is_up(&driver), "a cable that is pulled brings the link down");
    plug(10);
    OK(gem_is_up(&driver) && f.speed == 10 &&
           (f.regs[GEM_CONFIG / 4] & (GEM_CONFIG_1000 | GEM_CONFIG_100)) == 0,
       "a cable of 10 Mbit/s is plugged in");
    f.phy[5] = 0x4021;
    OK(gem_is_up(&driver) && !(f.regs[GEM_CONFIG / 4] & GEM_CONFIG_FULL), "half duplex is kept");
    f.phy[5] = 0x40a1;
    OK(gem_is_up(&driver) && f.speed == 100 && !(f.regs[GEM_CONFIG / 4] & GEM_CONFIG_FULL),
       "the link has 100 Mbit/s");
    f.phy[1] = 0x794d; /* there is a link, and the negotiation goes on */
    OK(!gem_is_up(&driver), "the link stays down until both sides have agreed");
    f.phy[0] = 0x2100;
    OK(gem_is_up(&driver) && f.speed == 100 && driver.link.full,
       "a speed that somebody has set is kept");
    f.silent = true;
    OK(!gem_is_up(&driver), "a PHY that is gone has no link");
}

/* A PHY behind SGMII: the PCS negotiates, which a firmware may have switched off, and it is set up
 * after it was chosen. */
static void test_sgmii(void)
{
    const struct gem_setup setup = { .mmio = 0x20112000,
                                     .window = { .end = UINT64_MAX, .coherent = true },
                                     .ticks = ticks,
                                     .ticks_hz = 1000000,
                                     .sgmii = true };

    power_up();
    f.regs[0x200 / 4] = 0x40;
    OK(gem_open(&driver, &setup, address, &why) == ERR_OK && f.regs[0x200 / 4] == 0x1040 &&
           (f.regs[GEM_CONFIG / 4] & (GEM_CONFIG_SGMII | GEM_CONFIG_PCS)) ==
               (GEM_CONFIG_SGMII | GEM_CONFIG_PCS),
       "SGMII: the PCS is chosen, and negotiates");
    OK(f.pcs_early == 0, "SGMII is set up in the right order");
}

static void test_refused(void)
{
    struct how h = { "refused", true, 0 };

    power_up();
    f.silent = true;
    OK(open_it(&h) == ERR_NO_DEVICE && strstr(why, "PHY") != NULL && f.regs[GEM_CONTROL / 4] == 0,
       "a port without a PHY is refused: %s", why);
    power_up();
    f.regs[GEM_ADDRESS_LOW / 4] = f.regs[GEM_ADDRESS_HIGH / 4] = 0;
    OK(open_it(&h) == ERR_UNSUPPORTED && strstr(why, "address") != NULL,
       "an address of zeros is refused: %s", why);
    power_up();
    f.regs[GEM_ADDRESS_LOW / 4] |= 1;
    OK(open_it(&h) == ERR_UNSUPPORTED && strstr(why, "address") != NULL,
       "the address of a group is refused: %s", why);
    power_up();
    f.regs[GEM_DESIGN_6 / 4] = 0;
    h.offset = (uint64_t)1 << 36;
    OK(open_it(&h) == ERR_UNSUPPORTED && strstr(why, "memory") != NULL,
       "addresses that are too long for the controller are refused: %s", why);
}

/* ---- controllers of a tree ---- */

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    (void)base;
    return bytes == GEM_BYTES && mapping == MAP_DEVICE ? ERR_OK : ERR_NO_SPACE;
}

enum { MAC0 = 0x20110000, MAC1 = 0x20112000 };

static void put_mac(struct writer *w, uint32_t base, uint32_t phy_handle)
{
    begin(w, "ethernet");
    text(w, "compatible", "cdns,macb");
    CELLS(w, "reg", base, 0x2000);
    CELLS(w, "#address-cells", 1);
    CELLS(w, "#size-cells", 0);
    if (phy_handle != 0)
        CELLS(w, "phy-handle", phy_handle);
}

static void put_phy(struct writer *w, uint32_t handle, uint32_t reg)
{
    begin(w, "ethernet-phy");
    CELLS(w, "phandle", handle);
    CELLS(w, "reg", reg);
    end(w);
}

/* As mpfs-icicle-kit-common.dtsi: both PHYs are below mac1, and 8 is mac0's. */
static void put_icicle(struct writer *w, bool with_mac1, bool with_handles)
{
    memset(w, 0, sizeof *w);
    begin(w, "");
    CELLS(w, "#address-cells", 1);
    CELLS(w, "#size-cells", 1);
    put_mac(w, MAC0, with_handles ? 5 : 0);
    end(w);
    put_mac(w, MAC1, with_handles ? 6 : 0);
    if (!with_mac1)
        text(w, "status", "disabled");
    put_phy(w, 6, 9);
    put_phy(w, 5, 8);
    end(w);
    end(w);
    finish(w, 0);
}

static const char *open_tree(bool with_mac1, bool with_handles)
{
    static const struct tree_gem_setup setup = { .compatible = "cdns,macb",
                                                 .window = { .end = UINT64_MAX, .coherent = true },
                                                 .ticks = ticks,
                                                 .ticks_hz = 1000000 };
    static struct writer w;
    struct device_tree tree;

    put_icicle(&w, with_mac1, with_handles);
    OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK, "a tree of two controllers opens");
    power_up();
    memcpy(f.other, f.phy, sizeof f.other);
    f.other[1] = 0x7949; /* no cable in the port of PHY 8 */
    f.other_at = 8;
    f.phy_at = 9;
    return tree_gem_open(&tree, &setup, address);
}

static void test_tree(void)
{
    OK(open_tree(true, true) == NULL && tree_gem_is_up() && f.other_writes == 0,
       "a controller takes the PHY that phy-handle names, not the first of its bus");
    f.phy[1] = 0x7949;
    f.other[1] = 0x796d;
    OK(!tree_gem_is_up(), "the link is that of the PHY that phy-handle names");
    why = open_tree(false, true);
    OK(why != NULL && strstr(why, "another controller") != NULL && f.other_writes == 0,
       "a PHY on another controller's bus is refused: %s",
       why != NULL ? why : "one whose PHY is on another one's bus is left alone");
    OK(open_tree(true, false) == NULL && !tree_gem_is_up() && f.other_writes != 0,
       "without phy-handle the first PHY of the bus is taken");
}

int main(void)
{
    const struct how hows[] = {
        { "coherent", true, 0 },
        { "behind caches", false, 0 },
        { "behind RP1's port", false, (uint64_t)1 << 36 },
        { "below 4 GiB, coherent", true, low_offset() },
        { "below 4 GiB, behind caches", false, low_offset() },
    };

    for (unsigned i = 0; i < sizeof hows / sizeof hows[0]; i++) {
        test_open(&hows[i]);
        test_frames(&hows[i]);
        test_full(&hows[i]);
        if (hows[i].coherent)
            test_order(&hows[i]);
        test_held(&hows[i]);
        test_broken(&hows[i]);
    }
    test_link();
    test_sgmii();
    test_refused();
    test_tree();
    return tap_done();
}
