/* Synopsys' GMAC of version 5 over a model of its registers: frames both ways through rings that go round and with caches that hide memory, links that
 * change, rings that are full, a device that the firmware has left at work, and one that is not as it should be; and the clocks and resets in
 * front of it on a JH7110. Numbers are those of the sources named in the drivers' headers, written here a second time.
 * Why this file is long: its tests share one model. */
#include "board/drivers/net/dwmac.h"

#include <string.h>

#include "board/drivers/net/dwmac_registers.h"
#include "board/drivers/net/jh7110_gmac.h"
#include "board/drivers/net/tree_phy.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

enum { PHY = 3, MOST_SENT = 200, SLOTS = 16, STRIDE = 64 };

static struct dwmac driver;
static uint8_t memory[sizeof driver], fetched[sizeof driver];
static uint8_t address[6];
static const char *why;

static struct fake {
    uint32_t regs[0x2000 / 4];
    uint16_t phy[32], chip, rgmii,
        pads;    /* 0xa001, 0xa003 and 0xa010 of the PHY, by its registers 0x1e and 0x1f */
    bool silent; /* no PHY answers */
    bool stuck;  /* nor does its bus */
    bool held;   /* the reset never ends */
    bool holds;  /* it sends nothing for now */
    bool woken;  /* its tail was written since it ran out of buffers */
    unsigned send_at, receive_at;
    uint64_t ticks;
    uint8_t sent[MOST_SENT][2048];
    uint32_t sent_bytes[MOST_SENT], n_sent, n_wrong, n_early;
} f;

static uint64_t ticks(void)
{
    return f.ticks += 10;
}

static uint32_t *reg(unsigned at)
{
    return &f.regs[at / 4];
}

/* The descriptors are 64 bytes apart: 16, and six words of a bus of 8 bytes that are skipped (bits 20:18 of the channel's control). */
static uint32_t *descriptor(unsigned list, unsigned at)
{
    return (uint32_t *)dma_log_seen((uintptr_t)&driver - (uint32_t)(uintptr_t)&driver + *reg(list) +
                                    at * STRIDE);
}

static uint8_t *buffer_of(const uint32_t *d)
{
    return dma_log_seen((uintptr_t)&driver - (uint32_t)(uintptr_t)&driver + d[0]);
}

static bool is_on(unsigned control, uint32_t mac)
{
    return (*reg(control) & 1) && (*reg(0) & mac);
}

static void send_all(void)
{
    while (!f.holds && is_on(0x1104, 2) && f.n_sent < MOST_SENT) {
        uint32_t *d = descriptor(0x1114, f.send_at);

        if (*reg(0x1114) + f.send_at * STRIDE == *reg(0x1120) ||
            !(d[3] >> 31)) /* at the tail, or ours */
            return;
        /* First and last part in one, and the length in both places. */
        f.n_wrong += (d[3] >> 28 & 3) != 3 || (d[3] & 0x7fff) != d[2] || d[1] != 0;
        f.sent_bytes[f.n_sent] = d[2];
        memcpy(f.sent[f.n_sent++], buffer_of(d), d[2]);
        d[3] &= 0x7fffffff;
        dma_log_evict_all();
        f.send_at = f.send_at == *reg(0x112c) ? 0 : f.send_at + 1;
    }
}

/* A frame arrives. False: there is no buffer. */
static bool arrive(const uint8_t *frame, uint32_t bytes, uint32_t flags)
{
    uint32_t *d = descriptor(0x111c, f.receive_at);

    if (!is_on(0x1108, 1) || *reg(0x111c) + f.receive_at * STRIDE == *reg(0x1128) || !(d[3] >> 31))
        return false;
    f.n_wrong += (d[3] >> 24 & 1) == 0; /* the buffer's address is valid */
    memcpy(buffer_of(d), frame, bytes);
    d[3] = bytes | flags;
    dma_log_evict_all();
    f.receive_at = f.receive_at == *reg(0x1130) ? 0 : f.receive_at + 1;
    return true;
}

enum { WHOLE = 3 << 28 };

/* A descriptor that was handed over between two barriers must have had its other words right at the first of them. */
static struct dwmac_ring ordered;

static void order(void)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        const volatile uint32_t *now = driver.sends.slots[i].words,
                                *before = ordered.slots[i].words;

        if (!(before[3] >> 31) && now[3] >> 31)
            f.n_early += before[0] != now[0] || before[2] != now[2];
    }
    memcpy((void *)(uintptr_t)ordered.slots, (const void *)(uintptr_t)driver.sends.slots,
           sizeof ordered.slots);
}

static uint16_t *phy_register(unsigned number)
{
    if (number != 0x1f)
        return &f.phy[number];
    return f.phy[0x1e] == 0xa001   ? &f.chip
           : f.phy[0x1e] == 0xa003 ? &f.rgmii
           : f.phy[0x1e] == 0xa010 ? &f.pads
                                   : &f.phy[0x1f];
}

static void ask_phy(uint32_t value)
{
    unsigned at = value >> 21 & 31, number = value >> 16 & 31, what = value >> 2 & 3;
    bool there = !f.silent && at == PHY;

    f.n_wrong += (value >> 8 & 15) != 5; /* the divider for 250 to 300 MHz */
    *reg(0x200) = value;
    if (!(value & 1) || f.stuck)
        return;
    *reg(0x200) &= ~1u;
    if (what == 3)
        *reg(0x204) = there ? *phy_register(number) : 0xffff;
    else if (what == 1 && there)
        *phy_register(number) = (uint16_t)*reg(0x204);
}

uint32_t dwmac_read(const struct dwmac *d, unsigned at)
{
    (void)d;
    return f.regs[at / 4];
}

void dwmac_write(const struct dwmac *d, unsigned at, uint32_t value)
{
    uint32_t version = *reg(0x110), features = *reg(0x120);

    (void)d;
    if (at == 0x200) {
        ask_phy(value);
        return;
    }
    *reg(at) = value;
    if (at == 0x1000 && (value & 1)) {
        memset(f.regs, 0, sizeof f.regs);
        *reg(0x110) = version;
        *reg(0x120) = features;
        *reg(0x1000) = f.held;
        f.send_at = f.receive_at = 0;
    }
    if (at == 0x1120)
        send_all();
}

/* A link of so many Mbit/s; 0: no cable. */
static void plug(unsigned mbits, bool full)
{
    f.phy[1] = mbits != 0 ? 0x796d : 0x7949;
    f.phy[5] = (uint16_t)((mbits >= 100 ? 0x0080 << full : 0x0020 << full) | 1);
    f.phy[10] = mbits == 1000 ? 0x3800 : 0;
}

static void power_up(void)
{
    memset(&f, 0, sizeof f);
    memset(&dma_log, 0, sizeof dma_log);
    memset(&driver, 0xa5, sizeof driver); /* what memory holds before anybody wrote it */
    *reg(0x110) = 0x4152;                 /* 5.20 */
    *reg(0x120) = 4 << 6 | 4;             /* two FIFOs of 128 << 4 bytes */
    f.phy[0] = 0x1140;
    f.phy[2] = 0x4f51; /* YT8531 */
    f.phy[3] = 0xe91b;
    f.phy[15] = 0x3000;
    f.phy[9] = 0x0300;
    f.phy[4] = 0x01e1;
    plug(1000, true);
}

static const uint8_t own[6] = { 0x6c, 0xcf, 0x39, 1, 2, 3 };

/* Addresses are of 32 bits: the window moves this program's memory there. */
static struct yt8531 motorcomm;

static enum err open_with(const uint8_t *a, bool coherent, bool gigabit_only)
{
    uint64_t top = (uintptr_t)&driver & ~(uint64_t)0xffffffff;
    const struct dwmac_setup setup = {
        .mmio = 0x16030000,
        .window = { .offset = -top, .end = UINT64_MAX, .coherent = coherent },
        .ticks = ticks,
        .ticks_hz = 1000000,
        .bus_bytes = 8,
        .phy = PHY,
        .yt8531 = motorcomm,
        .gigabit_only = gigabit_only,
        .address = a
    };

    if (!coherent)
        dma_log_watch((uint8_t *)&driver, memory, fetched, sizeof driver);
    memset(address, 0, sizeof address);
    return dwmac_open(&driver, &setup, address, &why);
}

static void start(bool coherent)
{
    power_up();
    (void)open_with(own, coherent, false);
    (void)dwmac_is_up(&driver);
}

static void fill(uint8_t *frame, uint32_t bytes, unsigned seed)
{
    for (uint32_t i = 0; i < bytes; i++)
        frame[i] = (uint8_t)(seed * 31 + i * 7);
}

static void test_open(void)
{
    power_up();
    OK(open_with(own, false, false) == ERR_OK && why == NULL && memcmp(address, own, 6) == 0 &&
           f.n_wrong == 0,
       "the port opens with the tree's address");
    OK(*reg(0x300) == 0x0302 && *reg(0x304) == 0x0139cf6c && *reg(0x008) == 1 << 4,
       "the port takes frames to its address and to every group, but to no other station");
    OK(*reg(0xd00) == (7u << 16 | 2 << 2 | 1 << 1) && *reg(0xd30) == (7u << 20 | 1 << 5) &&
           *reg(0xa0) == 2 && *reg(0xa4) == 0,
       "queue 0 has all of both FIFOs, and takes whole frames");
    OK(*reg(0x1100) == (1 << 16 | 6 << 18) && *reg(0x1104) == (1 | 1 << 4 | 8 << 16) &&
           *reg(0x1108) == (1 | 2048 << 1 | 8 << 16) && *reg(0x112c) == SLOTS - 1 &&
           *reg(0x1130) == SLOTS - 1 && *reg(0xb4) == 0 && *reg(0x1134) == 0,
       "the channel has rings of 16 descriptors, and no interrupts");
    OK(!arrive(own, 6, WHOLE), "no frame comes before the link is known");
    OK(dwmac_is_up(&driver) && *reg(0) == (3 | 1 << 13 | 1 << 20 | 1 << 21),
       "a link has 1000 Mbit/s");
    power_up();
    *reg(0) = 3;
    *reg(0x1104) = *reg(0x1108) = 1;
    OK(open_with(own, false, false) == ERR_OK && *reg(0) == 0,
       "a device that the firmware left at work is stopped first");
}

static void test_frames(bool coherent)
{
    uint8_t frame[1514], back[1514];
    unsigned right = 0;

    start(coherent);
    dma_log.ordered = order;
    OK(dwmac_receive(&driver, back, sizeof back) == 0, "%s: no frame has come yet",
       coherent ? "coherent" : "not coherent");
    for (unsigned i = 0; i < 120; i++) {
        uint32_t bytes = i == 0 ? 1514 : 60 + i * 11;

        fill(frame, bytes, i);
        right += arrive(frame, bytes, WHOLE) &&
                 dwmac_receive(&driver, back, sizeof back) == bytes &&
                 memcmp(frame, back, bytes) == 0;
    }
    OK(right == 120 && driver.n_lost == 0, "120 frames come as they are (%u)", right);
    right = 0;
    for (unsigned i = 0; i < 120; i++) {
        uint32_t bytes = i == 0 ? 1514 : 60 + i * 11;

        fill(frame, bytes, i + 5);
        right += dwmac_send(&driver, frame, bytes) && f.n_sent == i + 1 &&
                 f.sent_bytes[i] == bytes && memcmp(f.sent[i], frame, bytes) == 0;
    }
    OK(right == 120 && f.n_wrong == 0, "120 frames go out as they are (%u)", right);
    OK(f.n_early == 0, "no descriptor is handed over before its address and length are seen (%u)",
       (unsigned)f.n_early);
}

static void test_short_and_long(void)
{
    static const uint8_t zeros[60];
    uint8_t frame[2049], back[1514];

    start(false);
    fill(frame, sizeof frame, 1);
    OK(dwmac_send(&driver, frame, 1000) && dwmac_send(&driver, frame, 14) &&
           f.sent_bytes[1] == 60 && memcmp(f.sent[1], frame, 14) == 0 &&
           memcmp(f.sent[1] + 14, zeros, 46) == 0,
       "a short frame is filled up with zeros");
    OK(!dwmac_send(&driver, frame, 1515) && !dwmac_send(&driver, frame, 0) && driver.n_lost == 2,
       "a frame that is too long, or empty, is lost");
    (void)arrive(frame, 60, 1 << 29);
    (void)arrive(frame, 60, 1 << 28);
    (void)arrive(frame, 60, WHOLE | 1 << 15);
    (void)arrive(frame, 1515, WHOLE);
    (void)arrive(frame, 0, WHOLE);
    (void)arrive(frame, 61, WHOLE);
    OK(dwmac_receive(&driver, back, sizeof back) == 61 && driver.n_lost == 7,
       "broken frames are lost, and the next one comes (%u)", (unsigned)driver.n_lost);
}

static void test_full(void)
{
    uint8_t frame[60] = { 0 }, back[1514];
    unsigned n = 0, right = 0;

    start(false);
    for (frame[0] = 0; frame[0] < SLOTS; frame[0]++)
        n += arrive(frame, sizeof frame, WHOLE);
    OK(n == SLOTS - 1 && !arrive(frame, sizeof frame, WHOLE),
       "all buffers but the tail's are full");
    for (unsigned i = 0; i < SLOTS - 1; i++)
        right += dwmac_receive(&driver, back, sizeof back) == 60 && back[0] == i;
    OK(right == SLOTS - 1 && dwmac_receive(&driver, back, sizeof back) == 0 &&
           arrive(frame, sizeof frame, WHOLE) && dwmac_receive(&driver, back, sizeof back) == 60,
       "the frames come in their order, and then another one");
    f.holds = true;
    for (n = 0; n < 100 && dwmac_send(&driver, frame, sizeof frame); n++)
        frame[1]++;
    OK(n == SLOTS - 1, "a full ring takes no more (%u)", n);
    f.holds = false;
    send_all();
    OK(f.n_sent == SLOTS - 1 && f.sent[SLOTS - 2][1] == SLOTS - 2 &&
           dwmac_send(&driver, frame, sizeof frame),
       "frames that were held go out in their order, and then another one");
}

static void test_links(void)
{
    static const struct {
        unsigned mbits;
        bool full;
        uint32_t config;
    } rows[] = { { 100, true, 1 << 15 | 1 << 14 | 1 << 13 },
                 { 100, false, 1 << 15 | 1 << 14 },
                 { 10, true, 1 << 15 | 1 << 13 },
                 { 1000, true, 1 << 13 } };
    unsigned right = 0;

    start(false);
    plug(0, false);
    OK(!dwmac_is_up(&driver), "a cable that is pulled brings the link down");
    for (unsigned i = 0; i < 4; i++) {
        plug(rows[i].mbits, rows[i].full);
        right += dwmac_is_up(&driver) && *reg(0) == (rows[i].config | 3 << 20 | 3);
    }
    OK(right == 4, "a cable that is plugged in again may have another speed (%u)", right);
    f.stuck = true;
    OK(!dwmac_is_up(&driver), "a PHY that does not answer any more has no link");
    power_up();
    (void)open_with(own, true, true);
    plug(100, true);
    OK(!dwmac_is_up(&driver) && dwmac_is_too_slow(&driver),
       "a slower link does not count if there is only the clock of 1000 Mbit/s");
    OK((*reg(0) & 3) == 0 && !arrive(own, 6, WHOLE),
       "no frame comes by a link that does not count");
    plug(1000, true);
    OK(dwmac_is_up(&driver) && !dwmac_is_too_slow(&driver) && (*reg(0) & 3) == 3,
       "a link of 1000 Mbit/s counts if there is only its clock");
    plug(10, true);
    OK(!dwmac_is_up(&driver) && (*reg(0) & 3) == 0,
       "a link that becomes slower does not count any more");
}

static void test_close(void)
{
    uint8_t frame[60] = { 0 };

    start(false);
    OK(arrive(frame, sizeof frame, WHOLE), "a port that is open takes frames");
    dwmac_close(&driver);
    OK(!arrive(frame, sizeof frame, WHOLE) && (*reg(0) & 3) == 0 && (*reg(0x1104) & 1) == 0 &&
           (*reg(0x1108) & 1) == 0,
       "a port that is closed takes no frames, and neither engine runs");
    OK(!dwmac_is_up(&driver) && !dwmac_send(&driver, frame, sizeof frame) && (*reg(0) & 3) == 0,
       "a port that is closed does not start by itself");
}

/* As phy0 of jh7110-starfive-visionfive-2-v1.3b.dts, but for the delay of what comes; the registers had other values before. */
static void read_phy_node(uint32_t receive)
{
    static struct writer w;
    struct device_tree tree;
    struct device_tree_node node, phy;

    memset(&w, 0, sizeof w);
    begin(&w, "");
    begin(&w, "ethernet");
    text(&w, "compatible", "starfive,jh7110-dwmac");
    CELLS(&w, "phy-handle", 9);
    begin(&w, "mdio");
    begin(&w, "ethernet-phy");
    CELLS(&w, "phandle", 9);
    CELLS(&w, "rx-internal-delay-ps", receive);
    CELLS(&w, "tx-internal-delay-ps", 1500);
    CELLS(&w, "motorcomm,rx-clk-drv-microamp", 3970);
    CELLS(&w, "motorcomm,rx-data-drv-microamp", 2910);
    property(&w, "motorcomm,tx-clk-adj-enabled", "", 0);
    property(&w, "motorcomm,tx-clk-100-inverted", "", 0);
    property(&w, "motorcomm,tx-clk-1000-inverted", "", 0);
    for (unsigned i = 0; i < 4; i++)
        end(&w);
    finish(&w, 0);
    (void)device_tree_open(&tree, w.blob, w.n_blob);
    device_tree_begin(&node);
    OK(device_tree_next_compatible(&tree, &node, "starfive,jh7110-dwmac") &&
           tree_phy(&tree, &node, &phy) == TREE_PHY_BELOW,
       "the tree has the PHY below its controller");
    yt8531_of_tree(&motorcomm, &tree, &phy, "rgmii-id");
}

static void test_motorcomm(void)
{
    read_phy_node(1500);
    power_up();
    f.chip = 0x8131; /* its pads have 1.8 V */
    f.rgmii = 0x34f1;
    f.pads = 0x7b8f;
    (void)open_with(own, true, false);
    OK(f.pads == 0xcbbf, "a YT8531 has the tree's strengths, which are numbers 6 and 3 (%04x)",
       (unsigned)f.pads);
    OK(f.chip == 0x8031 && f.rgmii == 0x28fa, "a YT8531 has the tree's delays (%04x, %04x)",
       (unsigned)f.chip, (unsigned)f.rgmii);
    OK(dwmac_is_up(&driver) && f.rgmii == 0x68fa, "the PHY's clock is inverted at 1000 Mbit/s");
    plug(10, true);
    OK(dwmac_is_up(&driver) && f.rgmii == 0x28fa, "the PHY's clock is not inverted at 10 Mbit/s");
    plug(100, true);
    OK(dwmac_is_up(&driver) && f.rgmii == 0x68fa, "the PHY's clock is inverted at 100 Mbit/s");
    read_phy_node(1900);
    power_up();
    f.rgmii = 0x34f1;
    f.pads = 0x7b8f;
    (void)open_with(own, true, false);
    OK(f.pads == 0x7b8f, "strengths that the PHY does not have at 3.3 V stay");
    OK(f.chip == 0x100 && f.rgmii == 0x00fa, "1900 ps have their own bit");
    power_up();
    f.phy[3] = 0xe91a;
    f.rgmii = 0x34f1;
    OK(open_with(own, true, false) == ERR_OK && dwmac_is_up(&driver) && f.rgmii == 0x34f1 &&
           f.phy[0x1e] == 0,
       "another PHY stays as it is");
    memset(&motorcomm, 0, sizeof motorcomm);
}

/* A PHY of starfive_visionfive2.dts in StarFive's U-Boot of 2021: no handle, and numbers of the registers' fields. */
struct maker_row {
    const char *name;
    uint32_t value;
};

static void read_makers_node(const struct maker_row *rows, unsigned n)
{
    static struct writer w;
    struct device_tree tree;
    struct device_tree_node node, phy;

    memset(&w, 0, sizeof w);
    begin(&w, "");
    begin(&w, "ethernet@16030000");
    text(&w, "compatible", "starfive,jh7110-eqos-5.20");
    begin(&w, "ethernet-phy@0");
    for (unsigned i = 0; i < n; i++)
        CELLS(&w, rows[i].name, rows[i].value);
    for (unsigned i = 0; i < 3; i++)
        end(&w);
    finish(&w, 0);
    (void)device_tree_open(&tree, w.blob, w.n_blob);
    device_tree_begin(&node);
    OK(device_tree_next_compatible(&tree, &node, "starfive,jh7110-eqos-5.20") &&
           tree_phy(&tree, &node, &phy) == TREE_PHY_NONE && tree_phy_first(&tree, &node, &phy),
       "the maker's tree has a PHY without a handle");
    yt8531_of_tree(&motorcomm, &tree, &phy, "rgmii-id");
}

/* phy0 of the releases from VF2_v3.0.4 on. */
static void test_makers_tree(void)
{
    static const struct maker_row rows[] = { { "rgmii_sw_dr_2", 0 },   { "rgmii_sw_dr", 3 },
                                             { "rgmii_sw_dr_rxc", 6 }, { "rxc_dly_en", 0 },
                                             { "rx_delay_sel", 0xa },  { "tx_delay_sel_fe", 5 },
                                             { "tx_delay_sel", 0xa },  { "tx_inverted_10", 1 },
                                             { "tx_inverted_100", 1 }, { "tx_inverted_1000", 1 } };

    read_makers_node(rows, sizeof rows / sizeof rows[0]);
    power_up();
    f.chip = 0x8131;
    f.rgmii = 0x00f1; /* as after a reset: 150 ps for what is sent, its clock as it is */
    f.pads = 0x6fff;
    OK(open_with(own, true, false) == ERR_OK && f.chip == 0x8031 && f.rgmii == 0x28fa &&
           f.pads == 0xcfff,
       "a YT8531 has its maker's delays and strengths with the factory's U-Boot (%04x, %04x, %04x)",
       (unsigned)f.chip, (unsigned)f.rgmii, (unsigned)f.pads);
    OK(dwmac_is_up(&driver) && f.rgmii == 0x68fa, "the PHY's clock is inverted at 1000 Mbit/s");
    memset(&motorcomm, 0, sizeof motorcomm);
}

/* phy0 of VF2_v2.4.4 to VF2_v2.11.5: the receiver's delay is the bit of 1900 ps alone, and strengths have no names yet. Then a node that
 * names nothing but a clock: what is sent is delayed by 150 ps, which is motorcomm.c's own number. */
static void test_makers_first_trees(void)
{
    static const struct maker_row rows[] = { { "rxc_dly_en", 1 },      { "tx_delay_sel_fe", 5 },
                                             { "tx_delay_sel", 0xa },  { "tx_inverted_10", 1 },
                                             { "tx_inverted_100", 1 }, { "tx_inverted_1000", 1 } },
                                  clock = { "tx_inverted_1000", 0 };

    read_makers_node(rows, sizeof rows / sizeof rows[0]);
    power_up();
    f.chip = 0x8031;
    f.rgmii = 0x34f1; /* as another system left it */
    f.pads = 0x6fff;
    OK(open_with(own, true, false) == ERR_OK && f.chip == 0x8131 && f.rgmii == 0x00fa &&
           f.pads == 0x6fff,
       "an early release's tree without rx_delay_sel counts, too (%04x, %04x, %04x)",
       (unsigned)f.chip, (unsigned)f.rgmii, (unsigned)f.pads);
    OK(dwmac_is_up(&driver) && f.rgmii == 0x40fa, "the PHY's clock is inverted at 1000 Mbit/s");
    read_makers_node(&clock, 1);
    power_up();
    f.rgmii = 0x74fa;
    OK(open_with(own, true, false) == ERR_OK && dwmac_is_up(&driver) && f.rgmii == 0x00f1,
       "delays that the tree does not name are those of the maker's driver (%04x)",
       (unsigned)f.rgmii);
    memset(&motorcomm, 0, sizeof motorcomm);
}

static void test_refused(void)
{
    static const uint8_t group[6] = { 1, 0, 0, 0, 0, 1 }, none[6];
    struct dwmac_setup far = { .window = { .end = UINT64_MAX, .coherent = true },
                               .ticks = ticks,
                               .ticks_hz = 1000000,
                               .bus_bytes = 8,
                               .address = own };

    power_up();
    *reg(0x110) = 0x37;
    OK(open_with(own, true, false) == ERR_UNSUPPORTED && strstr(why, "version 5") != NULL,
       "another version of the controller is refused: %s", why);
    power_up();
    OK(open_with(NULL, true, false) == ERR_UNSUPPORTED &&
           open_with(group, true, false) == ERR_UNSUPPORTED &&
           open_with(none, true, false) == ERR_UNSUPPORTED &&
           strstr(why, "local-mac-address") != NULL,
       "a port without an address of its own is refused: %s", why);
    power_up();
    f.silent = true;
    OK(open_with(own, true, false) == ERR_NO_DEVICE && strstr(why, "PHY") != NULL &&
           !dwmac_is_up(&driver),
       "a port without a PHY is refused: %s", why);
    power_up();
    f.stuck = true;
    OK(open_with(own, true, false) == ERR_NO_DEVICE,
       "a bus to the PHY that does not answer is an error");
    power_up();
    f.held = true;
    OK(open_with(own, true, false) == ERR_TIMEOUT && strstr(why, "clock") != NULL,
       "a controller whose clock stands still is a timeout: %s", why);
    power_up();
    far.window.offset = (uint64_t)1 << 32;
    OK(dwmac_open(&driver, &far, address, &why) == ERR_UNSUPPORTED && strstr(why, "memory") != NULL,
       "a window without the driver's memory is refused: %s", why);
}

/* ---- clocks and resets of the JH7110 ---- */

static uint32_t aon[0x400], sys[0x400], aon_syscon[0x400], sys_syscon[0x400];

/* PLL 0 as U-Boot's tables have it (clk-jh7110-pll.c), and the divider of GMAC1_GTXCLK: 12 before, as after a reset. */
static void test_own_clock(const struct jh7110_gmac *g, unsigned mhz, uint32_t divider,
                           uint32_t times, uint32_t divisor)
{
    static const struct jh7110_gmac_wiring own_clock = { .mode = "rgmii-id" };

    sys[100] = 12;
    sys_syscon[0x18 / 4] = 3 << 24;
    sys_syscon[0x1c / 4] = times;
    sys_syscon[0x20 / 4] = 0;
    sys_syscon[0x24 / 4] = divider;
    OK(jh7110_gmac_wake(g, 1, &own_clock) == NULL && (sys[100] & 0xffffff) == divisor,
       "with PLL 0 at %u MHz the port's own clock is %s", mhz, mhz != 0 ? "125 MHz" : "as it was");
}

static void test_clocks(void)
{
    static const struct jh7110_gmac g = { .crg = { (uintptr_t)aon, (uintptr_t)sys },
                                          .syscon = { (uintptr_t)aon_syscon,
                                                      (uintptr_t)sys_syscon },
                                          .ticks = ticks,
                                          .ticks_hz = 1000000 };
    static const struct jh7110_gmac_wiring received = { .mode = "rgmii-id",
                                                        .received_clock = true },
                                           own_clock = { .mode = NULL }, rmii = { .mode = "rmii" };

    memset(sys, 0, sizeof sys);
    memset(aon, 0, sizeof aon);
    sys[108] = 8; /* GMAC0_GTXCLK: PLL 0 by 8 */
    aon[0x38 / 4] = 0xff;
    aon[0x3c / 4] = 3;
    aon_syscon[0x0c / 4] = 0xffffffff;
    OK(jh7110_gmac_wake(&g, 0, &received) == NULL && aon[2] >> 31 && aon[3] >> 31 &&
           sys[108] == (1u << 31 | 8) && sys[109] >> 31 && sys[111] >> 31 &&
           aon[5] == (1u << 31 | 1 << 24),
       "port 0 has its clocks, and sends with the one that it receives");
    OK(aon[0x38 / 4] == 0xfc && aon_syscon[0x0c / 4] == (0xffffffff & ~(7u << 18)) + (1u << 18) &&
           !jh7110_gmac_is_gigabit_only(&g, 0),
       "port 0 leaves its reset, with RGMII");
    OK(sys[97] == 0 && sys[105] == 0 && sys[0x300 / 4] == 0 && sys_syscon[0x90 / 4] == 0,
       "port 1 stays as it was");
    sys[0x300 / 4] = 0xff;
    sys[0x310 / 4] = 0xc;
    OK(jh7110_gmac_wake(&g, 1, &own_clock) == NULL && sys[97] >> 31 && sys[98] >> 31 &&
           sys[102] >> 31 && sys[107] >> 31 && sys[105] == 1u << 31 && sys[0x300 / 4] == 0xf3 &&
           sys_syscon[0x90 / 4] == 1 << 2 && jh7110_gmac_is_gigabit_only(&g, 1),
       "port 1 sends with its own clock, which is that of 1000 Mbit/s");
    test_own_clock(&g, 1000, 3, 125, 8);
    test_own_clock(&g, 1250, 12, 625, 10);
    test_own_clock(&g, 1500, 2, 125, 12);
    test_own_clock(&g, 0, 0, 0, 12);
    sys[0x310 / 4] = 4;
    why = jh7110_gmac_wake(&g, 1, &own_clock);
    OK(why != NULL && strstr(why, "reset") != NULL, "a port that stays in reset is not touched");
    sys[0x300 / 4] = 0;
    jh7110_gmac_sleep(&g, 1);
    OK(sys[0x300 / 4] == 0xc, "a port that is closed goes back into reset");
    sys[0x300 / 4] = sys_syscon[0x90 / 4] = 0;
    sys[0x310 / 4] = 0xc;
    why = jh7110_gmac_wake(&g, 1, &rmii);
    OK(why != NULL && strstr(why, "phy-mode") != NULL && sys[0x300 / 4] == 0 &&
           sys_syscon[0x90 / 4] == 0,
       "v1.2A's port 1, which is wired for RMII, stays as it was");
}

int main(void)
{
    test_open();
    test_frames(false);
    test_frames(true);
    test_short_and_long();
    test_full();
    test_links();
    test_close();
    test_motorcomm();
    test_makers_tree();
    test_makers_first_trees();
    test_refused();
    test_clocks();
    return tap_done();
}
