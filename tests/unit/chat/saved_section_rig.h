/* The tests that every section of a saved file passes, whatever feature it belongs to: a file that
 * contradicts itself is refused and none of it is believed, and a save that loses its power leaves
 * the earlier content or the new. */
#ifndef INGOT_TESTS_UNIT_SAVED_SECTION_RIG_H
#define INGOT_TESTS_UNIT_SAVED_SECTION_RIG_H

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

struct section {
    void (*open)(void); /* begins anew, with nothing learnt and the earlier memory overwritten */
    void (*fill)(void); /* learns what test_section_strange saves */
    uint32_t (*hash)(void); /* of everything that a reply depends on */
    enum err (*save)(void);
    enum err (*load)(void);
    bool (*is_empty)(void);
    unsigned most_sectors; /* power is lost before so many sectors of a save are written */
};

/* A word of the payload that contradicts the rest. */
struct section_fault {
    size_t at;
    uint32_t value;
    const char *what;
};

/* Counts the outcomes of saves that may have lost their power. */
struct section_power {
    unsigned cut, old, new, wrong;
    uint32_t kept; /* the hash of what the card holds */
    bool any;      /* a save has succeeded */
};

static unsigned draws = 1;

static inline unsigned draw(unsigned below)
{
    draws = draws * 1103515245u + 12345u;
    return (draws >> 16) % below;
}

static inline void section_begin(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
}

/* The first half of the card has the section, and the second half is blank. */
static inline void section_put(const struct section *s)
{
    insert_blank_card();
    s->open();
    s->fill();
    if (s->save() != ERR_OK)
        rig_die(saved.error_message);
    memmove(card_data, card_data + FILE_BYTES / 2, FILE_BYTES / 2);
    memset(card_data + FILE_BYTES / 2, 0, FILE_BYTES / 2);
}

/* The CRCs are right, and the data are not. */
static inline void test_section_strange(const struct section *s, const struct section_fault *faults,
                                        size_t n_faults)
{
    const struct saved_chat_header *h = (void *)card_data;

    for (size_t i = 0; i < n_faults; i++) {
        section_put(s);
        change_saved(faults[i].at, faults[i].value, h->version);
        OK(s->load() == ERR_BAD_MODEL &&
               strstr(saved.error_message, "contradicts itself") != NULL &&
               saved.before == SAVED_CHAT_LOST && s->is_empty(),
           "a section with %s is refused: %s", faults[i].what, saved.error_message);
        s->fill();
        OK(!s->is_empty(), "%s: learning goes on after the refusal", faults[i].what);
    }
}

static inline void test_section_of_another(const struct section *s, const char magic[8],
                                           const char *named)
{
    const struct saved_chat_header *h = (void *)card_data;

    section_put(s);
    memcpy(card_data, magic, 8);
    change_saved(0, 0, h->version);
    OK(s->load() == ERR_BAD_MODEL && strstr(saved.error_message, named) != NULL,
       "a file of %.8s is not this section: %s", magic, saved.error_message);
}

/* Save, in half of the calls with power lost at a random sector, and start again. */
static inline void section_save_or_lose(const struct section *s, struct section_power *p)
{
    uint32_t now = s->hash();
    enum err e;

    insert_card(FILE_BYTES);
    if (draw(2) == 0) {
        card.sectors_left = (long)draw(s->most_sectors);
        p->cut++;
    }
    e = s->save();
    insert_card(FILE_BYTES);
    s->open();
    if (e != ERR_OK && !p->any && s->load() == ERR_NOT_FOUND)
        return;
    p->wrong += s->load() != ERR_OK;
    if (s->hash() == now) {
        p->kept = now;
        p->any = true;
        p->new ++;
    } else if (p->any && s->hash() == p->kept && e != ERR_OK) {
        p->old++;
    } else {
        p->wrong++;
    }
}

#endif
