/* A disk of the firmware. */
#ifndef INGOT_BOARD_EFI_EFI_DISK_H
#define INGOT_BOARD_EFI_EFI_DISK_H

#include "board/block_device.h"
#include "board/efi/efi.h"
#include "board/efi/efi_flight.h"

enum { EFI_DISK_DEPTH = EFI_FLIGHTS, EFI_DISK_NAME = 32, EFI_DISK_PIECE = 128 * 1024 };

struct efi_disk {
    efi_handle handle;
    struct efi_block *block;
    uint32_t media_id;
    uint64_t mark;                               /* identifies the medium: see mark_of */
    bool lost;                                   /* the medium or the drive was taken out */
    uint32_t block_bytes, align;                 /* alignment of addresses on the disk, and of
                                                    buffers */
    struct block_request *queue[EFI_DISK_DEPTH]; /* a ring */
    uint32_t submitted, finished;
    uint32_t at; /* how many sectors of the ring's first request are done */
    /* Reads in flight, if the firmware has BlockIO2. Other requests are in the ring, and while one
     * of them moves, no read is in flight. */
    struct efi_flights flights;
    bool silent;         /* BlockIO2 did not answer and is not used again */
    uint32_t n_grounded; /* number of reads that must still use the ring, because a read in flight
                       failed */
    char name[EFI_DISK_NAME];
    struct block_device device;
};

/* True if the handle belongs to a whole disk with a medium in it. */
bool efi_disk_is_one(efi_handle handle);

/* Open a whole disk with a medium in it: fill disk->device, whose name contains the number. Returns
 * false if the handle belongs to a partition, or cannot be read. */
bool efi_disk_open(struct efi_disk *disk, efi_handle handle, unsigned number);

#endif
