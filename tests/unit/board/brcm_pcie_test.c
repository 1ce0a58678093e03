/* The PCIe ports of BCM2711 and BCM2712 against a model of their registers: the order of the steps,
 * the waits between them, the windows; ports whose link does not come up, and devices that do not
 * answer. */
#include "board/drivers/bus/brcm_pcie.h"

#include <string.h>

#include "tests/unit/tap.h"

enum {
    PORT = 0x100000,
    RESCAL = 0x200000,
    RESETS = 0x300000,
    RP1_PORT = 0x400000,
    WORDS = 0x9400 / 4
};
enum { STEPS = 64, DEVICE_WORDS = 64 };

static struct port {
    enum brcm_pcie_chip chip;
    bool rp1_linked;
    uint32_t words[WORDS], device[DEVICE_WORDS], index, rescal;
    uint32_t mdio[32], mdio_at;
    bool never_calibrates, never_trains, mdio_stuck, silent, endpoint;
    uint32_t retries; /* reads of the device's id that answer "not yet" */
    uint64_t now, held, awake, lane, freed, bridge_free;
    bool is_held, is_free, bridge_held;
    bool early; /* the device was accessed without a link, or a wait was too short */
    char steps[STEPS];
    unsigned n_steps;
    uint32_t bar_bytes;
} f;

static uint64_t ticks(void)
{
    return ++f.now; /* a microsecond */
}

static void step(char c)
{
    if (f.n_steps + 1 < STEPS && (f.n_steps == 0 || f.steps[f.n_steps - 1] != c))
        f.steps[f.n_steps++] = c;
}

static bool linked(void)
{
    return f.is_free && !f.never_trains && f.now - f.freed >= 120000;
}

static uint32_t read_device(unsigned reg)
{
    f.early |= !linked() || f.index != 1 << 20;
    if (f.silent)
        return UINT32_MAX;
    if (reg == 0 && f.retries != 0) {
        f.retries--;
        return 0xffff0001;
    }
    return f.device[reg / 4];
}

static void write_device(unsigned reg, uint32_t value)
{
    f.early |= !linked() || f.index != 1 << 20;
    f.device[reg / 4] = reg == 0x10 ? (value & ~(f.bar_bytes - 1)) | (f.device[4] & 15) : value;
}

uint32_t brcm_pcie_read(uintptr_t at)
{
    unsigned reg = (unsigned)(at & 0xffff);

    if ((at & ~(uintptr_t)0xffff) == RESCAL)
        return reg == 8 ? (f.rescal & 1) && !f.never_calibrates : f.rescal;
    if ((at & ~(uintptr_t)0xffff) == RP1_PORT)
        return f.rp1_linked ? 0xb0 : 0x80;
    f.early |= f.bridge_held && reg != 0x9210;
    if (reg == 0x4068) {
        f.early |= f.is_free && f.now - f.freed < 100000;
        return (linked() ? 0x30u : 0) | (f.endpoint ? 0 : 0x80u);
    }
    if (reg >= 0x8000 && reg < 0x9000)
        return read_device(reg & 0xfff);
    return f.words[reg / 4];
}

static void hold_bridge(bool hold)
{
    if (hold && !f.bridge_held)
        f.held = f.now;
    if (!hold && f.bridge_held) {
        f.early |= f.now - f.held < 100;
        f.bridge_free = f.now;
    }
    if (hold != f.bridge_held)
        step(hold ? 'B' : 'b');
    f.bridge_held = hold;
}

static void hold_device(bool hold)
{
    if (!hold && f.is_held) {
        f.early |= f.now - f.lane < 100 || f.bridge_held;
        f.freed = f.now;
        f.is_free = true;
        step('p');
    }
    if (hold) {
        step('P');
        f.is_free = false;
    }
    f.is_held = hold;
}

static void write_mdio(uint32_t value)
{
    f.mdio[f.mdio_at & 31] = value & 0xffff;
    f.early |= !(value >> 31) || f.now - f.lane < 100;
    f.words[0x1104 / 4] = f.mdio_stuck ? value : value & 0x7fffffff;
    step('M');
}

void brcm_pcie_write(uintptr_t at, uint32_t value)
{
    unsigned reg = (unsigned)(at & 0xffff);
    bool new = f.chip == BRCM_PCIE_2712;

    if ((at & ~(uintptr_t)0xffff) == RESCAL) {
        f.rescal = value;
        step(value & 1 ? 'C' : 'c');
        return;
    }
    if ((at & ~(uintptr_t)0xffff) == RESETS) {
        f.early |= value != 1 << 11 || (reg != 0x18 && reg != 0x1c); /* 43 */
        hold_bridge(reg == 0x18);
        return;
    }
    f.early |= f.bridge_held && reg != 0x9210;
    if (reg >= 0x8000 && reg < 0x9000) {
        write_device(reg & 0xfff, value);
        return;
    }
    f.words[reg / 4] = value;
    switch (reg) {
    case 0x9000: f.index = value; break;
    case 0x9210:
        hold_bridge(value & 2);
        if ((value & 1) != f.is_held)
            hold_device(value & 1);
        break;
    case 0x4064:
        if (new)
            hold_device(!(value & 4));
        break;
    case 0x4204:
    case 0x4304:
        if ((reg == 0x4304) == new && !(value & 1 << 27)) {
            f.lane = f.now;
            step('L');
        }
        break;
    case 0x1100: f.mdio_at = value; break;
    case 0x1104: write_mdio(value); break;
    case 0x184c: step('K'); break;
    case 0x4034: step('I'); break;
    case 0x40a4: step('U'); break;
    case 0xb8: step('G'); break;
    case 0x43c: step('T'); break;
    case 0x400c: step('O'); break;
    case 0x18: step('N'); break;
    default: break;
    }
}

static struct brcm_pcie_place power_up(enum brcm_pcie_chip chip)
{
    bool new = chip == BRCM_PCIE_2712;

    memset(&f, 0, sizeof f);
    f.chip = chip;
    memset(f.words, 0x5a, sizeof f.words); /* values that a firmware may have left */
    f.words[0x9210 / 4] = 0;
    f.device[0] = 0x34831106;
    f.device[2] = 0x0c033001;
    f.device[4] = 4; /* 64 bits */
    f.bar_bytes = 4096;
    return (struct brcm_pcie_place){
        .chip = chip,
        .mmio = PORT,
        .rescal = new ? RESCAL : 0,
        .resets = new ? RESETS : 0,
        .reset = 43,
        .generation = 2,
        .outbound = new ? 0x1b80000000 : 0x600000000,
        .outbound_bus = new ? 0x80000000 : 0xc0000000,
        .outbound_bytes = new ? 0x80000000 : 0x40000000,
        .inbound_bus = new ? (uint64_t)1 << 36 : 0,
        .inbound_bits = new ? 35 : 32,
        .ticks = ticks,
        .ticks_hz = 1000000,
    };
}

static enum err open_port(struct brcm_pcie *p, const struct brcm_pcie_place *place)
{
    enum err e = brcm_pcie_open(p, place);

    f.steps[f.n_steps] = '\0';
    return e;
}

static uint32_t word(unsigned reg)
{
    return f.words[reg / 4];
}

static void test_2711(void)
{
    struct brcm_pcie_place place = power_up(BRCM_PCIE_2711);
    struct brcm_pcie p;
    enum err e = open_port(&p, &place);

    OK(e == ERR_OK && p.id == 0x34831106 && p.class == 0x0c0330, "BCM2711: a VL805 is found");
    OK(strcmp(f.steps, "BPbLIGTOpN") == 0, "BCM2711: the steps have their order: %s", f.steps);
    OK(!f.early, "no register is touched too early, and no device without a link");
    OK(word(0x4034) == 17 && word(0x4038) == 0 && word(0x4008) >> 27 == 17 &&
           (word(0x4008) & 0x303480) == 0x3480 && (word(0x402c) & 31) == 0 &&
           (word(0x403c) & 31) == 0,
       "4 GiB of memory are mapped from 0 on: %x %x", word(0x4034), word(0x4008));
    OK(word(0x400c) == 0xc0000000 && word(0x4010) == 0 && word(0x4070) == 0x3ff00000 &&
           (word(0x4080) & 255) == 6 && (word(0x4084) & 255) == 6,
       "the window for registers is mapped: %x", word(0x4070));
    OK((word(0xb8) & 15) == 2 && (word(0xdc) & 0xffff000f) == 2 &&
           (word(0x43c) & 0xffffff) == 0x060400 && !(word(0x4dc) & 0xc00) && !(word(0x188) & 12) &&
           !(word(0x4204) & 0x08200002),
       "generation, class, power saving and byte order are set");
    OK(word(0x40a4) == 0x5a5a5a5a && word(0x1104) == 0x5a5a5a5a,
       "BCM2711 gets no settings of BCM2712");
}

/* The ports share the calibration, so it is not begun anew under RP1's link, which the firmware has
 * brought up. */
static void test_neighbour(void)
{
    struct brcm_pcie_place place = power_up(BRCM_PCIE_2712);
    struct brcm_pcie p;

    place.neighbour = RP1_PORT;
    f.rp1_linked = true;
    OK(open_port(&p, &place) == ERR_OK && strchr(f.steps, 'C') == NULL,
       "with RP1's link up nothing is calibrated: %s", f.steps);
    place = power_up(BRCM_PCIE_2712);
    place.neighbour = RP1_PORT;
    OK(open_port(&p, &place) == ERR_OK && strchr(f.steps, 'C') != NULL,
       "the port is calibrated if RP1's link is not up");
}

static void test_2712(void)
{
    static const uint16_t pll[32] = {
        [0x16] = 0x50b9, [0x17] = 0xbda1, [0x18] = 0x94, [0x19] = 0x97b4,
        [0x1b] = 0x5030, [0x1c] = 0x5030, [0x1e] = 7,    [0x1f] = 0x1600
    };
    struct brcm_pcie_place place = power_up(BRCM_PCIE_2712);
    struct brcm_pcie p;
    bool same = true;
    enum err e = open_port(&p, &place);

    OK(e == ERR_OK && p.class == 0x0c0330, "BCM2712: a device is found");
    OK(strcmp(f.steps, "CcBbPLMKIUGTOpN") == 0, "BCM2712: the steps have their order: %s", f.steps);
    OK((word(0x4008) >> 20 & 3) == 1, "the bursts are as long as U-Boot and Circle set them");
    OK(!f.early && f.rescal == 0, "nothing is touched too early, and the calibration is let go");
    for (unsigned i = 0; i < 32; i++)
        same = same && f.mdio[i] == pll[i];
    OK(same && (word(0x184c) & 255) == 0x12, "the PLL is set for 54 MHz");
    OK(word(0x4034) == 20 && word(0x4038) == 16 && word(0x4008) >> 27 == 20 && word(0x40b4) == 1 &&
           word(0x40b8) == 0 && (word(0x40a4) & 0x82000) == 0x82000 && word(0x4170) == UINT32_MAX,
       "32 GiB of memory are mapped from 64 GiB of the bus on");
    OK(word(0x400c) == 0x80000000 && word(0x4070) == 0xfff08000 && (word(0x4080) & 255) == 0x1b &&
           (word(0x4084) & 255) == 0x1b,
       "the window for registers is mapped: %x", word(0x4070));
    OK(word(0x9210) == 0, "BCM2711's reset is not touched");
}

static void test_enable(void)
{
    struct brcm_pcie_place place = power_up(BRCM_PCIE_2711);
    struct brcm_pcie p;
    size_t bytes = 0;
    uintptr_t at;

    f.retries = 40;
    (void)open_port(&p, &place);
    at = brcm_pcie_enable(&p, &bytes);
    OK(p.id == 0x34831106 && at == 0x600000000 && bytes == 4096 && f.device[4] == 0xc0000004 &&
           f.device[5] == 0 && f.device[1] == 6 && (word(4) & 6) == 6 && word(0x20) == 0xfff0c000 &&
           word(0x18) == 0x10100,
       "BAR 0, the port's window and mastering are set after 40 times \"not yet\": %x", word(0x20));
    f.device[4] = 1;
    f.bar_bytes = 16;
    OK(brcm_pcie_enable(&p, &bytes) == 0 && p.why != NULL, "ports of x86 are not a BAR: %s", p.why);
    f.never_trains = true;
    OK(brcm_pcie_config(&p, 0) == UINT32_MAX && !f.early,
       "a device that is gone reads as ones, without an access");
}

/* Each fault ends in time, under its name, with the device held in reset. */
static void test_failures(enum brcm_pcie_chip chip)
{
    static const struct {
        size_t flag;
        enum err e;
        const char *why;
        uint64_t most_us;
        bool only_new;
    } rows[] = {
        { offsetof(struct port, never_trains), ERR_NO_DEVICE, "nothing is at", 230000, false },
        { offsetof(struct port, endpoint), ERR_IO, "set up as a device", 230000, false },
        { offsetof(struct port, silent), ERR_TIMEOUT, "does not answer", 1300000, false },
        { offsetof(struct port, never_calibrates), ERR_TIMEOUT, "calibration", 3000, true },
        { offsetof(struct port, mdio_stuck), ERR_TIMEOUT, "not accept settings", 5000, true },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct brcm_pcie_place place = power_up(chip);
        struct brcm_pcie p;
        enum err e;

        if (rows[i].only_new && chip != BRCM_PCIE_2712)
            continue;
        *(bool *)((char *)&f + rows[i].flag) = true;
        e = open_port(&p, &place);
        OK(e == rows[i].e && p.why != NULL && strstr(p.why, rows[i].why) != NULL && !f.early &&
               f.now < rows[i].most_us && !f.is_free,
           "the error is %s after %llu us", p.why != NULL ? p.why : "nothing",
           (unsigned long long)f.now);
    }
}

int main(void)
{
    test_2711();
    test_2712();
    test_neighbour();
    test_enable();
    test_failures(BRCM_PCIE_2711);
    test_failures(BRCM_PCIE_2712);
    return tap_done();
}
