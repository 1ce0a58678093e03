/* Reads that the firmware works off by itself (BlockIO2), several at a time, while core 0 computes. Each has an event of the
 * firmware's, which is looked at and never waited for. UEFI 2.10, 13.10. */
#ifndef INGOT_BOARD_EFI_EFI_FLIGHT_H
#define INGOT_BOARD_EFI_EFI_FLIGHT_H

#include "board/block_device.h"
#include "board/efi/efi.h"

enum { EFI_FLIGHTS = 16 };

struct efi_flight {
    struct efi_block_token token;  /* the firmware writes its status until the event comes */
    struct block_request *request; /* NULL: the place is free */
};

struct efi_flights {
    struct efi_block2 *block; /* NULL: the firmware has none for this disk, or it does not answer */
    unsigned n, most;         /* in flight now, and at most so far */
    struct efi_flight flights[EFI_FLIGHTS];
};

/* Start reading the request's sectors from `block` on, a number of the disk's own blocks; its buffer fits the firmware's
 * alignment. EFI_NOT_READY: nothing was started, because as many are in flight as the firmware or this list takes; any other
 * error: nothing was started. */
efi_status efi_flights_start(struct efi_flights *f, uint32_t media_id, uint64_t block,
                             struct block_request *request);

/* The next request whose event has come, with what became of it. NULL: none now. */
struct block_request *efi_flights_land(struct efi_flights *f, efi_status *status);

/* Take the buffers back: wait for what is still coming, for two seconds at most, then have the firmware reset the disk. Each
 * request in flight is marked done with ERR_TIMEOUT. A disk whose requests do not come back after the reset either gets no
 * others: f->block is NULL then. */
void efi_flights_stop(struct efi_flights *f);

/* The disk is gone, and the firmware's driver with it: each request in flight is marked done with `e`. */
void efi_flights_abandon(struct efi_flights *f, enum err e);

#endif
