#include "board/drivers/screen/fw_cfg.h"

#include <string.h>

enum { CONTROL_ERROR = 1, CONTROL_READ = 2, CONTROL_SELECT = 8, CONTROL_WRITE = 16 };
enum { KEY_FILES = 0x19, LOOKS = 1000000 };

#define MAGIC UINT64_C(0x51454d5520434647) /* "QEMU CFG" */

/* An entry of the directory, big-endian. */
struct entry {
    uint32_t bytes;
    uint16_t key, reserved;
    char name[56];
};

_Static_assert(sizeof(struct entry) == 64, "the device defines the layout of an entry");

enum err fw_cfg_open(struct fw_cfg *f, uintptr_t mmio)
{
    f->mmio = mmio;
    return fw_cfg_mmio_magic(f) == MAGIC ? ERR_OK : ERR_NO_DEVICE;
}

/* Do a transfer. QEMU finishes the transfer while the register is written; the specification allows
 * it to take longer. */
static enum err transfer(struct fw_cfg *f, uint32_t control, const void *data, size_t bytes)
{
    uint32_t answer = control;

    f->access.control = __builtin_bswap32(control);
    f->access.bytes = __builtin_bswap32((uint32_t)bytes);
    f->access.address = __builtin_bswap64((uintptr_t)data);
    fw_cfg_mmio_start(f);
    for (unsigned i = 0; i < LOOKS && answer != 0; i++) {
        answer = __builtin_bswap32(f->access.control);
        if (answer & CONTROL_ERROR)
            return ERR_IO;
    }
    return answer == 0 ? ERR_OK : ERR_TIMEOUT;
}

static uint32_t select_key(uint16_t key)
{
    return (uint32_t)key << 16 | CONTROL_SELECT;
}

enum err fw_cfg_find(struct fw_cfg *f, const char *name, struct fw_cfg_file *file)
{
    struct entry entry;
    uint32_t n = 0;
    enum err e = transfer(f, select_key(KEY_FILES) | CONTROL_READ, &n, sizeof n);

    /* The directory is big-endian: a count, then the entries, read one after the other. */
    n = __builtin_bswap32(n);
    if (e == ERR_OK && n > FW_CFG_MAX_FILES)
        return ERR_RANGE;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = transfer(f, CONTROL_READ, &entry, sizeof entry);
        if (e != ERR_OK || strncmp(entry.name, name, sizeof entry.name) != 0)
            continue;
        file->key = __builtin_bswap16(entry.key);
        file->bytes = __builtin_bswap32(entry.bytes);
        return ERR_OK;
    }
    return e == ERR_OK ? ERR_NOT_FOUND : e;
}

enum err fw_cfg_write(struct fw_cfg *f, const struct fw_cfg_file *file, const void *data,
                      size_t bytes)
{
    if (bytes > file->bytes)
        return ERR_RANGE;
    return transfer(f, select_key(file->key) | CONTROL_WRITE, data, bytes);
}
