/* The lines of each board against a model of its registers: a line is set up without a wrong level
 * in between, its neighbours stay as the firmware left them, and lines that the board uses itself
 * are refused by name. */
#include <string.h>

#include "board/drivers/gpio/jh7110_gpio.h"
#include "board/drivers/gpio/mss_gpio.h"
#include "board/drivers/gpio/pi_lines.h"
#include "board/drivers/gpio/pl061.h"
#include "board/drivers/gpio/rp1_gpio.h"
#include "tests/unit/board/fakes/fake_registers.h"
#include "tests/unit/tap.h"

/* ---- PL061: an address of the data says which lines an access concerns (DDI 0190, 3.3) ---- */

static struct {
    uint8_t data, direction, select, outside;
    bool wrong; /* line 2 drove low */
} pl;

static uint32_t pl061_model_read(unsigned offset, bool look)
{
    (void)look;
    switch (offset) {
    case 0x400: return pl.direction;
    case 0x420: return pl.select;
    default: break;
    }
    if (offset >= 0x400)
        return 0;
    return ((pl.data & pl.direction) | (pl.outside & ~pl.direction)) & offset >> 2;
}

static void pl061_model_write(unsigned offset, uint32_t value)
{
    if (offset == 0x400)
        pl.direction = (uint8_t)value;
    else if (offset == 0x420)
        pl.select = (uint8_t)value;
    else if (offset < 0x400)
        pl.data = (uint8_t)((pl.data & ~(offset >> 2)) | (value & offset >> 2));
    pl.wrong |= (pl.direction >> 2 & 1) != 0 && (pl.data >> 2 & 1) == 0;
}

static void test_pl061(void)
{
    uintptr_t base = mmio_add(pl061_model_read, pl061_model_write, PL061_BYTES);

    pl.data = 0x80;
    pl.direction = 0x80;
    pl.select = 0x05;
    pl061_setup(base, 2, true, true);
    OK(pl.direction == 0x84 && pl.data == 0x84 && pl.select == 0x01 && !pl.wrong,
       "PL061: line 2 drives high from the first moment on, and lines 7 and 0 stay");
    pl061_write(base, 2, false);
    OK(pl.data == 0x80 && !pl061_read(base, 2) && pl061_read(base, 7),
       "line 2 goes low, and line 7 stays high");
    pl061_setup(base, 5, false, true);
    pl.outside = 0x20;
    OK(pl.direction == 0x84 && pl061_read(base, 5), "line 5 is an input, and high");
    pl.outside = 0;
    OK(!pl061_read(base, 5), "line 5 is an input, and low");
    pl061_setup(base, 7, false, false);
    OK(pl.direction == 0x04, "an output becomes an input");
}

/* ---- RP1: functions, levels with addresses that set and clear, pads ---- */

static struct {
    uint32_t control[28], out, enable, in, pad[29];
    bool wrong; /* line 17 drives low as a line of RIO */
} rp1;

static uint32_t *rp1_place(unsigned offset)
{
    if (offset < 0xe0 && offset % 8 == 4)
        return &rp1.control[offset / 8];
    if (offset >= 0x20000 && offset < 0x20000 + sizeof rp1.pad)
        return &rp1.pad[(offset - 0x20000) / 4];
    switch (offset & ~0x3000u) {
    case 0x10000: return &rp1.out;
    case 0x10004: return &rp1.enable;
    case 0x10008: return &rp1.in;
    default: return NULL;
    }
}

static uint32_t rp1_model_read(unsigned offset, bool look)
{
    const uint32_t *place = rp1_place(offset);

    (void)look;
    return place != NULL ? *place : 0;
}

static void rp1_model_write(unsigned offset, uint32_t value)
{
    uint32_t *place = rp1_place(offset);
    unsigned way = offset >= 0x10000 && offset < 0x20000 ? offset >> 12 & 3 : 0;

    if (place != NULL)
        *place = way == 2 ? *place | value : way == 3 ? *place & ~value : value;
    rp1.wrong |= (rp1.control[17] & 31) == 5 && (rp1.enable >> 17 & 1) != 0 &&
                 (rp1.out >> 17 & 1) == 0;
}

static void test_rp1(void)
{
    uintptr_t base = mmio_add(rp1_model_read, rp1_model_write, RP1_GPIO_BYTES);

    memset(&rp1, 0, sizeof rp1);
    rp1.out = 1 << 3;
    rp1.enable = 1 << 3;
    rp1.control[17] = 0x3001f;
    rp1.control[16] = rp1.control[18] = 0x1f;
    rp1.pad[18] = 0x96; /* of line 17: no output, no input, pulled down */
    rp1_gpio_setup(base, 17, true, true);
    OK(rp1.control[17] == 5 && rp1.out == (1 << 3 | 1 << 17) && rp1.enable == (1 << 3 | 1 << 17) &&
           rp1.pad[18] == 0x56 && !rp1.wrong,
       "RP1: line 17 is RIO's and high from the first moment on, its pull and line 3 stay");
    OK(rp1.control[16] == 0x1f && rp1.control[18] == 0x1f && rp1.pad[17] == 0 && rp1.pad[19] == 0,
       "the lines beside line 17 are not touched");
    rp1_gpio_write(base, 17, false);
    OK(rp1.out == 1 << 3, "the line goes low");
    rp1_gpio_setup(base, 27, false, false);
    rp1.in = 1 << 27;
    OK(rp1.enable == (1 << 3 | 1 << 17) && rp1.pad[28] == 0x40 && rp1_gpio_read(base, 27) &&
           !rp1_gpio_read(base, 26),
       "line 27 is an input, and high");
}

/* ---- PolarFire SoC ---- */

static void test_mss(void)
{
    static uint32_t regs[1024], sysreg[1024];
    uintptr_t base = (uintptr_t)regs;

    sysreg[0x84 / 4] = 1;
    sysreg[0x88 / 4] = 0xffffffff;
    mss_gpio_wake((uintptr_t)sysreg, 2);
    OK(sysreg[0x84 / 4] == (1 | 1 << 22) && sysreg[0x88 / 4] == 0xffbfffff,
       "MSS: GPIO 2 gets its clock and leaves its reset, and others stay");
    regs[16] = 0x28;
    regs[0x88 / 4] = 1;
    mss_gpio_setup(base, 16, true, true);
    OK(regs[16] == (0x28 | 7) && regs[0x88 / 4] == (1 | 1 << 16), "line 16 drives high");
    mss_gpio_write(base, 16, false);
    OK(regs[0x88 / 4] == 1, "line 16 drives low, and line 0 stays");
    mss_gpio_setup(base, 31, false, true);
    regs[0x84 / 4] = 1u << 31;
    OK(regs[31] == 2 && regs[0x88 / 4] == 1 && mss_gpio_read(base, 31) && !mss_gpio_read(base, 30),
       "line 31 is an input, and high");
}

/* ---- JH7110 ---- */

static void test_jh7110(void)
{
    static uint32_t regs[1024];
    uintptr_t base = (uintptr_t)regs;

    for (unsigned i = 0; i < 32; i++)
        regs[i] = 0x81c1a1b1; /* bits outside the masks, and signals of peripherals */
    regs[0x120 / 4 + 55] = 0x10;
    jh7110_gpio_setup(base, 55, true, true);
    OK(regs[13] == 0x80c1a1b1 && regs[16 + 13] == 0x81c1a1b1 && regs[0x120 / 4 + 55] == 0x11,
       "JH7110: line 55 drives high, and the three others of its words stay");
    jh7110_gpio_write(base, 55, false);
    OK(regs[16 + 13] == 0x80c1a1b1, "the line goes low");
    regs[10] = 0x81eca1b1;
    jh7110_gpio_setup(base, 42, false, true);
    regs[0x118 / 4 + 1] = 1 << 10;
    OK(regs[10] == 0x81c1a1b1 && jh7110_gpio_read(base, 42) && !jh7110_gpio_read(base, 10),
       "line 42 is an input, and high: %x", (unsigned)regs[10]);
    OK(regs[0] == 0x81c1a1b1 && regs[15] == 0x81c1a1b1 && regs[16] == 0x81c1a1b1,
       "no other word is written");
}

/* ---- the Pis' ---- */

static void test_pi(void)
{
    static uint32_t regs[64];
    static const unsigned refused[] = { 0, 1, 14, 15, 28, 42, 53, 4000000000u };

    pi_lines_open((uintptr_t)regs);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        OK(pi_lines.error_message(refused[i]) != NULL, "line %u is refused: %s", refused[i],
           pi_lines.error_message(refused[i]));
    OK(pi_lines.error_message(2) == NULL && pi_lines.error_message(13) == NULL &&
           pi_lines.error_message(16) == NULL && pi_lines.error_message(27) == NULL,
       "the rest of the row is free");
    OK(pi_lines_error_message(14) == NULL,
       "lines 14 and 15 of a Pi 5 are free, because its console has its own connector");
    regs[1] = 0x3fffffff;
    pi_lines.setup(17, true, true);
    OK(regs[0x1c / 4] == 1 << 17 && regs[1] == (0x3fffffff & ~(6u << 21)),
       "line 17 is high, and an output, and the nine others of its register stay");
    pi_lines.write(17, false);
    OK(regs[0x28 / 4] == 1 << 17, "the line goes low");
    pi_lines.setup(22, false, false);
    regs[0x34 / 4] = 1 << 22;
    OK((regs[2] & 7u << 6) == 0 && pi_lines.read(22) && !pi_lines.read(23), "line 22 is read");
}

int main(void)
{
    test_pl061();
    test_rp1();
    test_mss();
    test_jh7110();
    test_pi();
    return tap_done();
}
