/* The PLIC as its specification describes it, after firmware that left sources on and one
 * claimed. */
#include "tests/unit/tap.h"

#include "board/drivers/irq/irq_table.c"
#include "board/drivers/irq/plic.h"
#include "tests/unit/board/fakes/fake_core.h"
#include "tests/unit/board/fakes/tree_writer.h"

enum { SOURCES = 64, CONTEXT = 1, ENABLES = 0x2000 + 0x80 * CONTEXT, BYTES = 0x400000 };
enum { THRESHOLD = 0x200000 + 0x1000 * CONTEXT, CLAIM = THRESHOLD + 4, UART = 10, LEFT_ON = 33 };

static struct fake_plic {
    uint32_t priority[SOURCES], enabled[SOURCES / 32];
    bool wire[SOURCES], claimed[SOURCES]; /* claimed: it comes again only after it is completed */
    uint32_t threshold;
} p;

static bool is_enabled(uint32_t source)
{
    return (p.enabled[source / 32] >> source % 32 & 1) != 0;
}

static uint32_t first(void)
{
    for (uint32_t i = 1; i < SOURCES; i++)
        if (p.wire[i] && !p.claimed[i] && is_enabled(i) && p.priority[i] > p.threshold)
            return i;
    return 0;
}

static bool pending(void)
{
    return first() != 0;
}

static uint32_t read_plic(unsigned offset, bool look)
{
    uint32_t source;

    if (offset < 4 * SOURCES)
        return p.priority[offset / 4];
    if (offset >= ENABLES && offset < ENABLES + SOURCES / 8)
        return p.enabled[(offset - ENABLES) / 4];
    if (offset != CLAIM || look)
        return 0;
    source = first();
    p.claimed[source] = source != 0;
    return source;
}

/* Completions of a source that is not enabled are ignored (chapter 9). */
static void write_plic(unsigned offset, uint32_t value)
{
    if (offset < 4 * SOURCES)
        p.priority[offset / 4] = value;
    else if (offset >= ENABLES && offset < ENABLES + SOURCES / 8)
        p.enabled[(offset - ENABLES) / 4] = value;
    else if (offset == THRESHOLD)
        p.threshold = value;
    else if (offset == CLAIM && value < SOURCES && is_enabled(value))
        p.claimed[value] = false;
}

static void make_tree(struct writer *w, uint64_t base)
{
    begin(w, "");
    CELLS(w, "#address-cells", 2);
    CELLS(w, "#size-cells", 2);
    begin(w, "cpus");
    CELLS(w, "#address-cells", 1);
    CELLS(w, "#size-cells", 0);
    begin(w, "cpu@0");
    text(w, "device_type", "cpu");
    CELLS(w, "reg", 0);
    begin(w, "interrupt-controller");
    text(w, "compatible", "riscv,cpu-intc");
    CELLS(w, "phandle", 7);
    end(w);
    end(w);
    end(w);
    begin(w, "plic");
    text(w, "compatible", "sifive,plic-1.0.0");
    CELLS(w, "reg", (uint32_t)(base >> 32), (uint32_t)base, 0, BYTES);
    CELLS(w, "interrupts-extended", 7, 11, 7, 9);
    end(w);
    end(w);
    finish(w, 0);
}

static unsigned uart_served;

static bool serve_uart(void *context)
{
    (void)context;
    uart_served++;
    p.wire[UART] = false;
    return true;
}

static void test_left_on(const struct device_tree *tree)
{
    uint32_t line;

    core.pending = pending;
    fake_mmio.settle = core_settle;
    p.enabled[LEFT_ON / 32] = 1u << LEFT_ON % 32;
    p.enabled[0] = 1u << UART;
    p.priority[LEFT_ON] = 7;
    p.wire[LEFT_ON] = true;
    p.claimed[UART] = true;
    p.threshold = 7;
    OK(plic_init(tree) == ERR_OK && irq_take(UART, serve_uart, NULL) == ERR_OK && !core.endless &&
           core.taken == 0 && irq_strays(&line) == 0,
       "interrupts that firmware left on do not arrive");
    p.wire[UART] = true;
    core_settle();
    OK(uart_served == 1, "a source that firmware claimed and never completed interrupts");
}

static void test_strays(void)
{
    uint32_t line = 0;

    p.enabled[LEFT_ON / 32] = 1u << LEFT_ON % 32;
    p.wire[UART] = true;
    core_settle();
    OK(!core.endless && uart_served == 2 && irq_strays(&line) == 1 && line == LEFT_ON &&
           !is_enabled(LEFT_ON),
       "a source that nobody took is disabled, and counted (%u interrupts)", core.taken);
    OK(!p.claimed[LEFT_ON] && !p.claimed[UART],
       "a disabled source is completed, so that it can be taken later");
}

int main(void)
{
    static struct writer w;
    struct device_tree tree;

    make_tree(&w, mmio_add(read_plic, write_plic, BYTES));
    if (!OK(device_tree_open(&tree, w.blob, w.n_blob) == ERR_OK, "a tree with a PLIC opens"))
        return tap_done();
    test_left_on(&tree);
    test_strays();
    return tap_done();
}
