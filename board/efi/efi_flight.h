/* Reads that the firmware does in the background (BlockIO2), several at a time, while core 0
 * computes. Each read has an event of the firmware, which we poll and never wait for. UEFI 2.10,
 * 13.10. */
#ifndef INGOT_BOARD_EFI_EFI_FLIGHT_H
#define INGOT_BOARD_EFI_EFI_FLIGHT_H

#include "board/block_device.h"
#include "board/efi/efi.h"

enum { EFI_FLIGHTS = 16 };

struct efi_flight {
    struct efi_block_token token;  /* the firmware may write `status` until the event comes */
    struct block_request *request; /* NULL: this struct is free */
};

struct efi_flights {
    struct efi_block2 *block; /* NULL: the firmware has no BlockIO2 for this disk, or it does not
                                 answer */
    unsigned n, most;         /* reads in flight now, and the most so far */
    struct efi_flight flights[EFI_FLIGHTS];
};

/* Start reading the request's sectors from the disk's block number `block`; the buffer has the
 * firmware's alignment. On an error no read was started; EFI_NOT_READY: the firmware or this list
 * takes no more reads now. */
efi_status efi_flights_start(struct efi_flights *f, uint32_t media_id, uint64_t block,
                             struct block_request *request);

/* Take the next request whose event has come, with its result. NULL if there is none now. */
struct block_request *efi_flights_land(struct efi_flights *f, efi_status *status);

/* End all reads, so that their buffers are ours again: wait at most two seconds, then let the
 * firmware reset the disk. Each request in flight is marked done with ERR_TIMEOUT. If a read does
 * not end even after the reset, the disk gets no more reads: f->block becomes NULL. */
void efi_flights_stop(struct efi_flights *f);

/* After the disk and its driver are gone: mark each request in flight done with `e`. */
void efi_flights_abandon(struct efi_flights *f, enum err e);

#endif
