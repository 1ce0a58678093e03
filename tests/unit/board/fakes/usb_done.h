/* The last row of a test that uses the model of an xHCI (fake_xhci.h). */
#ifndef INGOT_TESTS_UNIT_USB_DONE_H
#define INGOT_TESTS_UNIT_USB_DONE_H

#include "tests/unit/board/fakes/fake_usb.h"
#include "tests/unit/tap.h"

/* In place of tap_done: few rows look at n_wrong, which is cleared between them. */
static inline int usb_done(void)
{
    OK(n_wrong_in_all == 0, "the driver did nothing that the model of its controller forbids");
    return tap_done();
}

#endif
