/* A firmware of EFI for tests: its tables and the protocol of one disk, with functions that fail if
 * the test says so. */
#ifndef INGOT_TESTS_UNIT_FAKE_EFI_H
#define INGOT_TESTS_UNIT_FAKE_EFI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"
#include "boot/panic.h"
#include "tests/unit/board/fakes/fake_core.h"
#include "tests/unit/tap.h"

#define FAKE_ERROR (EFI_ERROR_BIT | 7) /* EFI_DEVICE_ERROR */
enum { FAKE_ROWS = 16, FAKE_BLOCKS = 64, FAKE_MIB = 1024 * 1024, FAKE_EVENTS = 64 };

/* ---- what the firmware has ---------------------------------------------------------------------- */

static struct fake_efi {
    struct efi_system_table system;
    struct efi_boot_services boot;
    struct efi_runtime_services runtime;
    struct {
        uintptr_t handle;
        const struct efi_guid *guid;
        void *interface;
    } rows[FAKE_ROWS]; /* protocols of handles; handle 0: the row is free */
    /* Memory. */
    struct efi_memory_descriptor map[4];
    unsigned n_map;
    uint64_t refused_at; /* it has no pages from this address on; 0: it refuses none */
    bool refuse_places,
        refuse_pages; /* it has no pages at any address that is asked for; it has none at all */
    uint64_t given, n_given; /* the latest pages: address and number */
    bool no_map, no_events;
    unsigned pools;         /* pages allocated and not yet freed */
    int opens;              /* interfaces of a protocol by OpenProtocol; below 0: it refuses */
    int events;             /* made and not closed */
    bool came[FAKE_EVENTS]; /* an event is its index here */
    unsigned n_events;
    /* The console. */
    uint16_t text[64];
    unsigned n_text;
} fw;

static void fake_add(uintptr_t handle, const struct efi_guid *guid, void *interface)
{
    unsigned i = 0;

    while (fw.rows[i].handle != 0)
        i++;
    fw.rows[i].handle = handle;
    fw.rows[i].guid = guid;
    fw.rows[i].interface = interface;
}

static inline void fake_remove(uintptr_t handle)
{
    for (unsigned i = 0; i < FAKE_ROWS; i++)
        if (fw.rows[i].handle == handle)
            fw.rows[i].handle = 0;
}

static bool is_row(unsigned i, const struct efi_guid *guid)
{
    return fw.rows[i].handle != 0 && memcmp(fw.rows[i].guid, guid, sizeof *guid) == 0;
}

/* ---- boot services ------------------------------------------------------------------------------ */

static efi_status EFI_API fake_allocate_pages(uint32_t how, uint32_t type, uint64_t n, uint64_t *at)
{
    (void)type;
    if (fw.refuse_pages || (how == EFI_ALLOCATE_ADDRESS && fw.refuse_places) ||
        (how == EFI_ALLOCATE_ADDRESS && fw.refused_at != 0 && *at >= fw.refused_at))
        return EFI_ERROR_BIT | 9; /* EFI_OUT_OF_RESOURCES */
    if (how == EFI_ALLOCATE_ANY)
        *at = 32 * FAKE_MIB;
    fw.given = *at;
    fw.n_given = n;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_memory_map(uint64_t *bytes, void *map, uint64_t *key, uint64_t *step,
                                          uint32_t *version)
{
    uint64_t all = fw.n_map * sizeof fw.map[0];

    *key = 1;
    *version = 1;
    *step = sizeof fw.map[0];
    if (fw.no_map)
        return FAKE_ERROR;
    if (*bytes < all) {
        *bytes = all;
        return EFI_BUFFER_TOO_SMALL;
    }
    memcpy(map, fw.map, all);
    *bytes = all;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_allocate_pool(uint32_t type, uint64_t bytes, void **at)
{
    (void)type;
    *at = malloc(bytes);
    fw.pools++;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_free_pool(void *at)
{
    free(at);
    fw.pools--;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_create_event(uint32_t type, uint64_t tpl, void *notify,
                                            void *context, efi_event *event)
{
    (void)type;
    (void)tpl;
    (void)notify;
    (void)context;
    if (fw.no_events)
        return FAKE_ERROR;
    fw.events++;
    *event = &fw.came[fw.n_events++ % FAKE_EVENTS];
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_close_event(efi_event event)
{
    (void)event;
    fw.events--;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_check_event(efi_event event)
{
    bool *came = event;
    bool now = *came;

    *came = false;
    return now ? EFI_SUCCESS : EFI_NOT_READY;
}

static efi_status EFI_API fake_handle_protocol(efi_handle handle, const struct efi_guid *guid,
                                               void **interface)
{
    for (unsigned i = 0; i < FAKE_ROWS; i++)
        if (fw.rows[i].handle == (uintptr_t)handle && is_row(i, guid)) {
            *interface = fw.rows[i].interface;
            return EFI_SUCCESS;
        }
    return EFI_UNSUPPORTED;
}

static efi_status EFI_API fake_open_protocol(efi_handle handle, const struct efi_guid *guid,
                                             void **interface, efi_handle agent,
                                             efi_handle controller, uint32_t how)
{
    (void)agent;
    (void)controller;
    (void)how;
    if (fw.opens < 0)
        return FAKE_ERROR;
    fw.opens++;
    return fake_handle_protocol(handle, guid, interface);
}

static efi_status EFI_API fake_locate_protocol(const struct efi_guid *guid, void *registration,
                                               void **interface)
{
    (void)registration;
    for (unsigned i = 0; i < FAKE_ROWS; i++)
        if (is_row(i, guid)) {
            *interface = fw.rows[i].interface;
            return EFI_SUCCESS;
        }
    return EFI_UNSUPPORTED;
}

static efi_status EFI_API fake_locate_handles(uint32_t how, const struct efi_guid *guid, void *key,
                                              uint64_t *n, efi_handle **handles)
{
    void *pool;

    (void)how;
    (void)key;
    (void)fake_allocate_pool(0, FAKE_ROWS * sizeof **handles, &pool);
    *handles = pool;
    *n = 0;
    for (unsigned i = 0; i < FAKE_ROWS; i++)
        if (is_row(i, guid))
            (*handles)[(*n)++] = (efi_handle)fw.rows[i].handle;
    if (*n != 0)
        return EFI_SUCCESS;
    (void)fake_free_pool(pool);
    return EFI_UNSUPPORTED;
}

static efi_status EFI_API fake_stall(uint64_t micros)
{
    (void)micros;
    return EFI_SUCCESS;
}

static efi_status EFI_API fake_set_watchdog(uint64_t seconds, uint64_t code, uint64_t bytes,
                                            void *data)
{
    (void)seconds;
    (void)code;
    (void)bytes;
    (void)data;
    return EFI_SUCCESS;
}

/* A machine with memory alone: 64 MiB at 1 MiB, 512 MiB at 1 GiB. */
static void fake_power_up(void)
{
    memset(&fw, 0, sizeof fw);
    fw.boot.allocate_pages = fake_allocate_pages;
    fw.boot.get_memory_map = fake_memory_map;
    fw.boot.allocate_pool = fake_allocate_pool;
    fw.boot.free_pool = fake_free_pool;
    fw.boot.create_event = fake_create_event;
    fw.boot.close_event = fake_close_event;
    fw.boot.check_event = fake_check_event;
    fw.boot.handle_protocol = fake_handle_protocol;
    fw.boot.open_protocol = fake_open_protocol;
    fw.boot.locate_protocol = fake_locate_protocol;
    fw.boot.locate_handles = fake_locate_handles;
    fw.boot.stall = fake_stall;
    fw.boot.set_watchdog = fake_set_watchdog;
    fw.system.boot = &fw.boot;
    fw.system.runtime = &fw.runtime;
    fw.map[0] = (struct efi_memory_descriptor){ .type = EFI_CONVENTIONAL,
                                                .start = FAKE_MIB,
                                                .n_pages = 64ull * FAKE_MIB / EFI_PAGE };
    fw.map[1] = (struct efi_memory_descriptor){ .type = EFI_CONVENTIONAL,
                                                .start = 1024ull * FAKE_MIB,
                                                .n_pages = 512ull * FAKE_MIB / EFI_PAGE };
    fw.n_map = 2;
    efi_call_open((efi_handle)1, &fw.system);
}

/* ---- a disk ------------------------------------------------------------------------------------- */

enum { FAKE_FLIGHTS = 16 };

struct fake_efi_disk {
    struct efi_block block; /* first: the interface is the disk */
    struct efi_block2 block2;
    struct {
        struct efi_block_token *token;
        uint64_t lba, bytes;
        void *to;
    } flights[FAKE_FLIGHTS];   /* reads that fake_land has yet to end */
    unsigned n_flights, takes; /* takes: so many at a time */
    efi_status refuses;        /* reads of BlockIO2 do not even begin, with this error */
    unsigned resets;
    bool deaf; /* a reset ends nothing */
    struct efi_block_media media;
    uint8_t bytes[FAKE_BLOCKS * 4096];
    unsigned fails;    /* transfers until the fault, with: */
    efi_status status; /* an error */
    unsigned transfers, flushes, misaligned;
};

static efi_status fake_transfer(struct fake_efi_disk *d, uint32_t id, const void *buffer)
{
    d->transfers++;
    if (d->media.io_align > 1 && (uintptr_t)buffer % d->media.io_align != 0)
        d->misaligned++;
    if (d->fails != 0) {
        d->fails--;
        return d->status;
    }
    if (!d->media.present)
        return EFI_NO_MEDIA;
    return id == d->media.id ? EFI_SUCCESS : EFI_MEDIA_CHANGED;
}

static efi_status EFI_API fake_read(struct efi_block *block, uint32_t id, uint64_t lba,
                                    uint64_t bytes, void *to)
{
    struct fake_efi_disk *d = (struct fake_efi_disk *)block;
    efi_status status = fake_transfer(d, id, to);

    if (!efi_failed(status))
        memcpy(to, d->bytes + lba * d->media.block_bytes, bytes);
    return status;
}

static efi_status EFI_API fake_write(struct efi_block *block, uint32_t id, uint64_t lba,
                                     uint64_t bytes, const void *from)
{
    struct fake_efi_disk *d = (struct fake_efi_disk *)block;
    efi_status status = fake_transfer(d, id, from);

    if (!efi_failed(status))
        memcpy(d->bytes + lba * d->media.block_bytes, from, bytes);
    return status;
}

static efi_status EFI_API fake_flush(struct efi_block *block)
{
    ((struct fake_efi_disk *)block)->flushes++;
    return EFI_SUCCESS;
}

static inline struct fake_efi_disk *fake_disk_of(struct efi_block2 *block)
{
    return (struct fake_efi_disk *)(void *)((uint8_t *)block -
                                            offsetof(struct fake_efi_disk, block2));
}

static inline efi_status EFI_API fake_read2(struct efi_block2 *block, uint32_t id, uint64_t lba,
                                            struct efi_block_token *token, uint64_t bytes, void *to)
{
    struct fake_efi_disk *d = fake_disk_of(block);

    if (d->refuses != EFI_SUCCESS)
        return d->refuses;
    if (id != d->media.id)
        return EFI_MEDIA_CHANGED;
    if (d->n_flights == d->takes)
        return EFI_OUT_OF_RESOURCES;
    d->flights[d->n_flights].token = token;
    d->flights[d->n_flights].lba = lba;
    d->flights[d->n_flights].bytes = bytes;
    d->flights[d->n_flights++].to = to;
    return EFI_SUCCESS;
}

/* Ends the read that was begun last, with this status. */
static inline void fake_land(struct fake_efi_disk *d, efi_status status)
{
    unsigned i = --d->n_flights;
    struct efi_block_token *token = d->flights[i].token;

    if (!efi_failed(status))
        memcpy(d->flights[i].to, d->bytes + d->flights[i].lba * d->media.block_bytes,
               d->flights[i].bytes);
    token->status = status;
    *(bool *)token->event = true;
}

static inline efi_status EFI_API fake_reset2(struct efi_block2 *block, bool extended)
{
    struct fake_efi_disk *d = fake_disk_of(block);

    (void)extended;
    d->resets++;
    while (!d->deaf && d->n_flights != 0)
        fake_land(d, EFI_ERROR_BIT | 21); /* EFI_ABORTED */
    return EFI_SUCCESS;
}

/* Bytes that tell their place; `serial` makes media differ in their first block. */
static inline void fake_insert(struct fake_efi_disk *d, uint32_t block_bytes, uint8_t serial)
{
    uint32_t id = d->media.id + 1;

    d->block = (struct efi_block){
        .media = &d->media, .read = fake_read, .write = fake_write, .flush = fake_flush
    };
    d->block2 = (struct efi_block2){ .media = &d->media, .reset = fake_reset2, .read = fake_read2 };
    d->takes = FAKE_FLIGHTS;
    d->media = (struct efi_block_media){
        .id = id, .present = true, .block_bytes = block_bytes, .last_block = FAKE_BLOCKS - 1
    };
    for (uint32_t i = 0; i < sizeof d->bytes; i++)
        d->bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
    d->bytes[440] = serial;
}

/* ---- what boot/ has ----------------------------------------------------------------------------- */

static jmp_buf panicked;
static char panic_text[200];

void panic(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(panic_text, sizeof panic_text, format, args);
    va_end(args);
    longjmp(panicked, 1);
}

/* The log before a console exists. */
static char log_text[400];

void panic_print(const char *format, ...)
{
    size_t n = strlen(log_text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(log_text + n, sizeof log_text - n, format, args);
    va_end(args);
}

#endif
