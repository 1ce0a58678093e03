/* A draft for the rig's model: another form of it, in memory. */
#ifndef INGOT_TESTS_UNIT_DRAFT_H
#define INGOT_TESTS_UNIT_DRAFT_H

#include "board/memory_device.h"
#include "runtime/session/speculative.h"
#include "tests/unit/rig.h"

enum { DRAFT_RAM = 8 << 20 };

static struct model draft;
static struct session draft_session;
static struct model_setup draft_setup;
static struct file draft_file;
static struct block_device draft_device;
static uint8_t *draft_model;

/* Lets draft_model, which is used in place, guess for the rig's model. */
static void start_with_draft(size_t limit)
{
    static uint8_t *ram;

    rig.guesses = MODEL_GUESSES;
    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    if (ram == NULL)
        ram = aligned_alloc(4096, DRAFT_RAM);
    memory_device_open(&draft_device, "draft", draft_model, RIG_MOST_BYTES);
    if (file_open_device(&draft_file, &draft_device, 0, NULL) != ERR_OK)
        rig_die("the draft's memory does not open");
    draft_file.bytes = ((const struct ingot_header *)(const void *)draft_model)->file_bytes;
    draft_setup = speculative_draft_setup(&rig.setup, &draft_file);
    draft_setup.ram = (struct memory_range){ ram, DRAFT_RAM };
    if (model_open(&draft, &draft_setup) != ERR_OK ||
        speculative_check(&draft, &rig.model) != ERR_OK ||
        model_load(&draft, &draft_setup) != ERR_OK)
        rig_die(draft.error_message);
    session_open(&draft_session, &draft, &draft_setup);
}

/* Makes the rig's model in Q8_0, and its draft in Q4_0. */
static void make_models(void)
{
    rig_alone();
    rig_make_model("tiny", INGOT_Q4_0);
    draft_model = rig.packed;
    rig.packed = NULL;
    rig_make_model("tiny", INGOT_Q8_0);
}

#endif
