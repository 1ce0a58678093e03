/* Sections are those of the PCI Local Bus Specification 3.0, chapter 6, of the PCI-to-PCI Bridge
 * Architecture Specification 1.2 ("bridge") and of the PCI Express Base Specification 3.0
 * ("Express"); the node is described in the PCI Bus Binding to IEEE 1275. */
#include "board/drivers/bus/pci_ecam.h"

#include "board/facts.h"
#include "board/isa.h"
#include "board/left_out.h"

enum {
    FUNCTION_BYTES = 4096, /* Express 7.2.2 */
    BUS_BYTES = PCI_FUNCTIONS * FUNCTION_BYTES,
    DEVICE_FUNCTIONS = 8,
    REG_ID = 0x00,      /* 6.2.1 */
    REG_COMMAND = 0x04, /* 6.2.2 */
    REG_CLASS = 0x08,   /* 6.2.1, upper half */
    REG_HEADER = 0x0c,  /* 6.2.1, third byte */
    REG_BAR = 0x10,     /* 6.2.5.1 */
    REG_BUSES = 0x18,   /* bridge 3.2.5.2 to 4: primary, secondary, subordinate, latency */
    REG_MEMORY = 0x20,  /* bridge 3.2.5.8: base and limit, in MiB */
    REG_PREFETCH = 0x24,
    REG_CAPABILITIES = 0x34, /* 6.7 */
    CAPABILITY_EXPRESS = 0x10,
    LINK_STATUS = 0x10,
    MOST_CAPABILITIES = 48,
    MOST_TOLD = 16,
    HEADER_MANY = 1 << 23,
    COMMAND_MEMORY = 1 << 1,
    COMMAND_MASTER = 1 << 2,
    BAR_IO = 1 << 0,
    BAR_TYPE = 3 << 1,
    BAR_64 = 2 << 1,
    BAR_FLAGS = 15,
    BARS = 6,
    BRIDGE_BARS = 2,
    CLASS_BRIDGE = 0x0604,
    MOST_DEEP = 8,
    MIB = 1 << 20,
};
static const uint32_t prefetch_closed = 0x0000fff0; /* base > limit: nothing passes */

/* A row of `ranges`: a bus address (three cells), a CPU address (two) and a size (two). */
enum { ROW_BYTES = 28, SPACE_MASK = 3 << 24, SPACE_MEMORY_32 = 2 << 24, SPACE_MEMORY_64 = 3 << 24 };

static volatile uint32_t *config(const struct pci_ecam *pci, unsigned function, unsigned reg)
{
    return (volatile uint32_t *)(pci->config + (uintptr_t)function * FUNCTION_BYTES + reg);
}

static uint64_t cell(const uint8_t *p)
{
    return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
}

/* ---- the node ---- */

static void find_windows(struct pci_ecam *pci, const struct device_tree *tree,
                         const struct device_tree_node *node)
{
    uint32_t bytes;
    const uint8_t *row = device_tree_property(tree, node, "ranges", &bytes);

    for (; row != NULL && bytes >= ROW_BYTES; row += ROW_BYTES, bytes -= ROW_BYTES) {
        uint64_t bus = cell(row + 4) << 32 | cell(row + 8);
        uint64_t at = cell(row + 12) << 32 | cell(row + 16);
        uint64_t end = at + (cell(row + 20) << 32 | cell(row + 24));
        struct pci_window window = { at, end, bus - at };

        /* Only the first window of each kind is used; more would not help. */
        if ((cell(row) & SPACE_MASK) == SPACE_MEMORY_32 && pci->low.end == 0)
            pci->low = window;
        if ((cell(row) & SPACE_MASK) == SPACE_MEMORY_64 && pci->high.end == 0)
            pci->high = window;
    }
}

static void find_buses(struct pci_ecam *pci, const struct device_tree *tree,
                       const struct device_tree_node *node, uint64_t window_bytes)
{
    uint32_t bytes;
    const uint8_t *range = device_tree_property(tree, node, "bus-range", &bytes);
    uint64_t most = window_bytes / BUS_BYTES;

    if (most > PCI_FUNCTIONS)
        most = PCI_FUNCTIONS;
    /* A range that does not fit the window is ignored. */
    if (range != NULL && bytes == 8 && cell(range) <= cell(range + 4) && cell(range + 4) < most) {
        pci->first_bus = (unsigned)cell(range);
        most = cell(range + 4) - cell(range) + 1;
    }
    pci->most_buses = (unsigned)most;
}

/* ---- BARs ---- */

/* A BAR's size follows from the bits that it keeps when ones are written (6.2.5.1). 0: no BAR, or 4
 * GiB and more. */
static uint32_t bar_size(volatile uint32_t *bar)
{
    uint32_t before = *bar, kept;

    *bar = 0xffffffff;
    kept = *bar & ~(uint32_t)BAR_FLAGS;
    *bar = before;
    return (uint32_t)(~kept + 1);
}

/* Take an address that is a multiple of the size. Returns 0 if there is no room. */
static uint64_t take_room(struct pci_window *w, uint64_t size)
{
    uint64_t at = (w->next + size - 1) & ~(size - 1);

    if (at > w->end || size > w->end - at)
        return 0;
    w->next = at + size;
    return at + w->to_bus;
}

static void assign_bar(struct pci_ecam *pci, unsigned function, unsigned reg)
{
    volatile uint32_t *bar = config(pci, function, reg);
    bool wide = (*bar & BAR_TYPE) == BAR_64;
    uint32_t size = bar_size(bar);
    uint64_t at = 0;

    if (size == 0 || (*bar & ~(uint32_t)BAR_FLAGS) != 0 ||
        (wide && *config(pci, function, reg + 4) != 0)) /* the firmware has set it */
        return;
    /* Try low addresses first, because a bridge's window holds no others. */
    at = take_room(&pci->low, size);
    if (at == 0 && wide && function < PCI_FUNCTIONS) /* no bridge forwards high addresses */
        at = take_room(&pci->high, size);
    *bar = (uint32_t)at;
    if (wide)
        *config(pci, function, reg + 4) = (uint32_t)(at >> 32);
}

static void assign_bars(struct pci_ecam *pci, unsigned function, unsigned n)
{
    /* Decoding is off while the size is read (6.2.5.1); otherwise all ones would be an address for
     * a moment. */
    *config(pci, function, REG_COMMAND) &= ~(uint32_t)COMMAND_MEMORY;
    for (unsigned i = 0; i < n; i++) {
        uint32_t bar = *config(pci, function, REG_BAR + 4 * i);

        if (bar & BAR_IO)
            continue;
        assign_bar(pci, function, REG_BAR + 4 * i);
        if ((bar & BAR_TYPE) == BAR_64)
            i++; /* its upper half */
    }
}

/* ---- bridges ---- */

/* The path from the root to the current bus: its bridges, and where the search continues. */
struct path {
    struct level {
        unsigned bridge; /* unused on the root level */
        unsigned next;   /* next function to look at on this level's bus */
        unsigned end;
        uint64_t window; /* where the bridge's window begins */
        bool ours;       /* the bridge is new: firmware has not set it up */
    } levels[MOST_DEEP + 1];
    unsigned depth;
};

static bool align_low(struct pci_ecam *pci)
{
    pci->low.next = (pci->low.next + MIB - 1) & ~(uint64_t)(MIB - 1);
    return pci->low.next <= pci->low.end;
}

/* Configuration cycles reach the buses from secondary to subordinate (bridge 3.2.5.3); subordinate
 * stays at its maximum until all buses below are numbered. */
static void enter_bridge(struct pci_ecam *pci, struct path *path, unsigned function)
{
    uint32_t buses = *config(pci, function, REG_BUSES);
    unsigned bus = (buses >> 8 & 0xff) - pci->first_bus,
             last = pci->first_bus + pci->most_buses - 1;
    bool ours = (buses >> 8 & 0xff) == 0;
    struct level *level;

    if (ours) {
        bus = pci->n_buses;
        assign_bars(pci, function, BRIDGE_BARS);
    }
    /* If a bus number, address space or a mapping is missing, the devices below the bridge are not
     * found, and the bridge is reported. */
    if (path->depth == MOST_DEEP || bus == 0 || bus >= pci->most_buses || !align_low(pci) ||
        mmu_map(pci->config + (uintptr_t)bus * BUS_BYTES, BUS_BYTES, MAP_DEVICE) != ERR_OK) {
        left_out_note(LEFT_OUT_BRIDGES, 1, 0);
        return;
    }
    if (ours)
        *config(pci, function, REG_BUSES) = (buses & 0xff000000) | last << 16 |
                                            (bus + pci->first_bus) << 8 |
                                            (function / PCI_FUNCTIONS + pci->first_bus);
    if (pci->n_buses <= bus)
        pci->n_buses = bus + 1;
    level = &path->levels[++path->depth];
    *level = (struct level){ function, bus * PCI_FUNCTIONS, (bus + 1) * PCI_FUNCTIONS,
                             pci->low.next, ours };
}

/* Set the bridge's window to the addresses assigned below the bridge; base above limit closes the
 * window (bridge 3.2.5.8). */
static void leave_bridge(struct pci_ecam *pci, struct path *path)
{
    const struct level *level = &path->levels[path->depth--];
    uint32_t base = (uint32_t)(level->window + pci->low.to_bus), limit;

    if (!level->ours)
        return;
    /* The window ends at a whole MiB, because its register has no finer bits. */
    (void)align_low(pci);
    limit = (uint32_t)(pci->low.next + pci->low.to_bus) - 1;
    *config(pci, level->bridge, REG_BUSES) = (*config(pci, level->bridge, REG_BUSES) & 0xff00ffff) |
                                             (pci->first_bus + pci->n_buses - 1) << 16;
    *config(pci, level->bridge, REG_MEMORY) = (limit & 0xfff00000) | (base >> 16 & 0xfff0);
    *config(pci, level->bridge, REG_PREFETCH) = prefetch_closed;
    *config(pci, level->bridge, REG_COMMAND) |= COMMAND_MEMORY | COMMAND_MASTER;
}

/* Absent functions read as ones; a device without HEADER_MANY has only its first function (Express
 * 7.5.1). */
static bool is_there(const struct pci_ecam *pci, unsigned function)
{
    unsigned first = function & ~(DEVICE_FUNCTIONS - 1u);

    return (!pci->is_port || function % PCI_FUNCTIONS < DEVICE_FUNCTIONS) &&
           *config(pci, function, REG_ID) != 0xffffffff &&
           (function == first || (*config(pci, first, REG_HEADER) & HEADER_MANY));
}

static unsigned class_of(const struct pci_ecam *pci, unsigned function)
{
    return *config(pci, function, REG_CLASS) >> 16;
}

/* Search depth first, so that the buses below a bridge are contiguous, and their addresses too. */
static void enumerate(struct pci_ecam *pci)
{
    struct path path = { .levels = { { .end = PCI_FUNCTIONS } } };

    pci->n_buses = 1;
    for (;;) {
        struct level *level = &path.levels[path.depth];
        unsigned function = level->next++;

        if (function == level->end) {
            if (path.depth == 0)
                return;
            leave_bridge(pci, &path);
        } else if (is_there(pci, function)) {
            if (class_of(pci, function) == CLASS_BRIDGE)
                enter_bridge(pci, &path, function);
            else
                assign_bars(pci, function, BARS);
        }
    }
}

/* ---- what drivers call ---- */

enum err pci_ecam_open(struct pci_ecam *pci)
{
    enum err e = mmu_map(pci->config, BUS_BYTES, MAP_DEVICE);

    if (e == ERR_OK)
        enumerate(pci);
    return e;
}

enum err pci_ecam_find(struct pci_ecam *pci, const struct device_tree *tree)
{
    struct device_tree_node node;
    uint64_t base, bytes;

    *pci = (struct pci_ecam){ 0 };
    device_tree_begin(&node);
    if (!device_tree_next_compatible(tree, &node, "pci-host-ecam-generic") ||
        !device_tree_reg(tree, &node, 0, &base, &bytes) || bytes < BUS_BYTES)
        return ERR_NO_DEVICE;
    find_windows(pci, tree, &node);
    find_buses(pci, tree, &node, bytes);
    if (pci->low.end == 0)
        return ERR_NO_DEVICE;
    pci->config = (uintptr_t)base;
    return pci_ecam_open(pci);
}

bool pci_ecam_next(const struct pci_ecam *pci, unsigned *function, unsigned class)
{
    for (; *function < pci->n_buses * PCI_FUNCTIONS; ++*function) {
        if (is_there(pci, *function) && class_of(pci, *function) == class)
            return true;
    }
    return false;
}

unsigned pci_ecam_interface(const struct pci_ecam *pci, unsigned function)
{
    return *config(pci, function, REG_CLASS) >> 8 & 0xff;
}

uintptr_t pci_ecam_enable(struct pci_ecam *pci, unsigned function)
{
    volatile uint32_t *bar = config(pci, function, REG_BAR);
    uint32_t size;
    uint64_t at;

    *config(pci, function, REG_COMMAND) &= ~(uint32_t)COMMAND_MEMORY;
    size = bar_size(bar);
    at = *bar & ~(uint32_t)BAR_FLAGS;
    if ((*bar & BAR_TYPE) == BAR_64)
        at |= (uint64_t)*config(pci, function, REG_BAR + 4) << 32;
    if ((*bar & BAR_IO) || size == 0 || at == 0)
        return 0;
    /* Convert the bus's address to the cores' address. */
    at = at >> 32 != 0 ? at - pci->high.to_bus : at - pci->low.to_bus;
    if (mmu_map((uintptr_t)at, size, MAP_DEVICE) != ERR_OK)
        return 0;
    /* Do this last: from now on the device answers, and may access memory. */
    *config(pci, function, REG_COMMAND) |= COMMAND_MEMORY | COMMAND_MASTER;
    return (uintptr_t)at;
}

/* The link status, in the upper half of word 0x10 of the Express capability (6.7; Express 7.8).
 * Returns 0 if there is no link. */
static uint32_t link_status(const struct pci_ecam *pci, unsigned function)
{
    unsigned at = *config(pci, function, REG_CAPABILITIES) & 0xfc;

    for (unsigned i = 0; at >= 0x40 && i < MOST_CAPABILITIES; i++) {
        uint32_t head = *config(pci, function, at);

        if ((head & 0xff) == CAPABILITY_EXPRESS)
            return *config(pci, function, at + LINK_STATUS) >> 16;
        at = head >> 8 & 0xfc;
    }
    return 0;
}

/* Reports each function's place (bus, device, function), its ids of device and vendor, its class
 * and its link: the generation in the lowest four bits, and the number of lanes above them. */
void pci_ecam_facts(const void *of, const struct facts *f)
{
    const struct pci_ecam *pci = of;
    unsigned n = 0;

    fact_number(f, "pcie buses", FACT_COUNT, pci->n_buses);
    for (unsigned function = 0; function < pci->n_buses * PCI_FUNCTIONS && n < MOST_TOLD;
         function++) {
        if (!is_there(pci, function))
            continue;
        const uint32_t words[4] = { function, *config(pci, function, REG_ID),
                                    *config(pci, function, REG_CLASS), link_status(pci, function) };

        fact_words(f, "pcie function", words, 4);
        n++;
    }
}

/* ---- a function is plugged in again ---- */

static volatile uint32_t *kept_register(const struct pci_kept *kept, unsigned reg)
{
    return (volatile uint32_t *)(kept->config + reg);
}

void pci_ecam_keep(const struct pci_ecam *pci, unsigned function, struct pci_kept *out)
{
    out->config = (uintptr_t)config(pci, function, 0);
    out->id = *kept_register(out, REG_ID);
    out->bar[0] = *kept_register(out, REG_BAR);
    out->bar[1] = *kept_register(out, REG_BAR + 4);
}

bool pci_ecam_put_back(const struct pci_kept *kept)
{
    /* All ones, or another device: the device that was here is gone. */
    if (*kept_register(kept, REG_ID) != kept->id)
        return false;
    *kept_register(kept, REG_BAR) = kept->bar[0];
    if ((kept->bar[0] & BAR_TYPE) == BAR_64)
        *kept_register(kept, REG_BAR + 4) = kept->bar[1];
    *kept_register(kept, REG_COMMAND) |= COMMAND_MEMORY | COMMAND_MASTER;
    return true;
}
