#include "board/drivers/net/jh7110_gmac.h"

#include <string.h>

#include "board/drivers/dma/dma.h"

enum { AON, SYS };
enum { CLOCKS = 5 };
enum {
    CLOCK_SOURCE_SHIFT = 24,
    CLOCK_SOURCE_MASK = 15,
    SOURCE_OWN = 0,      /* source of a TX clock: GTXCLK, which divides PLL 0 */
    SOURCE_RECEIVED = 1, /* RMII_RTX */
    CLOCK_DIVISOR_MASK = 0xffffff,
    GTXCLK = 4, /* index in `clocks` */
};
enum { OSCILLATOR_HZ = 24000000, OWN_HZ = 125000000, MOST_DIVISOR = 15 };
enum {                   /* PLL 0, in SYS_SYSCON (clk-starfive-jh7110-pll.c) */
       PLL0_KIND = 0x18, /* bits 24 and 25 are both set if the PLL has no fraction */
       PLL0_WHOLE = 3 << 24,
       PLL0_TIMES = 0x1c,    /* 11:0 multiplier */
       PLL0_FRACTION = 0x20, /* 23:0 fraction in 2^24ths; 29:28 log2 of the last divider */
       PLL0_DIVIDER = 0x24,  /* 5:0 the first divider */
};
#define CLOCK_ON (1u << 31)
enum { MODE_RGMII = 1, MODE_MASK = 7 };
enum { RELEASE_MICROS = 1000 };

static const struct port {
    struct {
        unsigned char block, number;
    } clocks[CLOCKS];                    /* AHB, AXI, PTP, GTXC, GTXCLK */
    unsigned char tx;                    /* the TX clock, in `block` */
    unsigned char block;                 /* address of the block with the resets and the TX clock,
                                          * and of the syscon */
    unsigned short assert_at, status_at; /* registers of the resets; a status of 1 means released */
    uint32_t resets;                     /* reset bits of AXI and AHB */
    unsigned char mode_at, mode_shift;   /* in the syscon */
} ports[JH7110_GMAC_PORTS] = {
    { { { AON, 2 }, { AON, 3 }, { SYS, 109 }, { SYS, 111 }, { SYS, 108 } },
      5,
      AON,
      0x38,
      0x3c,
      3u << 0,
      0x0c,
      18 },
    /* Port 1's GTXCLK has no gate, so bit 31 is not used. */
    { { { SYS, 97 }, { SYS, 98 }, { SYS, 102 }, { SYS, 107 }, { SYS, 100 } },
      105,
      SYS,
      0x300,
      0x310,
      3u << 2,
      0x90,
      2 },
};

static volatile uint32_t *word(uintptr_t block, unsigned at)
{
    return (volatile uint32_t *)(block + at);
}

static volatile uint32_t *tx_clock(const struct jh7110_gmac *g, unsigned port)
{
    return word(g->crg[ports[port].block], 4u * ports[port].tx);
}

/* The frequency of PLL 0 in Hz; 0 if it does not run. */
static uint64_t pll0_hz(const struct jh7110_gmac *g)
{
    uint32_t fraction = *word(g->syscon[SYS], PLL0_FRACTION);
    uint32_t divider = *word(g->syscon[SYS], PLL0_DIVIDER) & 63;
    uint64_t times = (uint64_t)(*word(g->syscon[SYS], PLL0_TIMES) & 0xfff) << 24;

    if ((*word(g->syscon[SYS], PLL0_KIND) & PLL0_WHOLE) != PLL0_WHOLE)
        times += fraction & 0xffffff;
    if (divider == 0)
        return 0;
    return (OSCILLATOR_HZ * times >> 24) / divider >> (fraction >> 28 & 3);
}

/* Set the clock for 1000 Mbit/s, as U-Boot and Linux do when a link comes up
 * (dwc_eth_qos_starfive.c, dwmac-starfive.c). U-Boot sets PLL 0 to 1000, 1250 or 1500 MHz, and the
 * divider's reset value suits only one of them. */
static void set_own_clock(const struct jh7110_gmac *g, unsigned port)
{
    const struct port *p = &ports[port];
    volatile uint32_t *clock = word(g->crg[p->clocks[GTXCLK].block], 4u * p->clocks[GTXCLK].number);
    uint64_t divisor = (pll0_hz(g) + OWN_HZ / 2) / OWN_HZ;

    if (divisor != 0 && divisor <= MOST_DIVISOR)
        *clock = (*clock & ~(uint32_t)CLOCK_DIVISOR_MASK) | (uint32_t)divisor;
}

static void start_clocks(const struct jh7110_gmac *g, unsigned port, bool received_clock)
{
    volatile uint32_t *tx = tx_clock(g, port);

    for (unsigned i = 0; i < CLOCKS; i++)
        *word(g->crg[ports[port].clocks[i].block], 4u * ports[port].clocks[i].number) |= CLOCK_ON;
    if (received_clock)
        *tx = (*tx & ~((uint32_t)CLOCK_SOURCE_MASK << CLOCK_SOURCE_SHIFT)) |
              SOURCE_RECEIVED << CLOCK_SOURCE_SHIFT;
    if (jh7110_gmac_is_gigabit_only(g, port))
        set_own_clock(g, port);
    *tx |= CLOCK_ON;
}

const char *jh7110_gmac_wake(const struct jh7110_gmac *g, unsigned port,
                             const struct jh7110_gmac_wiring *wiring)
{
    const struct port *p = &ports[port];
    volatile uint32_t *assert = word(g->crg[p->block], p->assert_at),
                      *status = word(g->crg[p->block], p->status_at),
                      *mode = word(g->syscon[p->block], p->mode_at);
    uint64_t start, limit = g->ticks_hz / 1000000 * RELEASE_MICROS + 1;

    /* rgmii, rgmii-id, rgmii-rxid, rgmii-txid: the PHY sets the delays. */
    if (wiring->mode != NULL && strncmp(wiring->mode, "rgmii", strlen("rgmii")) != 0)
        return "the network controller is wired for a mode other than RGMII (phy-mode)";
    /* The reset ends everything that the firmware left running. */
    *assert |= p->resets;
    *mode = (*mode & ~((uint32_t)MODE_MASK << p->mode_shift)) | (uint32_t)MODE_RGMII
                                                                    << p->mode_shift;
    start_clocks(g, port, wiring->received_clock);
    dma_barrier(); /* the clocks must run first, because the release waits for them */
    *assert &= ~p->resets;
    start = g->ticks();
    while ((*status & p->resets) != p->resets) {
        if (g->ticks() - start > limit)
            return "the network controller stays in reset";
    }
    return NULL;
}

void jh7110_gmac_sleep(const struct jh7110_gmac *g, unsigned port)
{
    *word(g->crg[ports[port].block], ports[port].assert_at) |= ports[port].resets;
}

bool jh7110_gmac_is_gigabit_only(const struct jh7110_gmac *g, unsigned port)
{
    return (*tx_clock(g, port) >> CLOCK_SOURCE_SHIFT & CLOCK_SOURCE_MASK) == SOURCE_OWN;
}
