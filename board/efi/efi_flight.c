#include "board/efi/efi_flight.h"

#include "board/efi/efi_call.h"
#include "board/min_max.h"

enum {
    LOOKS = 2000, /* looks at the reads, one each millisecond */
    LOOK_MICROS = 1000,
    WATCHDOG_SECONDS = 30, /* watchdog time for a reset that never returns */
};

static struct efi_flight *free_place(struct efi_flights *f)
{
    for (unsigned i = 0; i < EFI_FLIGHTS; i++)
        if (f->flights[i].request == NULL)
            return &f->flights[i];
    return NULL;
}

/* Close the event, because the firmware may still signal it; the next read gets a new event. */
static void drop_event(struct efi_flight *flight)
{
    if (flight->token.event != NULL)
        (void)EFI_CALL(efi_boot()->close_event(flight->token.event));
    flight->token.event = NULL;
}

efi_status efi_flights_start(struct efi_flights *f, uint32_t media_id, uint64_t block,
                             struct block_request *request)
{
    struct efi_flight *flight = free_place(f);
    efi_status status;

    if (flight == NULL)
        return EFI_NOT_READY;
    if (flight->token.event == NULL &&
        efi_failed(EFI_CALL(efi_boot()->create_event(0, 0, NULL, NULL, &flight->token.event)))) {
        flight->token.event = NULL;
        return EFI_OUT_OF_RESOURCES;
    }
    flight->token.status = EFI_NOT_READY;
    flight->request = request;
    status = EFI_CALL(f->block->read(f->block, media_id, block, &flight->token,
                                     (uint64_t)request->n_sectors * SECTOR_BYTES, request->buffer));
    if (efi_failed(status)) {
        flight->request = NULL;
        drop_event(flight);
        return status == EFI_OUT_OF_RESOURCES && f->n != 0 ? EFI_NOT_READY : status;
    }
    f->most = max_u32(f->most, ++f->n);
    return EFI_SUCCESS;
}

struct block_request *efi_flights_land(struct efi_flights *f, efi_status *status)
{
    for (unsigned i = 0; i < EFI_FLIGHTS && f->n != 0; i++) {
        struct efi_flight *flight = &f->flights[i];
        struct block_request *request = flight->request;

        if (request == NULL || EFI_CALL(efi_boot()->check_event(flight->token.event)) !=
                                   EFI_SUCCESS) /* success also clears the event */
            continue;
        *status = flight->token.status;
        flight->request = NULL;
        f->n--;
        return request;
    }
    return NULL;
}

/* Give finished reads back to the caller, whatever their result. */
static void take_landed(struct efi_flights *f)
{
    struct block_request *request;
    efi_status status;

    while ((request = efi_flights_land(f, &status)) != NULL) {
        request->status = ERR_TIMEOUT;
        request->done = true;
    }
}

void efi_flights_abandon(struct efi_flights *f, enum err e)
{
    for (unsigned i = 0; i < EFI_FLIGHTS; i++) {
        struct efi_flight *flight = &f->flights[i];

        if (flight->request == NULL)
            continue;
        flight->request->status = e;
        flight->request->done = true;
        flight->request = NULL;
        drop_event(flight);
    }
    f->n = 0;
}

/* Reset the disk. If the reset waits forever for a drive that does not answer, the firmware's
 * watchdog restarts the machine (UEFI 2.10, 7.5). */
static void reset_disk(struct efi_flights *f)
{
    (void)EFI_CALL(efi_boot()->set_watchdog(WATCHDOG_SECONDS, 0, 0, NULL));
    (void)EFI_CALL(f->block->reset(f->block, false));
    (void)EFI_CALL(efi_boot()->set_watchdog(0, 0, 0, NULL));
}

void efi_flights_stop(struct efi_flights *f)
{
    for (unsigned i = 0; i < LOOKS && f->n != 0; i++) {
        take_landed(f);
        if (f->n != 0)
            (void)EFI_CALL(efi_boot()->stall(LOOK_MICROS));
    }
    if (f->n == 0)
        return;
    reset_disk(f);
    take_landed(f);
    if (f->n == 0)
        return;
    efi_flights_abandon(f, ERR_TIMEOUT);
    f->block = NULL;
}
