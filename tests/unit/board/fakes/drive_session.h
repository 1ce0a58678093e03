/* A session over a drive whose controller is a model: a fault that happens once is repeated, and the logits do not show
 * it; a fault that stays is named, with the file, the layer and the drive; and once its cause is gone the session
 * continues with the right bits. */
#ifndef INGOT_TESTS_UNIT_DRIVE_SESSION_H
#define INGOT_TESTS_UNIT_DRIVE_SESSION_H

#include "tests/unit/rig_expected.h"

enum { PATIENCE = 600, FOR_EVER = 1000000 };

/* transfers for which a fault is set; 0: its cause is gone */
typedef void drive_fault_fn(unsigned times);

/* Puts a model on the drive, in the least memory that it can have. */
static size_t drive_session_make(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    set_expected();
    return rig_limits().least;
}

/* Whether the drive is open and well. */
static void drive_session(const char *name, struct block_device *device, size_t limit,
                          drive_fault_fn *set_fault)
{
    const char *error_message;
    enum err e;
    uint32_t i = 0;

    rig.device = device;
    rig.patience = PATIENCE;
    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    OK(append(i++) && append(i++), "%s: a session reads from it", name);
    set_fault(1);
    OK(append(i) && rig.model.stream.stats.retries != 0,
       "%s: a request that fails once is repeated", name);
    i++;
    set_fault(FOR_EVER);
    e = rig_append(&ids[i], 1, NULL);
    error_message = rig.session.error_message;
    OK((e == ERR_IO || e == ERR_TIMEOUT) && strstr(error_message, "made-up.ingot: ") != NULL &&
           strstr(error_message, device->name) != NULL && strstr(error_message, "sector ") != NULL,
       "%s: a lasting error is named: %s", name, error_message);
    e = rig_append(&ids[i], 1, NULL);
    OK(e == ERR_IO || e == ERR_TIMEOUT, "%s: the next append fails as well", name);
    set_fault(0);
    OK(append(i), "%s: the session goes on after the cause is gone", name);
    OK(append(i + 1), "%s: the logits after the error are right, to the bit", name);
    rig.device = NULL;
    rig.patience = 0;
}

#endif
