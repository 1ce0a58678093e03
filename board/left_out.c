#include "board/left_out.h"

#include "board/interrupt.h"
#include "board/machine.h"

static const struct {
    const char *one, *several; /* what follows a number */
    uint32_t most;             /* the limit to report; 0: none */
} kinds[LEFT_OUT_COUNT] = {
    [LEFT_OUT_CORES] = { "core", "cores", BOARD_MAX_CORES },
    [LEFT_OUT_RAM] = { "range of RAM", "ranges of RAM", BOARD_MAX_RAM },
    [LEFT_OUT_FIRMWARE_RAM] = { "smaller range of RAM", "smaller ranges of RAM", 0 },
    [LEFT_OUT_CUT_RAM] = { "range of RAM between reserved ones",
                           "ranges of RAM between reserved ones", 0 },
    [LEFT_OUT_TREE] = { "device tree, too large or too deep", "device trees, too large or too deep",
                        0 },
    [LEFT_OUT_DEVICES] = { "drive or card", "drives and cards", BOARD_MAX_BLOCK },
    [LEFT_OUT_INTERRUPTS] = { "interrupt line, whose device is polled",
                              "interrupt lines, whose devices are polled", IRQ_MAX_TAKEN },
    [LEFT_OUT_CONTROLLERS] = { "USB controller", "USB controllers", 0 },
    [LEFT_OUT_BRIDGES] = { "PCI bridge, with what is behind it",
                           "PCI bridges, with what is behind them", 0 },
    [LEFT_OUT_NAMESPACES] = { "namespace of an NVMe drive (the first is used)",
                              "namespaces of an NVMe drive (the first is used)", 0 },
    [LEFT_OUT_REGIONS] = { "region of the interrupt controller, so that cores wait without interrupts",
                           "regions of the interrupt controller, so that cores wait without "
                           "interrupts",
                           0 },
    [LEFT_OUT_TWINS] = { "range of RAM that is a copy of another range",
                         "ranges of RAM that are copies of other ranges", 0 },
};

static struct left_out_state {
    uint32_t n[LEFT_OUT_COUNT], told[LEFT_OUT_COUNT];
    uint64_t bytes[LEFT_OUT_COUNT];
} state;

void left_out_note(enum left_out kind, uint32_t n, uint64_t bytes)
{
    state.n[kind] += n;
    state.bytes[kind] += bytes;
}

uint32_t left_out_number(enum left_out kind)
{
    return state.n[kind];
}

const char *left_out_name(enum left_out kind)
{
    return kinds[kind].several;
}

struct line {
    char *at, *end; /* one byte after `end` is left for the NUL */
};

static void put(struct line *l, const char *text)
{
    while (*text != '\0' && l->at < l->end)
        *l->at++ = *text++;
}

static void put_number(struct line *l, uint64_t value)
{
    char digits[21], *at = digits + sizeof digits - 1;

    *at = '\0';
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    put(l, at);
}

static void put_kind(struct line *l, unsigned kind)
{
    uint32_t n = state.n[kind] - state.told[kind];

    put_number(l, n);
    put(l, " ");
    put(l, n == 1 ? kinds[kind].one : kinds[kind].several);
    if (kinds[kind].most != 0) {
        put(l, " (");
        put_number(l, kinds[kind].most);
        put(l, " is the most)");
    }
    if (state.bytes[kind] != 0) {
        put(l, " of ");
        put_number(l, state.bytes[kind]);
        put(l, " bytes");
    }
}

void left_out_tell(char *text, size_t bytes)
{
    struct line l = { text, text + bytes - 1 };

    for (unsigned i = 0; i < LEFT_OUT_COUNT; i++) {
        if (state.n[i] == state.told[i])
            continue;
        if (l.at != text)
            put(&l, ", ");
        put_kind(&l, i);
        state.told[i] = state.n[i];
        state.bytes[i] = 0;
    }
    *l.at = '\0';
}
