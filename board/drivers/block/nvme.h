/* Presents the first namespace of an NVMe controller as a block device (NVM Express Base
 * Specification 1.4). The driver polls an admin queue and a pair of queues for transfers; DMA goes
 * straight into the caller's buffer. Blocks have 512 or 4096 bytes; a request may cover only a part
 * of a 4096-byte block. */
#ifndef INGOT_BOARD_DRIVERS_BLOCK_NVME_H
#define INGOT_BOARD_DRIVERS_BLOCK_NVME_H

#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "board/drivers/dma/dma.h"
#include "board/err.h"

enum {
    NVME_DEPTH = 16,   /* most requests in flight */
    NVME_ENTRIES = 64, /* number of entries in a queue for transfers */
    NVME_ADMIN = 16,   /* number of entries in an admin queue, which has one command at a time */
    NVME_PAGE = 4096,  /* CC.MPS = 0 */
    NVME_LIST = 256,   /* number of pages in a list, enough for 1 MiB per request */
    NVME_NAME_BYTES = 40,
    NVME_WHO_BYTES = 60,
};

struct nvme_command { /* section 4.2 */
    uint8_t opcode, flags;
    uint16_t id;
    uint32_t namespace_id;
    uint64_t reserved, metadata;
    uint64_t prp1, prp2; /* section 4.3 */
    uint32_t dword10, dword11, dword12, dword13, dword14, dword15;
};
_Static_assert(sizeof(struct nvme_command) == 64, "section 4.2");

struct nvme_completion { /* section 4.6 */
    uint32_t result, reserved;
    uint16_t sq_head, sq_id;
    uint16_t id;
    uint16_t status; /* bit 0 is the phase; the other bits are 0 on success */
};
_Static_assert(sizeof(struct nvme_completion) == 16, "section 4.6");

struct nvme_queue {
    struct nvme_command *commands;
    struct nvme_completion *completions;
    uint16_t id, entries;
    uint16_t tail, head; /* index of the next command, and of the next completion */
    bool phase;          /* of a new completion */
};

/* The facts from Identify. */
struct nvme_facts {
    uint32_t max_bytes;   /* largest transfer; 0: no limit */
    bool cached;          /* the drive's cache is volatile, so a flush follows each write */
    bool may_have_others; /* there may be namespaces beyond the first, which are not used */
    bool whole;           /* accepts a buffer as address and length (SGL, section 4.4) */
    uint64_t n_blocks;
    uint32_t block_bytes;
    bool read_only;
    uint8_t who[NVME_WHO_BYTES]; /* serial number and model */
};

/* A request has at most three commands at a time. Blocks that a request covers only in part are its
 * edges. */
struct nvme_slot {
    struct block_request *request; /* NULL: free */
    enum nvme_step { NVME_EDGES, NVME_DATA, NVME_FLUSH } step;
    uint8_t pending; /* bit n: command n of the step is in flight */
    enum err status;
};

struct nvme_setup {
    uintptr_t mmio; /* BAR 0, mapped */
    struct dma_window window;
    uint64_t (*ticks)(void);
    uint64_t ticks_hz;
    bool (*put_back)(
        const void
            *slot); /* true if a drive that was pulled is back and set up; NULL if drives cannot
                      come back */
    const void *slot;
};

/* All state of one controller; zeroed by nvme_open. The struct may be in any RAM that the
 * controller's DMA reaches. */
struct nvme {
    _Alignas(NVME_PAGE) struct nvme_command commands[NVME_ENTRIES];
    _Alignas(NVME_PAGE) struct nvme_completion completions[NVME_ENTRIES];
    _Alignas(NVME_PAGE) struct nvme_command admin_commands[NVME_ADMIN];
    _Alignas(NVME_PAGE) struct nvme_completion admin_completions[NVME_ADMIN];
    _Alignas(NVME_PAGE) uint8_t identify[NVME_PAGE];
    _Alignas(NVME_PAGE) uint64_t lists[NVME_DEPTH][NVME_LIST];
    _Alignas(NVME_PAGE) uint8_t edges[NVME_DEPTH][2][NVME_PAGE];
    _Alignas(NVME_PAGE) struct nvme_setup setup;
    struct nvme_queue admin, io;
    struct nvme_slot slots[NVME_DEPTH];
    struct nvme_facts facts;
    uint32_t stride;   /* bytes between doorbells */
    uint32_t limit_ms; /* CAP.TO */
    uint32_t depth;    /* number of slots in use, <= NVME_DEPTH */
    uint32_t in_flight, most_in_flight;
    uint32_t writes;     /* number of writes in flight */
    uint32_t edged;      /* number of writes in flight that have edges */
    uint32_t idle_polls; /* polls since the last answer */
    bool stopped;        /* after a fatal error: the next submit starts the controller again */
    bool by_pages;       /* a transfer by address and length failed: use lists of pages from now
                            on */
    bool dead;
    bool gone;       /* the drive was pulled; a later request checks whether it is back */
    const char *why; /* error message if the drive is there but cannot be used, else NULL */
    char name[NVME_NAME_BYTES];
};

/* Start the controller and fill *out. If the controller cannot be used, out->error_message says why
 * and nothing can be read. ERR_NO_DEVICE: nothing answers at the address. */
enum err nvme_open(struct nvme *n, const struct nvme_setup *setup, struct block_device *out);

#endif
