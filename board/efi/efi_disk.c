#include "board/efi/efi_disk.h"

#include <string.h>

#include "board/efi/efi_call.h"
#include "board/facts.h"
#include "board/min_max.h"

/* One buffer for all disks: core 0 moves one piece at a time. Its alignment is the largest that
 * firmware requires. */
static _Alignas(4096) uint8_t bounce[EFI_DISK_PIECE];

enum { EFI_GROUNDED = 2 * EFI_DISK_DEPTH, EFI_FLIGHT_LEAST = 64 /* sectors */ };

static enum err transfer_failed(struct efi_disk *disk, efi_status status)
{
    if (status == EFI_NO_MEDIA || status == EFI_MEDIA_CHANGED) {
        disk->lost = true;
        return ERR_REMOVED;
    }
    disk->device.reason = "the firmware reports an error of the device";
    if (status == EFI_WRITE_PROTECTED)
        disk->device.reason = "the medium is write-protected";
    return ERR_IO;
}

static enum err move_blocks(struct efi_disk *disk, bool write, uint64_t block, size_t bytes,
                            void *buffer)
{
    struct efi_block *b = disk->block;
    efi_status status;

    if (write)
        status = EFI_CALL(b->write(b, disk->media_id, block, bytes, buffer));
    else
        status = EFI_CALL(b->read(b, disk->media_id, block, bytes, buffer));
    return efi_failed(status) ? transfer_failed(disk, status) : ERR_OK;
}

/* Move a piece through our own buffer, because its sectors do not fill whole blocks, or because the
 * firmware refuses the request's buffer. For a write, the surrounding bytes are read first. */
static enum err move_bounced(struct efi_disk *disk, bool write, uint64_t sector, size_t bytes,
                             uint8_t *buffer)
{
    uint64_t start = sector * SECTOR_BYTES, block = start / disk->block_bytes;
    size_t skipped = (size_t)(start % disk->block_bytes);
    size_t covered = (skipped + bytes + disk->block_bytes - 1) / disk->block_bytes *
                     disk->block_bytes;
    enum err e = ERR_OK;

    if (!write || covered != bytes)
        e = move_blocks(disk, false, block, covered, bounce);
    if (e != ERR_OK || !write) {
        memcpy(buffer, bounce + skipped, e == ERR_OK ? bytes : 0);
        return e;
    }
    memcpy(bounce + skipped, buffer, bytes);
    return move_blocks(disk, true, block, covered, bounce);
}

static bool goes_directly(const struct efi_disk *disk, uint64_t sector, size_t bytes,
                          const uint8_t *buffer)
{
    return sector * SECTOR_BYTES % disk->block_bytes == 0 && bytes % disk->block_bytes == 0 &&
           (uintptr_t)buffer % disk->align == 0;
}

/* Move the next piece of the request. Returns ERR_OK if *n sectors were moved. */
static enum err move_piece(struct efi_disk *disk, const struct block_request *req, uint32_t *n)
{
    uint64_t sector = req->sector + disk->at;
    uint8_t *buffer = (uint8_t *)req->buffer + (size_t)disk->at * SECTOR_BYTES;
    size_t room = EFI_DISK_PIECE - (size_t)(sector * SECTOR_BYTES % disk->block_bytes);
    size_t bytes = min_size((size_t)(req->n_sectors - disk->at) * SECTOR_BYTES,
                            room / SECTOR_BYTES * SECTOR_BYTES);

    *n = (uint32_t)(bytes / SECTOR_BYTES);
    if (goes_directly(disk, sector, bytes, buffer))
        return move_blocks(disk, req->write, sector * SECTOR_BYTES / disk->block_bytes, bytes,
                           buffer);
    return move_bounced(disk, req->write, sector, bytes, buffer);
}

/* ---- a medium that was taken out ------------------------------------------------------------ */

static bool is_usable(const struct efi_block_media *media)
{
    return !media->partition && media->present && media->block_bytes >= SECTOR_BYTES &&
           (media->block_bytes & (media->block_bytes - 1)) == 0 &&
           media->block_bytes <= EFI_DISK_PIECE / 2 && media->io_align <= sizeof bounce;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_add(uint64_t hash, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* A hash of the first block (an MBR's signature, or a file system's serial number) and of a GPT's
 * header (the disk's GUID), which identifies the medium. Uses the bounce buffer. Returns 0 if the
 * medium cannot be read. */
static uint64_t mark_of(struct efi_block *block)
{
    static const char gpt[] = "EFI PART";
    const struct efi_block_media *media = block->media;
    uint64_t hash = hash_add(0xcbf29ce484222325u, (const uint8_t *)&media->last_block,
                             sizeof media->last_block);
    const uint8_t *second = bounce + media->block_bytes;

    if (media->last_block == 0 ||
        efi_failed(EFI_CALL(block->read(block, media->id, 0, 2 * media->block_bytes, bounce))))
        return 0;
    hash = hash_add(hash, bounce, SECTOR_BYTES);
    if (memcmp(second, gpt, sizeof gpt - 1) == 0)
        hash = hash_add(hash, second, SECTOR_BYTES);
    return hash;
}

/* Attach the disk. If the firmware has no BlockIO2 for the disk, or if BlockIO2 does not answer,
 * core 0 waits during reads. */
static void attach(struct efi_disk *disk, efi_handle handle, struct efi_block *block)
{
    disk->handle = handle;
    disk->block = block;
    disk->media_id = block->media->id;
    disk->align = max_u32(block->media->io_align, 1);
    disk->flights.block = disk->silent ? NULL : efi_protocol_of(handle, &efi_block2_guid);
}

static bool take_back(struct efi_disk *disk, efi_handle handle)
{
    struct efi_block *block = efi_protocol_of(handle, &efi_block_guid);

    if (block == NULL || block->media == NULL || !is_usable(block->media) ||
        block->media->block_bytes != disk->block_bytes || mark_of(block) != disk->mark)
        return false;
    attach(disk, handle, block);
    return true;
}

/* Find the medium again. A drive that was unplugged and is back has a new handle. A call through a
 * removed handle's interface would use freed memory, so the handle is checked first. */
static enum err find_medium(struct efi_disk *disk)
{
    efi_handle *handles;
    uint64_t n;

    if (!disk->lost && efi_protocol_of(disk->handle, &efi_block_guid) == disk->block)
        return ERR_OK;
    disk->lost = true;
    if (disk->mark == 0)
        return ERR_REMOVED;
    n = efi_handles(&efi_block_guid, &handles);
    for (uint64_t i = 0; i < n && disk->lost; i++)
        disk->lost = !take_back(disk, handles[i]);
    efi_handles_free(handles);
    return disk->lost ? ERR_REMOVED : ERR_OK;
}

/* ---- requests ------------------------------------------------------------------------------- */

static void end(struct block_request *req, enum err e)
{
    req->status = e;
    req->done = true;
}

/* Finish the oldest request of the ring. */
static void finish(struct efi_disk *disk, struct block_request *req, enum err e)
{
    end(req, e);
    disk->at = 0;
    disk->finished++;
}

static bool is_idle(const struct efi_disk *disk)
{
    return disk->submitted == disk->finished;
}

/* True if BlockIO2 may be used. Small reads use BlockIO, because the firmware reports the end of a
 * read with BlockIO2 late. */
static bool may_fly(const struct efi_disk *disk, const struct block_request *req)
{
    return disk->flights.block != NULL && !req->write && is_idle(disk) && disk->n_grounded == 0 &&
           req->n_sectors >= EFI_FLIGHT_LEAST &&
           goes_directly(disk, req->sector, (size_t)req->n_sectors * SECTOR_BYTES, req->buffer);
}

/* Let the next reads use BlockIO, which reports errors more clearly, and may work if BlockIO2 does
 * not. */
static void ground(struct efi_disk *disk)
{
    disk->n_grounded = EFI_GROUNDED;
}

/* Start a read with BlockIO2. ERR_BUSY: try again later; ERR_UNSUPPORTED: use the ring. */
static enum err fly(struct efi_disk *disk, struct block_request *req)
{
    enum err e = disk->flights.n == 0 ? find_medium(disk) : ERR_OK;
    efi_status status;

    if (e != ERR_OK)
        return e;
    if (disk->lost || disk->flights.block == NULL) /* poll ends the reads in flight */
        return disk->lost ? ERR_BUSY : ERR_UNSUPPORTED;
    status = efi_flights_start(&disk->flights, disk->media_id,
                               req->sector * SECTOR_BYTES / disk->block_bytes, req);
    if (!efi_failed(status))
        return ERR_OK;
    if (status == EFI_NOT_READY && disk->flights.n != 0)
        return ERR_BUSY;
    if (status == EFI_NO_MEDIA || status == EFI_MEDIA_CHANGED)
        return transfer_failed(disk, status);
    ground(disk);
    return ERR_UNSUPPORTED;
}

static enum err efi_disk_submit(struct block_device *dev, struct block_request *req)
{
    struct efi_disk *disk = dev->driver;
    enum err e = block_request_check(dev, req);

    if (e != ERR_OK)
        return e;
    if (disk->submitted - disk->finished + disk->flights.n >= EFI_DISK_DEPTH)
        return ERR_BUSY;
    req->done = false;
    if (may_fly(disk, req)) {
        e = fly(disk, req);
        if (e != ERR_UNSUPPORTED)
            return e;
    }
    if (disk->n_grounded != 0)
        disk->n_grounded--;
    disk->queue[disk->submitted++ % EFI_DISK_DEPTH] = req;
    return ERR_OK;
}

/* End requests whose reads are done. If the drive was unplugged, all reads in flight fail. */
static void land(struct efi_disk *disk)
{
    struct block_request *req;
    efi_status status;

    if (efi_protocol_of(disk->handle, &efi_block2_guid) != disk->flights.block) {
        disk->lost = true;
        efi_flights_abandon(&disk->flights, ERR_REMOVED);
        return;
    }
    while ((req = efi_flights_land(&disk->flights, &status)) != NULL) {
        enum err e = efi_failed(status) ? transfer_failed(disk, status) : ERR_OK;

        if (e == ERR_IO)
            ground(disk);
        end(req, e);
    }
}

/* Move a piece of the ring's oldest request. */
static void move(struct efi_disk *disk)
{
    struct block_request *req = disk->queue[disk->finished % EFI_DISK_DEPTH];
    uint32_t moved = 0;
    enum err e = find_medium(disk);

    if (e == ERR_OK)
        e = move_piece(disk, req, &moved);
    disk->at += moved;
    if (e == ERR_OK && disk->at < req->n_sectors)
        return;
    if (e == ERR_OK && req->write) {
        efi_status status = EFI_CALL(disk->block->flush(disk->block));

        if (efi_failed(status))
            e = transfer_failed(disk, status);
    }
    finish(disk, req, e);
}

static enum err efi_disk_poll(struct block_device *dev)
{
    struct efi_disk *disk = dev->driver;

    if (disk->flights.n != 0)
        land(disk);
    else if (!is_idle(disk))
        move(disk);
    return ERR_OK;
}

static enum err efi_disk_reset(struct block_device *dev)
{
    struct efi_disk *disk = dev->driver;

    if (disk->flights.n != 0) {
        efi_flights_stop(&disk->flights);
        disk->silent = disk->flights.block == NULL;
    }
    while (!is_idle(disk))
        finish(disk, disk->queue[disk->finished % EFI_DISK_DEPTH], ERR_TIMEOUT);
    return ERR_OK;
}

static void efi_disk_facts(const void *of, const struct facts *f)
{
    const struct efi_disk *disk = of;

    fact_text(f, "reads",
              disk->flights.block != NULL ? "in flight (BlockIO2)" : "by core 0 (BlockIO)");
    if (disk->flights.block != NULL)
        fact_number(f, "most in flight", FACT_COUNT, disk->flights.most);
}

/* ---- opening -------------------------------------------------------------------------------- */

/* The kind of the disk, from the last node of its path that shows it (10.3.4). */
static enum block_kind kind_of(efi_handle handle)
{
    enum { USB = 5, NVME = 0x17 };
    const uint8_t *node = efi_protocol_of(handle, &efi_device_path_guid);
    enum block_kind kind = BLOCK_CARD;

    while (node != NULL && node[0] != EFI_PATH_END && (node[2] | node[3] << 8) >= 4) {
        if (node[0] == EFI_PATH_MESSAGING && node[1] == USB)
            kind = BLOCK_USB;
        else if (node[0] == EFI_PATH_MESSAGING && node[1] == NVME)
            kind = BLOCK_NVME;
        node += node[2] | node[3] << 8;
    }
    return kind;
}

static void make_name(struct efi_disk *disk, enum block_kind kind, unsigned number)
{
    static const char *const names[] = {
        [BLOCK_CARD] = "EFI disk ", [BLOCK_NVME] = "EFI NVMe drive ", [BLOCK_USB] = "EFI USB drive "
    };
    size_t n = strlen(names[kind]);

    memcpy(disk->name, names[kind], n);
    disk->name[n] = (char)('1' + number);
    disk->name[n + 1] = '\0';
}

bool efi_disk_is_one(efi_handle handle)
{
    const struct efi_block *block = efi_protocol_of(handle, &efi_block_guid);

    return block != NULL && block->media != NULL && is_usable(block->media);
}

bool efi_disk_open(struct efi_disk *disk, efi_handle handle, unsigned number)
{
    struct efi_block *block = efi_protocol_of(handle, &efi_block_guid);
    const struct efi_block_media *media = block != NULL ? block->media : NULL;
    enum block_kind kind = kind_of(handle);

    if (!efi_disk_is_one(handle))
        return false;
    make_name(disk, kind, number);
    attach(disk, handle, block);
    disk->mark = mark_of(block);
    disk->lost = false;
    disk->block_bytes = media->block_bytes;
    disk->device = (struct block_device){
        .name = disk->name,
        .kind = kind,
        .n_sectors = (media->last_block + 1) * (media->block_bytes / SECTOR_BYTES),
        .block_bytes = media->block_bytes,
        .max_sectors = 8 * EFI_DISK_PIECE / SECTOR_BYTES,
        .queue_depth = EFI_DISK_DEPTH,
        .writable = !media->read_only,
        .submit = efi_disk_submit,
        .poll = efi_disk_poll,
        .reset = efi_disk_reset,
        .facts = efi_disk_facts,
        .facts_of = disk,
        .driver = disk,
    };
    if (disk->flights.block != NULL) {
        disk->device.wanted_requests = block_device_wanted(EFI_FLIGHTS);
        disk->device.wanted_sectors = disk->device.max_sectors;
    }
    return true;
}
