#include "board/drivers/bus/jh7110_pcie.h"

#include "board/facts.h"

enum { PORTS = 2, CLOCKS = 3, RESETS = 6 };
enum {
    FIRST_CLOCK = 8, /* of port 0: AXI_MST0, APB, TL; those of port 1 follow */
    FIRST_RESET = 11,
    RESET_STATUS = 0x78, /* 1: the reset is off */
    PORT_AT = 0x48,      /* STG_SYSCON_PCIE0_BASE; port 1's base follows port 0's */
    PORT_BYTES = 0x1f8 - 0x48,
    LINK = 0x170,
    LINK_ACTIVE = 1 << 5,
};
#define CLOCK_ON (1u << 31)

static uint32_t word(uintptr_t block, unsigned at)
{
    return *(const volatile uint32_t *)(block + at);
}

bool jh7110_pcie_is_up(const struct jh7110_stg *stg, unsigned port)
{
    uint32_t off = ((1u << RESETS) - 1) << (FIRST_RESET + RESETS * port);

    for (unsigned i = 0; i < CLOCKS; i++)
        if ((word(stg->crg, 4 * (FIRST_CLOCK + CLOCKS * port + i)) & CLOCK_ON) == 0)
            return false;
    return port < PORTS && (word(stg->crg, RESET_STATUS) & off) == off &&
           (word(stg->syscon, PORT_AT + PORT_BYTES * port + LINK) & LINK_ACTIVE) != 0;
}

void jh7110_pcie_facts(const void *of, const struct facts *f)
{
    const struct jh7110_stg *stg = of;

    for (unsigned port = 0; port < PORTS; port++) {
        uint32_t words[CLOCKS + 2];

        for (unsigned i = 0; i < CLOCKS; i++)
            words[i] = word(stg->crg, 4 * (FIRST_CLOCK + CLOCKS * port + i));
        words[CLOCKS] = word(stg->crg, RESET_STATUS);
        words[CLOCKS + 1] = word(stg->syscon, PORT_AT + PORT_BYTES * port + LINK);
        fact_words(f, port == 0 ? "pcie port 0" : "pcie port 1", words, CLOCKS + 2);
        fact_text(f, "pcie link", jh7110_pcie_is_up(stg, port) ? "up" : "down");
    }
}
