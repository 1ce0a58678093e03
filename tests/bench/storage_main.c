/* An image that reads every storage device from its start, as the loader does
 * (runtime/storage/file.h), in turns: one pass over each, then the next. A line a pass:
 * "storage-bench: PASS BYTES TICKS HZ CRC NAME". Behind that of an SD card one of what its host was
 * told: "storage-busy: TICKS COMMANDS BYTES SMALL ELSEWHERE NAME", the time from a command's start
 * to its end, commands with data, their bytes, those of less than 64 KiB, and those whose data is
 * not where the reader wants it. Before them: "storage-buffer: ADDRESS BYTES". The boot argument
 * "once" is one pass over the first 8 MiB, "whole" one over all of the device in pieces of 8 MiB. With "write" it writes instead, to the second MiB, a sector and then many,
 * and reads back: "storage-write: BYTES CRC NAME". */
#include <string.h>

#include "board/board.h"
#include "boot/platform.h"
#include "board/drivers/sd/sd_card.h"
#include "boot/boot.h"
#include "runtime/base/crc32c.h"
#include "runtime/console/console.h"
#include "runtime/storage/file.h"

enum {
    PASSES = 3,
    PIECE_BYTES = 4 << 20,
    LARGE_BYTES = 8 << 20, /* for "whole": a piece like a layer of a model that is worth a drive */
    FIRST_BYTES = 8 << 20, /* bytes of a device, unless all of it is read */
    TIMEOUT_SECONDS = 30,
    SMALL_BYTES = 64 << 10
};

static struct bench_state {
    struct platform platform;
    struct console console;
    struct file file;
    struct file_read read;
    struct block_device *devices[BOARD_MAX_BLOCK];
    uint64_t most_bytes;
    uint32_t piece_bytes;
    struct watch { /* counts on the host of the SD card that is read */
        const struct sd_host_ops *ops;
        struct sd_host_ops watched;
        uint64_t busy_ticks, started, bytes;
        unsigned n_commands, n_small, n_elsewhere;
        const uint8_t *next; /* where the next block of data must go */
    } watch;
} state;

/* ---- between an SD card and its host --------------------------------------------------------- */

static void watch_data(const struct sd_command *command)
{
    struct watch *w = &state.watch;
    uint64_t bytes = (uint64_t)command->n_blocks * command->block_bytes;

    w->n_commands++;
    w->n_small += bytes < SMALL_BYTES;
    w->n_elsewhere += command->data != w->next;
    w->next = command->data + bytes;
    w->bytes += bytes;
}

static enum err watch_start(struct sd_host *host, struct sd_command *command)
{
    state.watch.started = board.ticks();
    if (command->data != NULL)
        watch_data(command);
    return state.watch.ops->start(host, command);
}

static enum err watch_poll(struct sd_host *host)
{
    enum err e = state.watch.ops->poll(host);

    if (e != ERR_BUSY)
        state.watch.busy_ticks += board.ticks() - state.watch.started;
    return e;
}

static struct sd_host *host_of(const struct block_device *device)
{
    return strncmp(device->name, "SD ", 3) == 0 ? ((struct sd_card *)device->driver)->host : NULL;
}

static void watch_begin(const struct block_device *device, const uint8_t *buffer)
{
    struct sd_host *host = host_of(device);

    if (host == NULL)
        return;
    state.watch = (struct watch){ .ops = host->ops, .watched = *host->ops, .next = buffer };
    state.watch.watched.start = watch_start;
    state.watch.watched.poll = watch_poll;
    host->ops = &state.watch.watched;
}

static void watch_end(const struct block_device *device)
{
    const struct watch *w = &state.watch;
    struct sd_host *host = host_of(device);

    if (host == NULL)
        return;
    host->ops = w->ops;
    console_printf(&state.console, "storage-busy: %llu %u %llu %u %u %s\n",
                   (unsigned long long)w->busy_ticks, w->n_commands, (unsigned long long)w->bytes,
                   w->n_small, w->n_elsewhere, device->name);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) give_up(const struct block_device *device, enum err e)
{
    console_printf(&state.console, "storage-bench: %s fails: %s\n", device->name, err_text(e));
    board.power_off(1);
}

/* The time of reading alone; the checksum is taken between. */
static void read_all(const struct block_device *device, unsigned pass, uint8_t *buffer,
                     uint64_t bytes)
{
    uint64_t ticks = 0;
    uint32_t crc = 0;

    for (uint64_t at = 0; at < bytes; at += state.piece_bytes) {
        uint64_t start = board.ticks();
        enum err e;

        state.watch.next = buffer; /* every piece goes there */
        e = file_read_now(&state.read, &state.file, at, buffer, state.piece_bytes);

        ticks += board.ticks() - start;
        if (e != ERR_OK)
            give_up(device, e);
        if (at < FIRST_BYTES) /* the rest takes an emulated core long, and is zeros */
            crc = crc32c(crc, buffer, state.piece_bytes);
    }
    console_printf(&state.console, "storage-bench: %u %llu %llu %llu %08x %s\n", pass,
                   (unsigned long long)bytes, (unsigned long long)ticks,
                   (unsigned long long)board.ticks_hz(), (unsigned)crc, device->name);
}

static void measure(struct block_device *device, unsigned pass, uint8_t *buffer)
{
    struct file_timeout timeout = { &state.platform, TIMEOUT_SECONDS * state.platform.clock.hz };
    uint64_t bytes = device->n_sectors * SECTOR_BYTES / state.piece_bytes * state.piece_bytes;
    enum err e;

    if (device->error_message != NULL || device->memory != NULL || bytes == 0)
        return;
    e = file_open_device(&state.file, device, 0, &timeout);
    if (e != ERR_OK)
        give_up(device, e);
    watch_begin(device, buffer);
    read_all(device, pass, buffer, bytes < state.most_bytes ? bytes : state.most_bytes);
    watch_end(device);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void fill(uint8_t *buffer, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        buffer[i] = (uint8_t)(i * 7 + i / 512);
}

static void write_back(struct block_device *device, uint8_t *buffer)
{
    static const uint32_t sizes[] = { 512, 300 * 512 };
    struct file_timeout timeout = { &state.platform, TIMEOUT_SECONDS * state.platform.clock.hz };
    uint64_t at = 1 << 20;
    enum err e = file_open_device(&state.file, device, 0, &timeout);

    for (unsigned i = 0; e == ERR_OK && i < 2; at += sizes[i++]) {
        fill(buffer, sizes[i]);
        e = file_write_now(&state.read, &state.file, at, buffer, sizes[i]);
        memset(buffer, 0, sizes[i]);
        if (e == ERR_OK)
            e = file_read_now(&state.read, &state.file, at, buffer, sizes[i]);
        if (e == ERR_OK)
            console_printf(&state.console, "storage-write: %u %08x %s\n", (unsigned)sizes[i],
                           (unsigned)crc32c(0, buffer, sizes[i]), device->name);
    }
    if (e != ERR_OK)
        give_up(device, e);
}

void image_main(const struct machine *machine)
{
    static const struct console_setup setup = { .serial = true };
    uint8_t *buffer = machine->ram[0].base;
    bool writes = strcmp(machine->args, "write") == 0;
    bool whole = strcmp(machine->args, "whole") == 0;
    unsigned n, passes = whole || strcmp(machine->args, "once") == 0 ? 1 : PASSES;

    state.most_bytes = whole ? UINT64_MAX : FIRST_BYTES;
    state.piece_bytes = whole ? LARGE_BYTES : PIECE_BYTES;
    board_platform(&state.platform, machine);
    console_open(&state.console, &state.platform, &setup);
    console_printf(&state.console, "storage-buffer: %llx %x\n",
                   (unsigned long long)(uintptr_t)buffer, (unsigned)state.piece_bytes);
    n = board.find_storage(state.devices);
    for (unsigned i = 0; writes && i < n; i++) {
        if (state.devices[i]->writable)
            write_back(state.devices[i], buffer);
    }
    for (unsigned pass = 0; pass < passes && !writes; pass++) {
        for (unsigned i = 0; i < n; i++)
            measure(state.devices[i], pass, buffer);
    }
    board.power_off(0);
}
