#include "board/drivers/sd/sd_card.h"
#include "board/facts.h"

/* Report a register of 128 bits as the specifications write it: bit 127 first. */
static void tell_register(const struct facts *f, const char *name, const uint32_t reg[4])
{
    const uint32_t words[4] = { reg[3], reg[2], reg[1], reg[0] };

    fact_words(f, name, words, 4);
}

/* Report the bus modes: those with errors, and the current one. */
static void tell_steps(const struct facts *f, const struct sd_card *card)
{
    static const char *const names[] = { [SD_RUNG_SDR104] = "SDR104 failed",
                                         [SD_RUNG_DDR50] = "DDR50 failed",
                                         [SD_RUNG_SDR50] = "SDR50 failed",
                                         [SD_RUNG_HIGH] = "high speed failed" };

    for (unsigned i = 0; i < (unsigned)card->best && i < SD_RUNG_DEFAULT; i++)
        fact_text(f, "card speed step", names[i]);
    fact_number(f, "card speed step in use", FACT_COUNT, (uint64_t)card->rung);
}

void sd_card_facts(const void *of, const struct facts *f)
{
    const struct sd_card *card = of;

    fact_words(f, "controller capabilities", card->host->capabilities, 2);
    if (card->facts.n_sectors == 0)
        return; /* no card that works */
    fact_text(f, "card kind", card->facts.is_emmc ? "eMMC" : "SD");
    tell_register(f, "card cid", card->facts.cid);
    tell_register(f, "card csd", card->facts.csd);
    if (!card->facts.is_emmc)
        fact_words(f, "card scr", card->facts.scr, 2);
    fact_number(f, "card bytes", FACT_BYTES, card->facts.n_sectors * 512);
    fact_number(f, "card clock", FACT_HZ, card->hz);
    fact_number(f, "card lines", FACT_COUNT, card->bits);
    fact_number(f, "card timing", FACT_COUNT, card->timing);
    tell_steps(f, card);
    fact_number(f, "card errors", FACT_COUNT, card->n_errors);
    fact_number(f, "card tunings after the first", FACT_COUNT, card->n_retunes);
}
