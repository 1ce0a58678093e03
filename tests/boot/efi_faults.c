/* A firmware of EFI with one fault, for tests/boot/efi_faults.t. The program is linked with this before efi_start (--wrap): Ingot
 * gets copies of the firmware's tables, in which one function refuses or fails. The test writes the fault's name into the
 * program's file. */
#include <stdbool.h>
#include <string.h>

#include "board/efi/efi.h"
#include "board/efi/efi_parts.h"

enum { HANDLES = 16, LARGE = 32 * 1024, FAILING = 4, PAGES_MOST = 64 * 1024 * 1024 / EFI_PAGE };
#define DEVICE_ERROR (EFI_ERROR_BIT | 7)
#define NOT_FOUND (EFI_ERROR_BIT | 14)

/* The test finds the mark and writes behind it. */
static volatile char fault[] = "INGOT-FAULT=none\0\0\0\0\0\0\0\0\0\0\0\0";
enum { MARK = 12 };

EFI_GUID(mp_guid, 0x3fdda605, 0xa76e, 0x4f46, 0xad, 0x29, 0x12, 0xf4, 0x53, 0x1b, 0x3d, 0x08);

/* UEFI Platform Initialization 1.7, volume 2, 13.4: all its functions are given its own `this`. */
struct mp {
    efi_status(EFI_API *count)(void *mp, uint64_t *n, uint64_t *enabled);
    efi_status(EFI_API *info)(void *mp, uint64_t number, void *info);
    void *start_all;
    efi_status(EFI_API *start_one)(void *mp, void *procedure, uint64_t number, efi_event event,
                                   uint64_t micros, void *arg, bool *finished);
    void *others[3];
};

/* A disk as Ingot sees it. */
struct disk {
    struct efi_block block; /* first: the interface is the disk */
    struct efi_block_media media;
    efi_handle handle;
    struct efi_block *real;
};

static struct faulty {
    struct efi_system_table system;
    struct efi_boot_services boot, *real;
    struct disk disks[HANDLES];
    unsigned n_disks;
    unsigned n_large; /* reads */
    bool gone;
    struct mp mp, *real_mp;
} f;

void __real_efi_start(efi_handle image, struct efi_system_table *system) __attribute__((noreturn));
void __wrap_efi_start(efi_handle image, struct efi_system_table *system) __attribute__((noreturn));

static bool is(const char *name)
{
    size_t i = 0;

    while (name[i] != '\0' && fault[MARK + i] == name[i])
        i++;
    return name[i] == fault[MARK + i];
}

static bool same(const struct efi_guid *a, const struct efi_guid *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- disks ----------------------------------------------------------------------------------- */

/* Large reads are reads of weights. One fails and works when it is repeated, or all fail. */
static efi_status EFI_API read_blocks(struct efi_block *block, uint32_t id, uint64_t lba,
                                      uint64_t bytes, void *to)
{
    struct disk *d = (struct disk *)block;

    if (f.gone)
        return EFI_NO_MEDIA;
    if (bytes >= LARGE && is("read-always"))
        return DEVICE_ERROR;
    if (bytes >= LARGE && is("read-once") && ++f.n_large == FAILING)
        return DEVICE_ERROR;
    return d->real->read(d->real, id, lba, bytes, to);
}

/* The first write finds that the medium was taken out. */
static efi_status EFI_API write_blocks(struct efi_block *block, uint32_t id, uint64_t lba,
                                       uint64_t bytes, const void *from)
{
    struct disk *d = (struct disk *)block;

    if (!is("removed"))
        return d->real->write(d->real, id, lba, bytes, from);
    f.gone = true;
    for (unsigned i = 0; i < f.n_disks; i++)
        f.disks[i].media.present = false;
    return EFI_NO_MEDIA;
}

static efi_status EFI_API flush_blocks(struct efi_block *block)
{
    struct disk *d = (struct disk *)block;

    return d->real->flush(d->real);
}

/* Each handle has one interface, as in the firmware. */
static efi_status take_disk(efi_handle handle, struct efi_block *real, void **interface)
{
    unsigned i = 0;

    while (i < f.n_disks && f.disks[i].handle != handle)
        i++;
    if (i == HANDLES)
        return EFI_UNSUPPORTED;
    if (i == f.n_disks) {
        f.n_disks++;
        f.disks[i] = (struct disk){ .media = *real->media, .handle = handle, .real = real };
        f.disks[i].block = (struct efi_block){ .revision = real->revision,
                                               .media = &f.disks[i].media,
                                               .read = read_blocks,
                                               .write = write_blocks,
                                               .flush = flush_blocks };
    }
    *interface = &f.disks[i].block;
    return EFI_SUCCESS;
}

/* ---- processors ------------------------------------------------------------------------------ */

static efi_status EFI_API count(void *mp, uint64_t *n, uint64_t *enabled)
{
    (void)mp;
    return is("mp-count") ? DEVICE_ERROR : f.real_mp->count(f.real_mp, n, enabled);
}

static efi_status EFI_API info(void *mp, uint64_t number, void *to)
{
    (void)mp;
    return f.real_mp->info(f.real_mp, number, to);
}

static efi_status EFI_API start_one(void *mp, void *procedure, uint64_t number, efi_event event,
                                    uint64_t micros, void *arg, bool *finished)
{
    (void)mp, (void)procedure, (void)number, (void)event, (void)micros, (void)arg, (void)finished;
    return DEVICE_ERROR;
}

static efi_status take_mp(void **interface)
{
    if (is("mp-none"))
        return NOT_FOUND;
    f.real_mp = *interface;
    f.mp = (struct mp){ .count = count, .info = info, .start_one = start_one };
    *interface = &f.mp;
    return EFI_SUCCESS;
}

/* ---- boot services --------------------------------------------------------------------------- */

static bool hides(const struct efi_guid *protocol)
{
    return same(protocol, &efi_block2_guid) || (is("no-gop") && same(protocol, &efi_graphics_guid));
}

static efi_status EFI_API handle_protocol(efi_handle handle, const struct efi_guid *protocol,
                                          void **interface)
{
    efi_status status = f.real->handle_protocol(handle, protocol, interface);

    if (hides(protocol))
        return EFI_UNSUPPORTED;
    if (status == EFI_SUCCESS && same(protocol, &efi_block_guid))
        return take_disk(handle, *interface, interface);
    return status;
}

static efi_status EFI_API locate_protocol(const struct efi_guid *protocol, void *registration,
                                          void **interface)
{
    efi_status status = f.real->locate_protocol(protocol, registration, interface);

    if (hides(protocol))
        return NOT_FOUND;
    if (status == EFI_SUCCESS && same(protocol, &mp_guid) && fault[MARK] == 'm')
        return take_mp(interface);
    return status;
}

static efi_status EFI_API allocate_pages(uint32_t how, uint32_t type, uint64_t n, uint64_t *at)
{
    if (is("few-pages") && n > PAGES_MOST)
        return EFI_OUT_OF_RESOURCES;
    return f.real->allocate_pages(how, type, n, at);
}

/* ---- the device tree ------------------------------------------------------------------------- */

/* Renames the property that names the UART. Devicetree Specification 0.4, 5.2: the second word has
 * the bytes, highest first. */
static void forget_uart(struct efi_system_table *system)
{
    static const char name[] = "stdout-path";

    for (uint64_t i = 0; i < system->n_configurations; i++) {
        uint8_t *blob = system->configurations[i].table;
        size_t bytes;

        if (!same(&system->configurations[i].guid, &efi_tree_guid))
            continue;
        bytes = (size_t)blob[4] << 24 | (size_t)blob[5] << 16 | (size_t)blob[6] << 8 | blob[7];
        for (size_t at = 0; at + sizeof name <= bytes; at++)
            if (memcmp(blob + at, name, sizeof name) == 0)
                blob[at] = 'x';
    }
}

/* ---- code and data --------------------------------------------------------------------------- */

/* Replaces an instruction by itself: firmware that maps code read-only stops the program. */
static void write_code(void)
{
    volatile uint8_t *code = (volatile uint8_t *)(uintptr_t)__real_efi_start;

    *code = *code;
}

/* A function that returns at once, in writable data. */
static void run_data(void)
{
#if defined(__x86_64__)
    static uint32_t code[] = { 0xc3 };
#elif defined(__aarch64__)
    static uint32_t code[] = { 0xd65f03c0 };
#else
    static uint32_t code[] = { 0x00008067 };
#endif
    void (*volatile function)(void) = (void (*)(void))(uintptr_t)code;

    code[0] += 0 * (uint32_t)fault[0]; /* not a constant */
    function();
}

void __wrap_efi_start(efi_handle image, struct efi_system_table *system)
{
    f.real = system->boot;
    f.boot = *system->boot;
    f.system = *system;
    f.system.boot = &f.boot;
    f.boot.handle_protocol = handle_protocol;
    f.boot.locate_protocol = locate_protocol;
    f.boot.allocate_pages = allocate_pages;
    if (is("no-uart"))
        forget_uart(system);
    if (is("write-code"))
        write_code();
    if (is("run-data"))
        run_data();
    __real_efi_start(image, &f.system);
}
