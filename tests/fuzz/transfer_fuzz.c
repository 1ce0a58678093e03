/* Any bytes on the line while a board waits for a file, in frames and by YMODEM: the transfer ends,
 * and writes nothing beyond the file. */
#include <stdlib.h>

#include "runtime/transfer/transfer_receive.h"
#include "runtime/transfer/ymodem.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/transfer/fake_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTORS = 140 };

static uint8_t disk[SECTORS * SECTOR_BYTES];
static struct fake_block fake;
static struct file target;
static union {
    struct transfer transfer;
    struct ymodem ymodem;
} work;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static enum err open_it(void *context, const char *name, uint64_t bytes, const struct file **file)
{
    (void)context;
    *file = &target;
    must(strlen(name) < YMODEM_BLOCK_BYTES);
    return bytes <= target.bytes ? ERR_OK : ERR_NO_SPACE;
}

static enum err close_it(void *context)
{
    (void)context;
    return ERR_OK;
}

static void begin(const uint8_t *data, size_t size)
{
    fake_wire_clear();
    fake_init(&fake, disk, SECTORS);
    fake.written = disk;
    fake.dev.writable = true;
    memset(disk + sizeof disk - SECTOR_BYTES, 0x5a, SECTOR_BYTES);
    must(file_open_device(&target, &fake.dev, sizeof disk - SECTOR_BYTES - 100, NULL) == ERR_OK);
    fake_wire_send(data, size < FAKE_WIRE_BYTES ? size : FAKE_WIRE_BYTES - 1);
}

static void check(void)
{
    for (size_t i = sizeof disk - SECTOR_BYTES; i < sizeof disk; i++) {
        must(disk[i] == 0x5a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin(data, size);
    must(transfer_receive(&work.transfer, &fake_line, &target) != ERR_BUSY);
    transfer_conclude(&work.transfer, "why");
    check();
    begin(data, size);
    work.ymodem = (struct ymodem){ .wire = &fake_line, .open = open_it, .close = close_it };
    must(ymodem_receive(&work.ymodem) != ERR_BUSY);
    check();
    return 0;
}
