/* A Raspberry Pi 5's Ethernet port against models of RP1's link, lines and controller: it is found
 * behind the link, its PHY is reset where the firmware left it in reset, its address comes from the
 * tree, and memory is as RP1 sees it. */
#include "board/drivers/net/rp1_gem.h"

#include <string.h>
#include <sys/mman.h>

#include "board/drivers/bus/brcm_pcie.h"
#include "board/drivers/gpio/rp1_gpio.h"
#include "board/drivers/net/gem_registers.h"
#include "board/isa.h"
#include "tests/unit/board/fakes/dma_log.h"
#include "tests/unit/board/fakes/tree_writer.h"
#include "tests/unit/tap.h"

enum { PORT = 0x100000, BANK_1 = 0xd4000, RESET_LINE = 4, RESET_TICKS = 5000 };
/* It is low, because AddressSanitizer uses the rest. */
#define BEHIND 0x60000000u
#define DRIVER ((struct gem *)(uintptr_t)0x40000000)
#define LINES ((uint8_t *)(uintptr_t)(BEHIND + RP1_GPIO_PLACE))

static struct {
    uint32_t port[0x9400 / 4], device[16], regs[0x1000 / 4];
    uint64_t ticks, low_since;
    bool elsewhere; /* accesses to registers that are not the controller's */
    bool held;      /* the PHY is in reset */
    bool reset;     /* it was released after at least RESET_TICKS */
} f;

static volatile uint32_t *line_word(unsigned offset)
{
    return (volatile uint32_t *)(LINES + (BANK_1 - RP1_GPIO_PLACE) + offset);
}

/* Obeys RIO's words that set and clear whenever time passes. */
static void obey_lines(void)
{
    if (*line_word(0x13000) >> RESET_LINE & 1) { /* out, clear */
        f.held = true;
        f.low_since = f.ticks;
        *line_word(0x13000) = 0;
    }
    if (*line_word(0x12000) >> RESET_LINE & 1) {
        f.reset = f.held && f.ticks - f.low_since >= RESET_TICKS;
        f.held = !f.reset;
        *line_word(0x12000) = 0;
    }
}

static uint64_t ticks(void)
{
    obey_lines();
    return f.ticks += 10;
}

uint32_t brcm_pcie_read(uintptr_t at)
{
    unsigned reg = (unsigned)(at - PORT);

    return reg >= 0x8000 && reg < 0x9000 ? f.device[(reg & 63) / 4] : f.port[reg / 4];
}

void brcm_pcie_write(uintptr_t at, uint32_t value)
{
    f.port[(at - PORT) / 4] = value;
}

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    (void)base;
    (void)bytes;
    return mapping == MAP_DEVICE ? ERR_OK : ERR_BAD_ARGUMENT;
}

uint32_t gem_read(const struct gem *g, unsigned reg)
{
    f.elsewhere |= g->setup.mmio != BEHIND + 0x100000;
    return reg == GEM_STATUS ? (uint32_t)GEM_STATUS_PHY_IDLE : f.regs[reg / 4];
}

void gem_write(const struct gem *g, unsigned reg, uint32_t value)
{
    static const uint16_t phy[16] = {
        [0] = 0x1140, [1] = 0x796d, [2] = 0x600d,  [3] = 0x84a2, [4] = 0x01e1,
        [5] = 0x41e1, [9] = 0x0200, [10] = 0x3800, [15] = 0x3000
    };

    (void)g;
    f.regs[reg / 4] = value;
    obey_lines();
    if (reg == GEM_PHY)
        f.regs[reg / 4] = !f.held && (value >> 23 & 31) == 1 ? phy[value >> 18 & 15] : 0xffff;
}

static void firmware_left(bool held)
{
    memset(&f, 0, sizeof f);
    memset(LINES, 0, RP1_GPIO_BYTES);
    f.port[0x4068 / 4] = 0xb0;
    f.port[0x4070 / 4] = 0x6ff06000;
    f.port[0x4034 / 4] = 21;
    f.port[0x4038 / 4] = 0x10;
    f.port[0x40b4 / 4] = 1;
    f.device[0] = 0x00011de4;
    f.device[1] = 0x00100006;
    f.regs[GEM_DESIGN_6 / 4] = GEM_DESIGN_6_64;
    f.regs[GEM_DESIGN_1 / 4] = 4u << 25;
    f.held = held;
}

static struct writer w;
static struct device_tree tree;

static void write_tree(const char *compatible, const char *name, const uint8_t *address)
{
    memset(&w, 0, sizeof w);
    begin(&w, "");
    begin(&w, "ethernet@100000");
    text(&w, "compatible", compatible);
    property(&w, name, address, 6);
    end(&w);
    end(&w);
    finish(&w, 0);
    OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK, "the tree that the test writes opens");
}

int main(void)
{
    static const uint8_t ours[6] = { 0xd8, 0x3a, 0xdd, 1, 2, 3 },
                         group[6] = { 1, 0, 0x5e, 1, 2, 3 };
    uint8_t address[6] = { 0 };

    if (mmap(LINES, RP1_GPIO_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != LINES ||
        mmap(DRIVER, sizeof *DRIVER, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)DRIVER) {
        printf("1..0 # SKIP no memory at the places of this test\n");
        return 0;
    }
    write_tree("raspberrypi,rp1-gem", "local-mac-address", ours);
    firmware_left(false);
    OK(rp1_gem_open(DRIVER, &tree, PORT, ticks, 1000000, address) == NULL &&
           memcmp(address, ours, 6) == 0 && !f.elsewhere,
       "a port that the firmware has used opens with the tree's address");
    OK(!f.reset && *line_word(0x4 + RESET_LINE * 8) == 0,
       "a PHY that the firmware has used is not reset");
    OK(f.regs[GEM_SEND_BASE_TOP / 4] == 0x10 && f.regs[GEM_RECEIVE_BASE_TOP / 4] == 0x10 &&
           (f.regs[GEM_DMA / 4] & GEM_DMA_64) != 0,
       "RP1 sees memory from 64 GiB of the bus on");
    OK(gem_is_up(DRIVER) && DRIVER->link.mbits == 1000 && f.regs[0x00c / 4] == 1 &&
           f.regs[0x0c0 / 4] == 0, /* macb.h of Linux: GEM_USRIO, and MACB_USRIO */
       "a link has 1000 Mbit/s by RGMII, and user_io is where a GEM has it");
    firmware_left(true);
    OK(rp1_gem_open(DRIVER, &tree, PORT, ticks, 1000000, address) == NULL && f.reset &&
           gem_is_up(DRIVER),
       "a PHY that the firmware has left in reset is let go");
    write_tree("cdns,macb", "local-mac-address", ours);
    memset(address, 0, sizeof address);
    firmware_left(false);
    OK(rp1_gem_open(DRIVER, &tree, PORT, ticks, 1000000, address) == NULL &&
           memcmp(address, ours, 6) == 0,
       "a port opens that the tree calls a plain macb, as Raspberry Pi's Linux 6.1 does");
    write_tree("raspberrypi,rp1-gem", "local-mac-address", group);
    firmware_left(false);
    OK(rp1_gem_open(DRIVER, &tree, PORT, ticks, 1000000, address) != NULL,
       "the address of a group is refused");
    firmware_left(false);
    f.port[0x4068 / 4] = 0;
    OK(strstr(rp1_gem_open(DRIVER, &tree, PORT, ticks, 1000000, address), "pciex4_reset=0") != NULL,
       "RP1 that is held in reset is reported");
    return tap_done();
}
