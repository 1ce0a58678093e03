/* Reports facts of a Raspberry Pi from its firmware, device tree and registers, for the option
 * `diag`. */
#include "board/drivers/soc/raspberry_pi.h"

#include "board/drivers/soc/bcm_watchdog.h"
#include "board/facts.h"
#include "board/isa.h"

enum { MOST_CELLS = 16 };

static const struct {
    const char *name;
    enum bcm_clock clock;
} clocks[] = {
    { "clock of the cores", BCM_CLOCK_ARM }, { "clock of the core bus", BCM_CLOCK_CORE },
    { "clock of the uart", BCM_CLOCK_UART }, { "clock of emmc", BCM_CLOCK_EMMC },
    { "clock of emmc2", BCM_CLOCK_EMMC2 },
};

static void tell_word(struct bcm_mailbox *m, const struct facts *f, const char *name,
                      enum bcm_tag tag, enum fact_kind kind)
{
    uint32_t value = 0;

    if (bcm_mailbox_ask(m, tag, &value, 1) == ERR_OK)
        fact_number(f, name, kind, value);
}

/* Report a range of memory: its base and its bytes. */
static void tell_range(struct bcm_mailbox *m, const struct facts *f, const char *name,
                       enum bcm_tag tag)
{
    uint32_t values[2] = { 0, 0 };

    if (bcm_mailbox_ask(m, tag, values, 2) == ERR_OK)
        fact_words(f, name, values, 2);
}

static void tell_clocks(struct bcm_mailbox *m, const struct facts *f)
{
    for (unsigned i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
        fact_number(f, clocks[i].name, FACT_HZ,
                    bcm_mailbox_clock(m, BCM_GET_CLOCK, clocks[i].clock));
    fact_number(f, "highest clock of the cores", FACT_HZ,
                bcm_mailbox_clock(m, BCM_GET_MAX_CLOCK, BCM_CLOCK_ARM));
}

/* Report how the devices' buses see RAM, which differs between steppings. */
static void tell_windows(const struct device_tree *tree, const struct facts *f)
{
    static const char *const buses[] = { "/soc", "/emmc2bus", "/scb", "/axi", "/soc@107c000000" };
    uint32_t cells[MOST_CELLS], bytes = 0;
    struct device_tree_node node;
    const uint8_t *ranges;

    for (unsigned i = 0; tree->blob != NULL && i < sizeof buses / sizeof buses[0]; i++) {
        if (!device_tree_find(tree, &node, buses[i]))
            continue;
        ranges = device_tree_property(tree, &node, "dma-ranges", &bytes);
        if (ranges == NULL)
            continue;
        /* Cells are big-endian. */
        for (unsigned at = 0; at < bytes && at < sizeof cells; at++)
            cells[at / 4] = cells[at / 4] << 8 | ranges[at];
        fact_text(f, "bus", buses[i]);
        fact_words(f, "dma-ranges", cells, bytes < sizeof cells ? bytes / 4 : MOST_CELLS);
    }
}

static void tell_tree(const struct device_tree *tree, const struct facts *f)
{
    struct device_tree_node node;
    const char *model;

    if (tree->blob == NULL) {
        fact_text(f, "device tree", "none");
        return;
    }
    device_tree_begin(&node);
    model = device_tree_find(tree, &node, "/") ? device_tree_string(tree, &node, "model") : NULL;
    fact_text(f, "device tree", model != NULL ? model : "without a model");
    tell_windows(tree, f);
}

static void tell_chip(const struct raspberry_pi_places *places, const struct facts *f)
{
    if (places->chip_id == 0 || mmu_map(places->chip_id, sizeof(uint32_t), MAP_DEVICE) != ERR_OK)
        return;
    fact_number(f, "chip id", FACT_HEX, *(const volatile uint32_t *)places->chip_id);
}

void raspberry_pi_tell(struct raspberry_pi *pi, const struct facts *f)
{
    struct bcm_mailbox *m = &pi->mailbox;

    fact_number(f, "board revision", FACT_HEX, pi->revision);
    fact_number(f, "board model", FACT_HEX, raspberry_pi_model(pi));
    tell_chip(pi->places, f);
    fact_text(f, "emulated", pi->emulated ? "yes" : "no");
    tell_word(m, f, "firmware, seconds since 1970", BCM_GET_FIRMWARE, FACT_COUNT);
    tell_range(m, f, "memory of the cores", BCM_GET_ARM_MEMORY);
    tell_range(m, f, "memory of the videocore", BCM_GET_VC_MEMORY);
    tell_clocks(m, f);
    tell_word(m, f, "throttled", BCM_GET_THROTTLED, FACT_HEX);
    fact_number(f, "reset status at the start", FACT_HEX, pi->reset_status);
    fact_number(f, "reset status", FACT_HEX, bcm_watchdog_status(pi->places->watchdog));
    pl011_facts(&pi->uart, pi->uart_hz, f);
    if (pi->led != RASPBERRY_PI_NO_LED)
        fact_number(f, "led", FACT_COUNT, (uint64_t)pi->led);
    tell_tree(&pi->tree, f);
}
