/* RP1's link as a firmware leaves it, and its USB controllers as hosts, against models of their
 * registers: nothing is read through a missing window, and nothing is reset that others use. */
#include <string.h>

#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/bus/rp1_link.h"
#include "board/drivers/usb/dwc3.h"
#include "tests/unit/tap.h"

enum { PORT = 0x100000, WORDS = 0x9400 / 4 };
#define BEHIND 0x1f00000000u

static struct {
    uint32_t words[WORDS], device[16];
    unsigned writes; /* to anything but the index */
    bool early;      /* the device's space was accessed without a link, or without its index */
} f;

uint32_t brcm_pcie_read(uintptr_t at)
{
    unsigned reg = (unsigned)(at - PORT);

    if (reg >= 0x8000 && reg < 0x9000) {
        f.early |= (f.words[0x4068 / 4] & 0x30) != 0x30 || f.words[0x9000 / 4] != 1 << 20;
        return f.device[(reg & 63) / 4];
    }
    f.early |= reg >= 0x9310;
    return f.words[reg / 4];
}

void brcm_pcie_write(uintptr_t at, uint32_t value)
{
    unsigned reg = (unsigned)(at - PORT);

    f.writes += reg != 0x9000;
    if (reg >= 0x8000 && reg < 0x9000)
        f.device[(reg & 63) / 4] = value;
    else
        f.words[reg / 4] = value;
}

/* The link as Linux prints it on a Pi 5: BAR 1 of 4 MiB at 0, memory from 64 GiB of the bus on. */
static void firmware_left(void)
{
    memset(&f, 0, sizeof f);
    f.words[0x04 / 4] = 0x00100006;
    f.words[0x4068 / 4] = 0xb0;
    f.words[0x4070 / 4] = 0xfff00000;
    f.words[0x4080 / 4] = 0x1f;
    f.words[0x4084 / 4] = 0x1f;
    f.words[0x4034 / 4] = 21;
    f.words[0x4038 / 4] = 0x10;
    f.words[0x40b4 / 4] = 1;
    f.device[0] = 0x00011de4;
    f.device[1] = 0x00100006;
}

static enum err open_link(struct rp1_link *r)
{
    enum err e = rp1_link_open(r, PORT);

    OK(!f.early, "nothing is read that may not answer");
    return e;
}

static void test_left(void)
{
    struct rp1_link r;

    firmware_left();
    OK(open_link(&r) == ERR_OK && r.peripherals == BEHIND,
       "a link that firmware left is taken over: registers at %llx",
       (unsigned long long)r.peripherals);
    OK(r.window.offset == (uint64_t)1 << 36 && r.window.end == (uint64_t)1 << 36 &&
           !r.window.coherent,
       "the window has 64 GiB, from 64 GiB of the bus on");
    OK(f.writes == 0, "nothing is written if all is set already");

    firmware_left();
    f.words[0x04 / 4] = 0xffff0000;
    f.device[1] = 0x00100000;
    OK(open_link(&r) == ERR_OK && f.words[0x04 / 4] == 6 && f.device[1] == 6,
       "memory and bus mastering are allowed, and errors that wait are not cleared");

    firmware_left(); /* BAR 1 behind another BAR on the bus, a window that does not begin at 0, and memory where cores have it */
    f.device[5] = 0x80400000;
    f.words[0x400c / 4] = 0x80000000;
    f.words[0x4034 / 4] = 0;
    f.words[0x4038 / 4] = 0;
    f.words[0x403c / 4] = 20;
    OK(open_link(&r) == ERR_OK && r.peripherals == BEHIND + 0x400000 && r.window.offset == 0 &&
           r.window.end == (uint64_t)1 << 35,
       "another firmware's windows are read");

    firmware_left();
    f.words[0x402c / 4] = 0xfffff01c; /* 4 KiB for its interrupts, as in Linux */
    f.words[0x4030 / 4] = 0xff;
    OK(open_link(&r) == ERR_OK && r.window.offset == (uint64_t)1 << 36,
       "a window of 4 KiB does not reach memory");
}

static void test_refused(void)
{
    static const struct {
        const char *name, *says;
        unsigned reg; /* from 0x8000 on: the device's */
        uint32_t value;
    } rows[] = {
        { "held", "pciex4_reset=0", 0x4068, 0x80 },
        { "no data link", "pciex4_reset=0", 0x4068, 0x90 },
        { "not switched on", "pciex4_reset=0", 0x4068, 0x30 },
        { "another chip", "not an RP1", 0x8000, 0x34831106 },
        { "gone", "not an RP1", 0x8000, UINT32_MAX },
        { "a window that ends before", "does not reach RP1's", 0x4070, 0x00200000 },
        { "BAR 1 below the window", "does not reach RP1's", 0x400c, 0x80000000 },
        { "no memory", "without access to memory", 0x4034, 0 },
        { "memory that is not the first", "without access to memory", 0x40b4, 0x40000001 },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rp1_link r;

        firmware_left();
        if (rows[i].reg >= 0x8000)
            f.device[(rows[i].reg & 63) / 4] = rows[i].value;
        else
            f.words[rows[i].reg / 4] = rows[i].value;
        OK(open_link(&r) != ERR_OK && r.why != NULL && strstr(r.why, rows[i].says) != NULL,
           "%s is refused: %s", rows[i].name, r.why != NULL ? r.why : "no sentence");
    }
}

/* ---- DWC3 ---- */

static struct {
    uint32_t role, usb2, second, usb3, id, park, sends;
    uint64_t now, held, freed;
    bool early;
    char steps[16];
    unsigned n;
} d;

static uint64_t ticks(void)
{
    return ++d.now; /* 10 us */
}

static void step(char c)
{
    if (d.n + 1 < sizeof d.steps)
        d.steps[d.n++] = c;
}

uint32_t dwc3_read(uintptr_t at)
{
    switch (at) {
    case 0xc110: return d.role;
    case 0xc108: return d.sends;
    case 0xc11c: return d.park;
    case 0xc120: return d.id;
    case 0xc200: return d.usb2;
    case 0xc204: return d.second;
    case 0xc2c0: return d.usb3;
    default: d.early = true; return 0;
    }
}

static bool held(uint32_t word)
{
    return word >> 31;
}

static void write_phy(uint32_t *word, uint32_t value, char name)
{
    if (held(value) != held(*word)) {
        step(held(value) ? name : (char)(name + 'a' - 'A'));
        d.early |= (d.role & 1 << 11) == 0; /* the core is held in reset meanwhile */
        d.early |= !held(value) && d.now - d.held < 10000;
        d.held = held(value) ? d.now : d.held;
        d.freed = d.now;
    }
    *word = value;
}

void dwc3_write(uintptr_t at, uint32_t value)
{
    switch (at) {
    case 0xc110:
        if ((value ^ d.role) & 1 << 11) {
            step(value & 1 << 11 ? 'R' : 'r');
            d.early |= !(value & 1 << 11) &&
                       (d.now - d.freed < 10000 || held(d.usb2) || held(d.usb3));
        }
        d.role = value;
        break;
    case 0xc108: d.sends = value; break;
    case 0xc11c: d.park = value; break;
    case 0xc200: write_phy(&d.usb2, value, 'P'); break;
    case 0xc204: d.second = value; break;
    case 0xc2c0: write_phy(&d.usb3, value, 'Q'); break;
    default: d.early = true;
    }
}

static enum err make_host(uint32_t role)
{
    enum err e;

    d.role = role;
    d.usb2 = d.second = 0x40102540;
    d.usb3 = 0x010e0002;
    d.park = 0x0004018a;
    d.sends = 0x01ff0000;
    e = dwc3_make_host(0, ticks, 100000);
    d.steps[d.n] = '\0';
    return e;
}

static void test_host(void)
{
    memset(&d, 0, sizeof d);
    d.id = 0x5533330a;
    OK(make_host(0x30c02004) == ERR_OK && strcmp(d.steps, "RQPqpr") == 0 && !d.early,
       "a device becomes a host: %s", d.steps);
    OK(d.role == 0x30c01004, "only the role of the device changes");
    OK(d.usb2 == 0x40102400 && d.second == 0x40102400 && d.usb3 == 0x110c0002,
       "the PHYs of all ports stay awake, and one in P3 looks for no receiver: %x %x %x", d.usb2,
       d.second, d.usb3);
    /* rp1-common.dtsi: snps,parkmode-disable-*, snps,tx-thr-num-pkt = 2, snps,tx-max-burst = 8 */
    OK(d.park == 0x0007818a && d.sends == 0x22080000,
       "park mode is off, and what it sends waits for two packets: %x %x", d.park, d.sends);

    memset(&d, 0, sizeof d);
    d.id = 0x5533330a;
    OK(make_host(0x30c01004) == ERR_OK && d.n == 0 && d.now == 0 && d.role == 0x30c01004 &&
           d.usb2 == 0x40102400 && d.park == 0x0007818a && d.sends == 0x22080000,
       "a host is not reset, and nothing waits");

    memset(&d, 0, sizeof d);
    d.id = UINT32_MAX;
    OK(make_host(0) == ERR_NO_DEVICE && d.n == 0 && d.usb2 == 0x40102540,
       "nothing is written if there is no device");
}

int main(void)
{
    test_left();
    test_refused();
    test_host();
    return tap_done();
}
