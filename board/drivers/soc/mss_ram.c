/* In Libero's designs since 2022.10, addresses from 0x1000000000 on show the RAM at 0x80000000 a
 * second time (SEG0_1), and trees name RAM from 0x1040000000 on. In older designs 0x1000000000 was
 * other RAM (see both versions of Microchip's mpfs-icicle-kit.dts). With the wrong version of the
 * tree the arena would overlap the image. Two views of the same byte have the same offset in
 * their GiB. */
#include "board/drivers/soc/mss_ram.h"

#include "board/drivers/dma/dma.h"
#include "board/isa.h"
#include "board/left_out.h"
#include "board/min_max.h"

enum { CACHE_BYTES = 0x1000, FLUSH_64 = 0x200 }; /* FU540-C000 manual, L2 Cache Controller */
#define GIB ((uint64_t)1 << 30)
#define LOW ((uint64_t)0x80000000)
#define FIRST ((uint64_t)0x5a17e7a00817f1a5)

/* Flush a line from all caches to memory, where both views of it meet. */
static void flush(uintptr_t cache, uint64_t address)
{
    dma_barrier();
    *(volatile uint64_t *)(cache + FLUSH_64) = address;
    dma_barrier();
}

static bool is_twin(uintptr_t cache, uint64_t low, uint64_t high)
{
    volatile uint64_t *at_low = (volatile uint64_t *)(uintptr_t)low;
    volatile uint64_t *at_high = (volatile uint64_t *)(uintptr_t)high;

    *at_low = FIRST;
    flush(cache, low);
    *at_high = ~FIRST;
    flush(cache, high);
    return *at_low != FIRST;
}

static uint64_t end_of(const struct memory_range *r)
{
    return (uintptr_t)r->base + r->bytes;
}

/* Find the first address of `high` (*at) that could be the same RAM as an address of `low`
 * (*partner). */
static bool find_pair(const struct memory_range *low, const struct memory_range *high, uint64_t *at,
                      uint64_t *partner)
{
    uint64_t from = (uintptr_t)high->base;

    *partner = max_u64((uintptr_t)low->base, LOW + from % GIB);
    *at = from / GIB * GIB + *partner % GIB;
    if (*partner >= end_of(low)) { /* the next GiB of `high` starts before `low` does */
        *partner = (uintptr_t)low->base;
        *at = (from / GIB + 1) * GIB + *partner % GIB;
    }
    return *at < end_of(high);
}

static bool has_twin(uintptr_t cache, const struct machine *m, const struct memory_range *high)
{
    uint64_t at, partner;

    for (unsigned i = 0; i < m->n_ram; i++) {
        const struct memory_range *low = &m->ram[i];

        if ((uintptr_t)low->base / GIB == LOW / GIB && find_pair(low, high, &at, &partner))
            return is_twin(cache, partner, at);
    }
    return false;
}

static uintptr_t find_cache(const struct device_tree *tree)
{
    static const char *const names[] = { "microchip,mpfs-ccache", "sifive,fu540-c000-ccache" };
    struct device_tree_node node;
    uint64_t base;

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        device_tree_begin(&node);
        if (device_tree_next_compatible(tree, &node, names[i]) &&
            device_tree_reg(tree, &node, 0, &base, NULL) &&
            mmu_map((uintptr_t)base, CACHE_BYTES, MAP_DEVICE) == ERR_OK)
            return (uintptr_t)base;
    }
    return 0;
}

void mss_ram_leave_twins_out(const struct device_tree *tree, struct machine *m)
{
    uintptr_t cache = find_cache(tree);
    unsigned n = 0;

    if (cache == 0)
        return;
    for (unsigned i = 0; i < m->n_ram; i++) {
        struct memory_range range = m->ram[i];

        if ((uintptr_t)range.base > UINT32_MAX && has_twin(cache, m, &range)) {
            left_out_note(LEFT_OUT_TWINS, 1, range.bytes);
            m->ram_bytes -= range.bytes;
        } else {
            m->ram[n++] = range;
        }
    }
    m->n_ram = n;
}
