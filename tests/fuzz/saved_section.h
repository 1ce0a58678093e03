/* The common part of the fuzzers of saved sections: a card with a good file, and the damage that the input
 * does to it. */
#ifndef INGOT_TESTS_FUZZ_SAVED_SECTION_H
#define INGOT_TESTS_FUZZ_SAVED_SECTION_H

#include "tests/unit/chat/chat_rig.h"
#include "tests/unit/chat/saved_chat_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t good[FILE_BYTES];

static inline void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static inline void section_begin(void)
{
    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(test_template);
}

/* Keeps the card as the good one. saved_status: what the save onto a blank card returned. */
static inline void section_keep(enum err saved_status)
{
    must(saved_status == ERR_OK);
    memcpy(good, card_data, sizeof good);
}

/* Puts the good card back, and returns its half with the file. */
static inline struct saved_chat_header *section_restore(void)
{
    memcpy(card_data, good, sizeof good);
    return saved_written();
}

/* Adds (xor) n bytes to the half from `at` on, but none beyond `end`, and makes the CRCs right if
 * crcs is true. */
static inline void section_damage(struct saved_chat_header *h, size_t at, size_t end,
                                  const uint8_t *bytes, size_t n, bool crcs)
{
    for (size_t i = 0; i < n && at + i < end; i++) {
        ((uint8_t *)h)[at + i] ^= bytes[i];
    }
    if (crcs) {
        saved_set_crcs(h);
    }
}

#endif
