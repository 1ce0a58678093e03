/* A session over a USB drive that stalls, sends too little or too much, is silent, answers
 * something else, or is pulled. */
#include "board/drivers/usb/usb_storage.h"

#define FAKE_DISK_SECTORS 2048

#include "tests/unit/board/fakes/drive_session.h"
#include "tests/unit/board/fakes/fake_xhci.h"
#include "tests/unit/board/fakes/usb_done.h"

static struct usb_storage drive;
static struct xhci host;
static struct block_device device;
static struct fake_unit *const u = &f.units[0];
static enum fault fault; /* of the row at work */

static void open_drive(void)
{
    memset(&f, 0, sizeof f);
    memset(&host, 0, sizeof host);
    n_wrong = 0;
    u->speed = XHCI_SPEED_HIGH;
    u->port = 1;
    plug(u);
    memcpy(u->disk, rig.packed, rig.packed_bytes);
    host.setup = fake_setup();
    if (xhci_start(&host) != ERR_OK ||
        usb_storage_open(&drive, &host, 1, xhci_n_places(&host), &device) != ERR_OK)
        rig_die("the drive does not open");
}

static void set_fault(unsigned times)
{
    u->fault = fault;
    u->times = times;
    if (fault == PULLED && times == 0)
        plug(u);
}

int main(void)
{
    static const struct {
        const char *name;
        enum fault fault;
    } rows[] = {
        { "a stalled endpoint", STALLED },
        { "a status that stalls, too", STALLED_ALL },
        { "half of the data", SHORT },
        { "a babbling drive", BABBLING },
        { "errors of the wire", BROKEN_WIRE },
        { "a silent drive", SILENT },
        { "another command's status", OTHER_TAG },
        { "a phase error", OUT_OF_STEP },
        { "a status that is none", NO_STATUS },
        { "an event of nothing", LATE_EVENT },
    };
    size_t limit = drive_session_make();

    if (rig.packed_bytes > sizeof u->disk)
        rig_die("the model is larger than the drive");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_drive();
        fault = rows[i].fault;
        drive_session(rows[i].name, &device, limit, set_fault);
        OK(n_wrong == 0, "%s: the drive got no command that was wrong or out of order",
           rows[i].name);
    }
    return usb_done();
}
