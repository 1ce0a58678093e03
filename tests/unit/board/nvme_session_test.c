/* A session over an NVMe drive with reads that fail, are aborted, stay unanswered or get a wrong
 * answer, with a missing namespace, or with a fatal status. */
#define FAKE_DISK_BYTES (1 << 20)

#include "board/drivers/block/nvme.h"
#include "tests/unit/board/fakes/drive_session.h"
#include "tests/unit/board/fakes/fake_nvme.h"

static enum nvme_fault fault; /* of the row at work */

static void set_fault(unsigned times)
{
    f.fault = fault;
    f.times = times;
}

int main(void)
{
    static const struct {
        const char *name;
        enum nvme_fault fault;
    } rows[] = {
        { "an unrecovered read error", NVME_READ_ERROR },
        { "commands that are given up", NVME_ABORTED },
        { "a namespace that is away", NVME_NO_NAMESPACE },
        { "commands without an answer", NVME_NO_ANSWER },
        { "a fatal status", NVME_FATAL },
        { "answers to another command", NVME_STRAY },
    };
    size_t limit = drive_session_make();

    if (rig.packed_bytes > DISK_BYTES)
        rig_die("the model is larger than the drive");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        power_up(true, 9);
        beside.at = rig.ram;
        beside.bytes = RIG_RAM;
        memcpy(f.disk, rig.packed, rig.packed_bytes);
        if (fake_open() != ERR_OK || device.error_message != NULL)
            rig_die("the drive does not open");
        fault = rows[i].fault;
        drive_session(rows[i].name, &device, limit, set_fault);
        OK(f.n_wrong == 0 && f.n_early == 0,
           "%s: the drive got no command that was wrong or too early", rows[i].name);
    }
    return tap_done();
}
