/* QEMU's display, through the test's own fw_cfg: the file is found anywhere in the directory, the
 * setup is as QEMU reads it, and a device that answers anything else is refused. */
#include "board/drivers/screen/ramfb.h"

#include <string.h>

#include "board/isa.h"
#include "tests/unit/tap.h"

enum { KEY = 0x2a, PLACE = 3, MOST = 4096 };

static struct device {
    uint64_t magic;
    uint32_t n_files, at; /* the next entry of the directory */
    uint32_t file_bytes;
    bool dead, fails, unknown;
    unsigned keys; /* selected */
    uint8_t written[64];
    uint32_t n_written;
} d;

static uint8_t memory[16 << 20];

enum err mmu_map(uintptr_t base, size_t bytes, enum mapping mapping)
{
    (void)base;
    (void)bytes;
    (void)mapping;
    return ERR_OK;
}

uint64_t fw_cfg_mmio_magic(const struct fw_cfg *f)
{
    (void)f;
    return d.magic;
}

static void give_entry(uint8_t *to)
{
    static const char *const names[] = { "bootorder", "etc/ramfb-else", "etc/acpi", "etc/ramfb" };
    const char *name = d.unknown || d.at > PLACE ? "etc/other" : names[d.at];
    uint32_t bytes = __builtin_bswap32(d.file_bytes);
    uint16_t key = __builtin_bswap16(KEY);

    memset(to, 0, 64);
    memcpy(to, &bytes, 4);
    memcpy(to + 4, &key, 2);
    memcpy(to + 8, name, strlen(name));
    d.at++;
}

/* As docs/specs/fw_cfg has it: select, then read or write; control becomes 0. */
void fw_cfg_mmio_start(const struct fw_cfg *f)
{
    volatile struct fw_cfg_access *access = &((struct fw_cfg *)(uintptr_t)f)->access;
    uint32_t control = __builtin_bswap32(access->control), bytes = __builtin_bswap32(access->bytes);
    uint8_t *data = (uint8_t *)(uintptr_t)__builtin_bswap64(access->address);

    if (d.dead)
        return;
    if (d.fails) {
        access->control = __builtin_bswap32(1);
        return;
    }
    if (control & 8)
        d.keys = control >> 16;
    if (control & 2 && d.keys == 0x19 && bytes == 4) {
        uint32_t n = __builtin_bswap32(d.n_files);

        memcpy(data, &n, 4);
    } else if (control & 2 && d.keys == 0x19 && bytes == 64) {
        give_entry(data);
    } else if (control & 16 && d.keys == KEY && bytes <= sizeof d.written) {
        memcpy(d.written, data, bytes);
        d.n_written = bytes;
    }
    access->control = 0;
}

static struct memory_range all;
static struct board_screen screen;

static enum err open_display(struct device device)
{
    struct fw_cfg f;
    enum err e;

    d = device;
    if (all.bytes == 0)
        all = (struct memory_range){ memory, sizeof memory };
    e = fw_cfg_open(&f, 0x1000);
    return e == ERR_OK ? ramfb_set_up(&f, &screen, &all) : e;
}

static const struct device good = { .magic = UINT64_C(0x51454d5520434647),
                                    .n_files = 9,
                                    .file_bytes = 28 };

static uint32_t word(unsigned at)
{
    uint32_t value;

    memcpy(&value, d.written + at, 4);
    return __builtin_bswap32(value);
}

int main(void)
{
    struct device bad = good;

    OK(open_display(good) == ERR_OK && d.keys == KEY && d.n_written == 28, "a display is set up");
    OK(((uint64_t)word(0) << 32 | word(4)) == (uintptr_t)screen.pixels && word(8) == 0x34325258 &&
           word(12) == 0 && word(16) == screen.width && word(20) == screen.height &&
           word(24) == screen.pitch,
       "the setup has its pixels, XR24 and its size");
    OK(screen.pixels == all.base + all.bytes && (uintptr_t)screen.pixels % 4096 == 0 &&
           screen.bits == 32 &&
           screen.pixels + (size_t)screen.height * screen.pitch <= memory + sizeof memory,
       "the pixels are the end of what was free");
    bad.magic = 0;
    OK(open_display(bad) == ERR_NO_DEVICE, "a device without DMA is refused");
    bad = good;
    bad.dead = true;
    OK(open_display(bad) == ERR_TIMEOUT, "a firmware interface that never answers is given up");
    bad.dead = false;
    bad.fails = true;
    OK(open_display(bad) == ERR_IO, "a firmware interface that answers with an error is given up");
    bad.fails = false;
    bad.unknown = true;
    OK(open_display(bad) == ERR_NOT_FOUND && d.at == 9, "there is no display among the files");
    bad.n_files = UINT32_MAX;
    OK(open_display(bad) == ERR_RANGE && d.at == 0,
       "more files than the firmware can have are refused");
    bad = good;
    bad.file_bytes = 27;
    OK(open_display(bad) == ERR_RANGE && d.n_written == 0,
       "a file too short for the setup is refused");
    all.bytes = 4 << 20;
    OK(open_display(good) == ERR_NO_SPACE && all.bytes == 4 << 20 && d.n_written == 0,
       "too little free memory is reported");
    return tap_done();
}
