/* Reads that the firmware does in the background (BlockIO2), several at a time, while core 0 computes. Each has an event of
 * the firmware, which is polled and never waited for. UEFI 2.10, 13.10. */
#ifndef INGOT_BOARD_EFI_EFI_FLIGHT_H
#define INGOT_BOARD_EFI_EFI_FLIGHT_H

#include "board/block_device.h"
#include "board/efi/efi.h"

enum { EFI_FLIGHTS = 16 };

struct efi_flight {
    struct efi_block_token token;  /* the firmware may write its status until the event comes */
    struct block_request *request; /* NULL: the place is free */
};

struct efi_flights {
    struct efi_block2 *block; /* NULL: the firmware has no BlockIO2 for this disk, or it does not
                                 answer */
    unsigned n, most;         /* reads in flight now, and most so far */
    struct efi_flight flights[EFI_FLIGHTS];
};

/* Start reading the request's sectors; `block` is the number of the first block of the disk, and the buffer has the
 * firmware's alignment. On an error nothing was started; EFI_NOT_READY: as many are in flight as the firmware or this list
 * takes. */
efi_status efi_flights_start(struct efi_flights *f, uint32_t media_id, uint64_t block,
                             struct block_request *request);

/* Take the next request whose event has come, with its result. NULL if there is none now. */
struct block_request *efi_flights_land(struct efi_flights *f, efi_status *status);

/* Take the buffers back: wait at most two seconds for reads in flight, then let the firmware reset the disk. Each request in
 * flight is marked done with ERR_TIMEOUT. If requests do not end even after the reset, the disk gets no more: f->block
 * becomes NULL. */
void efi_flights_stop(struct efi_flights *f);

/* The disk is gone, with the firmware's driver: mark each request in flight done with `e`. */
void efi_flights_abandon(struct efi_flights *f, enum err e);

#endif
