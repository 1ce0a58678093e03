/* The run that all others of a test must equal: some tokens with everything in memory. */
#ifndef INGOT_TESTS_UNIT_RIG_EXPECTED_H
#define INGOT_TESTS_UNIT_RIG_EXPECTED_H

#include "tests/unit/rig.h"

enum { N_TOKENS = 6, MOST_VOCAB = 2048 };

static float expected[N_TOKENS][MOST_VOCAB]; /* logits after each token, undisturbed */
static uint32_t ids[N_TOKENS];

/* Whether token i, in order, has the expected logits. */
static bool append(uint32_t i)
{
    return rig_append(&ids[i], 1, NULL) == ERR_OK &&
           memcmp(rig.session.logits, expected[i], rig_logits_bytes()) == 0;
}

static void set_expected(void)
{
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, N_TOKENS);
    for (uint32_t i = 0; i < N_TOKENS; i++) {
        if (rig_append(&ids[i], 1, NULL) != ERR_OK)
            rig_die(rig.model.error_message);
        memcpy(expected[i], rig.session.logits, rig_logits_bytes());
    }
}

#endif
