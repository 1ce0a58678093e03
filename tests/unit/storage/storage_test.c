/* Which model is found where, on a platform made up for the test. */
#include "flash_image/format/signature.h"
#include "runtime/storage/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/memory_device.h"
#include "flash_image/format/format.h"
#include "tests/unit/storage/storage_rig.h"

static void test_nothing(void)
{
    start_over();
    OK(find("") == ERR_NO_DEVICE && says("no card, flash or initrd found", "make card"),
       "a board without storage is told how to make a card: %s", storage.error_message);
    OK(find("flash") == ERR_NO_DEVICE && says("no flash found", "make card"),
       "a missing flash is reported: %s", storage.error_message);
    OK(find("initrd") == ERR_NO_DEVICE && says("no initrd found", ""),
       "a missing initrd is reported: %s", storage.error_message);
    attach(&flash);
    OK(find("") == ERR_NO_DEVICE, "erased flash has no model: %s", storage.error_message);
    OK(find("a") == ERR_NO_DEVICE && says("no a found", ""),
       "a name is reported on a board without a model: %s", storage.error_message);
    OK(find("flash") == ERR_BAD_MAGIC && says("flash bank 1", "first byte"),
       "erased flash is reported if it is asked for: %s", storage.error_message);
}

/* A raw file may have a signature behind the end that its header gives, as far as there is room. */
static uint64_t signed_bytes(uint64_t bytes, uint64_t room)
{
    uint64_t whole = bytes + signature_block_bytes(SIGNATURE_MOST_PARTS);

    return whole < room ? whole : room;
}

static void test_raw(void)
{
    start_over();
    attach(&flash);
    put_ingot(flash_memory, MODEL_BYTES);
    OK(find("") == ERR_OK && file.bytes == signed_bytes(MODEL_BYTES, FLASH_BYTES) &&
           file_memory(&file, 0, MODEL_BYTES) == flash_memory,
       "a model in flash is used where it lies, with room for a signature");
    OK(strcmp(file.name, "flash bank 1") == 0, "the model in flash is named %s", file.name);
    OK(strstr(console, "flash bank 1, 64.0 KiB, used in place") != NULL,
       "the log tells that the model is used in place");
    put_ingot(flash_memory, UINT64_MAX);
    OK(find("flash") == ERR_OK && file.bytes == FLASH_BYTES,
       "a header that names more bytes than flash has gets the flash's size");
    put_ingot(flash_memory, MODEL_BYTES);
    platform.memory.initrd.base = initrd_memory;
    platform.memory.initrd.bytes = FLASH_BYTES - 700;
    put_ingot(initrd_memory, 2 * 4096);
    OK(find("") == ERR_OK && file_memory(&file, 0, 1) == initrd_memory &&
           file.bytes == signed_bytes(2 * 4096, (FLASH_BYTES - 700) / 512 * 512),
       "an initrd comes before flash");
    OK(find("flash") == ERR_OK && file_memory(&file, 0, 1) == flash_memory,
       "flash can be asked for");
    OK(find("initrd") == ERR_OK && file_memory(&file, 0, 1) == initrd_memory,
       "the initrd can be asked for");
    initrd_memory[2] = 0;
    OK(find("") == ERR_BAD_MAGIC && says("initrd holds no .ingot", ""),
       "an initrd without a model is reported: %s", storage.error_message);
    platform.memory.initrd.bytes = 100;
    OK(find("") == ERR_OK && file_memory(&file, 0, 1) == flash_memory,
       "an initrd of less than a sector is ignored");
}

/* The directory has b before a. */
static void test_order(void)
{
    uint8_t *directory = volume_cluster(20), kept[64];

    start_over();
    attach(&card.dev);
    memcpy(kept, directory, 64);
    memcpy(directory, directory + 64, 64);
    memcpy(directory + 64, kept, 64);
    OK(find("") == ERR_OK && file_is(100, MODEL_BYTES) &&
           strstr(console, "models/a.ingot") < strstr(console, "models/b.ingot"),
       "the first model by name is taken, whatever was copied first");
    memcpy(directory + 64, directory, 64);
    memcpy(directory, kept, 64);
    OK(fat32_compare_names("B.ingot", "a.ingot") > 0 && fat32_compare_names("a", "A") > 0 &&
           fat32_compare_names("a", "ab") < 0 && fat32_compare_names("A", "b") < 0 &&
           fat32_compare_names("x-1", "x-1") == 0,
       "names are compared without their case first");
}

static void test_card(void)
{
    start_over();
    attach(&card.dev);
    attach(&flash);
    put_ingot(flash_memory, MODEL_BYTES);
    OK(find("") == ERR_OK && file_is(100, MODEL_BYTES) && file.device == &card.dev,
       "a card comes before flash, and its first model is taken");
    OK(strstr(console, "models/a.ingot, 12.0 KiB") != NULL &&
           strstr(console, "models/b.ingot, 4.00 KiB") != NULL,
       "several models are logged");
    OK(file.timeout.platform == &platform && file.timeout.limit_ticks == 5 * platform.clock.hz,
       "a card has five seconds to answer");
    OK(find("models/b.ingot") == ERR_OK && file_is(200, 4096), "a path is found");
    OK(find("B") == ERR_OK && file_is(200, 4096), "a name is found");
    OK(strcmp(file.name, "b.ingot") == 0, "the file is named %s", file.name);
    OK(find("notes.txt") == ERR_NOT_FOUND && says("no model notes.txt", "/models"),
       "a file that is not a model is reported: %s", storage.error_message);
    OK(find("initrd") == ERR_NO_DEVICE, "initrd is not looked for on cards: %s",
       storage.error_message);
    OK(find("flash") == ERR_OK && file.device == &flash, "flash is asked for");
    OK(find("models/../") == ERR_NOT_FOUND, "a path that leaves the folder is refused: %s",
       storage.error_message);
}

static void test_several(void)
{
    start_over();
    attach(&card.dev);
    attach(&second.dev);
    attach(&flash);
    card.fail_sector = 0;
    card.fail_times = 1000;
    OK(find("") == ERR_OK && file.device == &second.dev,
       "the next device is found behind a failing card");
    OK(strstr(console, "the first card: ") != NULL && strstr(console, err_text(ERR_IO)) != NULL,
       "the failure of the first card is logged");
    put_card(false);
    card.fail_times = 1000;
    OK(find("") == ERR_NOT_FOUND && says("no model", "models/"),
       "a board whose cards have no model is told so: %s", storage.error_message);
    put_ingot(flash_memory, MODEL_BYTES);
    card.fail_times = 1000;
    OK(find("") == ERR_OK && file.device == &flash, "flash is the last to be looked at");

    start_over();
    attach(&card.dev);
    memset(volume, 0, 512);
    OK(find("") == ERR_NO_FILESYSTEM && says("the first card: ", "FAT32"),
       "a card without FAT32 is reported: %s", storage.error_message);
    start_over();
    attach(&card.dev);
    card.silent = true;
    OK(find("") == ERR_TIMEOUT && says("the first card: ", err_text(ERR_TIMEOUT)),
       "a card that stays silent is reported: %s", storage.error_message);
}

static char listed[1024];
static void list_one(void *context, const char *name, uint64_t bytes)
{
    size_t n = strlen(listed);

    (void)context;
    snprintf(listed + n, sizeof listed - n, "%s %u\n", name, (unsigned)bytes);
}

/* The places come in their order, in whatever order the board found them. */
static void test_places(void)
{
    struct fake_block third;

    start_over();
    fake_init(&third, volume, VOLUME_SECTORS);
    third.dev.name = "a drive";
    attach(&flash);
    put_ingot(flash_memory, MODEL_BYTES);
    attach(&second.dev);
    attach(&card.dev);
    attach(&third.dev);
    card.dev.kind = BLOCK_USB;
    third.dev.kind = BLOCK_NVME;
    OK(find("") == ERR_OK && file.device == &third.dev && strcmp(file.name, "a.ingot") == 0,
       "an NVMe drive comes first");
    OK(find("b") == ERR_OK && file.device == &third.dev,
       "a model of the NVMe drive is found by name as well");
    OK(find("usb:b") == ERR_OK && file.device == &card.dev && file_is(200, 4096) &&
           strcmp(file.name, "usb:b.ingot") == 0,
       "a model of the USB drive is found if the drive is named: %s", file.name);
    OK(find(file.name) == ERR_OK && file.device == &card.dev,
       "a model is found again by the name that it was given");
    OK(find("usb:models/b.ingot") == ERR_OK && file.device == &card.dev,
       "a path on the named drive is found");
    OK(find("card:") == ERR_OK && file.device == &second.dev && file_is(100, MODEL_BYTES),
       "the first model of the named card is found: %s", file.name);
    OK(find("usb:zzz") == ERR_NOT_FOUND && says("the USB drive has no model zzz", "/models"),
       "a model that the named drive does not have is reported: %s", storage.error_message);
    OK(find("usb:flash") == ERR_NOT_FOUND && find("flash") == ERR_OK && file.device == &flash,
       "flash is found only under its own name");
    card.dev.started = true;
    OK(find("") == ERR_OK && file.device == &card.dev && find("b") == ERR_OK &&
           file.device == &card.dev && find("nvme:b") == ERR_OK && file.device == &third.dev,
       "the drive from which the firmware started Ingot comes before NVMe");
    card.dev.started = false;
    third.fail_sector = 0;
    third.fail_times = 100000;
    OK(find("nvme:a") == ERR_IO && says("a drive: ", ""),
       "no other drive is searched if the named one fails: %s", storage.error_message);
    OK(find("a") == ERR_OK && file.device == &card.dev, "a USB drive comes after NVMe");
    third.fail_times = 0;
    listed[0] = '\0';
    OK(storage_list_models(&storage, list_one, NULL) == ERR_OK &&
           strcmp(listed, "nvme:a.ingot 12288\nnvme:b.ingot 4096\nusb:a.ingot 12288\nusb:b.ingot "
                          "4096\ncard:a.ingot 12288\ncard:b.ingot 4096\n") == 0,
       "the list names the drives of the models");
    third.fail_times = 100000;
    card.fail_sector = 0;
    card.fail_times = 100000;
    listed[0] = '\0';
    OK(storage_list_models(&storage, list_one, NULL) == ERR_OK &&
           strcmp(listed, "a.ingot 12288\nb.ingot 4096\n") == 0,
       "the list does not name the drive if only one can be read");
    n_attached = 2;
    OK(find("usb:a") == ERR_NO_DEVICE && says("there is no USB drive: attach one", "usb:"),
       "a missing USB drive is reported: %s", storage.error_message);
    third.dev.error_message = "its blocks are odd";
    attached[n_attached++] = &third.dev;
    OK(find("nvme:a") == ERR_NO_DEVICE && says("a drive: its blocks are odd", ""),
       "a drive that cannot be used is reported with its reason: %s", storage.error_message);
}

static enum err find_save(const char *name, uint64_t bytes)
{
    struct storage_setup setup = { .platform = &platform };

    storage_open(&storage, &setup);
    return storage_find_save(&storage, name, bytes, &table, &file);
}

/* Adds a file to saves/ as entry i. name83: as the directory has it; lower: it is shown in small
 * letters. */
static void put_save(unsigned i, const char *name83, bool lower, uint32_t bytes)
{
    uint8_t *entry = volume_cluster(30) + (size_t)i * 32;

    memcpy(entry, name83, 11);
    entry[12] = lower ? 0x18 : 0;
    put_le(entry + 26, 300, 2);
    put_le(entry + 28, bytes, 4);
}

/* A card whose saves/ holds chat.sav of 1 KiB. */
static void put_saves(void)
{
    volume_entries = 2; /* after notes and models */
    volume_add("SAVES      ", 0x10, 30, 0);
    volume_link(30, VOLUME_END);
    memset(volume_cluster(30), 0, 512);
    put_save(0, "CHAT    SAV", true, 1024);
    volume_chain(300, 2);
}

/* The recommended card has all conversations of this one, and room for the largest. */
static void test_advised_names(void)
{
    char name83[24];

    start_over();
    attach(&card.dev);
    OK(find_save("trip", 5 << 20) == ERR_NOT_FOUND &&
           says("SAVE=5 NAMES=chat,trip` makes a card with it", ""),
       "a card without saves is told how to get them: %s", storage.error_message);
    put_saves();
    put_save(1, "LEARN   SAV", true, (40 << 20) + 1);
    put_save(2, "NOTES   TXT", true, 1024);
    put_save(3, "SAV        ", true, 1024);
    put_save(4, "DIARY   SAV", false, 1024);
    put_save(5, "MY TRIP SAV", true, 1024);
    OK(find_save("trip", 5 << 20) == ERR_NOT_FOUND &&
           says("SAVE=41 NAMES=chat,learn,DIARY,mytrip,trip` makes a card with it", "") &&
           says("a file of 5 MiB of zeros there", ""),
       "the advice names all saves, and the new one: %s", storage.error_message);
    put_save(0, "TRIP    SAV", true, 1024);
    put_save(1, "SAVES   TXT", true, 0);
    volume_cluster(30)[64] = 0;
    OK(find_save("chat", 5 << 20) == ERR_NOT_FOUND && says("SAVE=5 NAMES=trip,chat`", ""),
       "the advice names chat if it is the new one: %s", storage.error_message);
    for (unsigned i = 0; i < 16; i++) {
        snprintf(name83, sizeof name83, "SAVE%04uSAV", i);
        put_save(i, name83, true, 1024);
    }
    OK(find_save("trip", 5 << 20) == ERR_NOT_FOUND && says("NAMES=save0000,save0001,", "") &&
           says("save0012,...,trip` makes a card with it", "zeros there"),
       "more names than the advice has room for are cut: %s", storage.error_message);
}

/* The card is changed on a computer while the file is open. */
static void check_places(void)
{
    OK(storage_check_place(&storage, &file) == ERR_OK, "a file that did not move is in its place");
    table.extents[0].sector++;
    OK(storage_check_place(&storage, &file) == ERR_NOT_FOUND &&
           says("saves/chat.sav is no longer where it was", "the board starts again"),
       "a file in other clusters is not: %s", storage.error_message);
    table.extents[0].sector--;
    file.bytes--;
    OK(storage_check_place(&storage, &file) == ERR_NOT_FOUND, "nor is one of another size");
    file.bytes++;
    file_set_name(&file, "saves/gone.sav");
    OK(storage_check_place(&storage, &file) == ERR_NOT_FOUND && says("saves/gone.sav is no", ""),
       "nor is one that is gone");
}

static void test_saves(void)
{
    start_over();
    attach(&card.dev);
    OK(find_save("chat", (5 << 20) + 1) == ERR_NOT_FOUND &&
           says("no saves/chat.sav", "`make card BOARD=made up SAVE=6` makes a card with it") &&
           says("a file of 6 MiB of zeros", ""),
       "a card without room for conversations is reported: %s", storage.error_message);
    put_saves();
    OK(find_save("chat", 1000) == ERR_OK && file_is(300, 1024) &&
           strcmp(file.name, "saves/chat.sav") == 0,
       "saves/chat.sav is found");
    check_places();
    OK(find_save("trip", 5 << 20) == ERR_NOT_FOUND &&
           says("no saves/trip.sav", "`make card BOARD=made up SAVE=5 NAMES=chat,trip`"),
       "a save of another name is reported: %s", storage.error_message);
    OK(find_save("trip", 0) == ERR_NOT_FOUND && says("nothing was saved as trip", ""),
       "a save that was never made is reported when it is loaded: %s", storage.error_message);
    {
        static uint8_t
            bare[sizeof volume]; /* a drive with a file system and no saves, which comes first */

        put_card(true);
        memcpy(bare, volume, sizeof bare);
        put_saves();
        fake_init(&second, bare, VOLUME_SECTORS);
        second.dev.kind = BLOCK_NVME;
        attach(&second.dev);
        OK(find_save("chat", 1000) == ERR_OK && file.device == &card.dev,
           "a save is found on the second device");
    }
    OK(find_save("../x", 0) == ERR_BAD_ARGUMENT && says("letters, digits", ""),
       "a name of a save with other characters is refused: %s", storage.error_message);
#define LETTERS "0123456789012345678901234567890123456789"
    OK(find_save(LETTERS, 0) == ERR_NOT_FOUND && find_save(LETTERS "0", 0) == ERR_BAD_ARGUMENT &&
           says("up to 40", ""),
       "a name of 40 letters is taken, one of 41 is refused: %s", storage.error_message);
#undef LETTERS
}

/* ---- memory that DMA does not reach ---- */

static _Alignas(4096) uint8_t ram[4 * BOUNCE_BYTES];
static struct memory_range memory; /* of models */

static void open_over(struct memory_range models, uint64_t dma_end)
{
    struct storage_setup setup = { .platform = &platform, .memory = &memory, .log = keep_line };

    memory = models;
    card.dev.dma_end = dma_end;
    storage_open(&storage, &setup);
}

static struct memory_range part(unsigned first, unsigned n)
{
    return (struct memory_range){ ram + (size_t)first * BOUNCE_BYTES, (size_t)n * BOUNCE_BYTES };
}

static uint64_t end_of(unsigned n)
{
    return (uintptr_t)ram + (uint64_t)n * BOUNCE_BYTES;
}

/* For the first device, which must be the card behind a bounce. */
static bool is_through(const uint8_t *place)
{
    const struct bounce *b = storage_bounce(storage.devices[0]);

    return b == &storage.bounces[0] && b->inner == &card.dev && b->memory == place;
}

static void test_bounce(void)
{
    struct file_read read;
    char said[160];

    start_over();
    attach(&card.dev);
    open_over(part(0, 4), end_of(2));
    OK(is_through(ram) && memory.base == ram + BOUNCE_BYTES && memory.bytes == 3 * BOUNCE_BYTES,
       "a bounce is cut from the models' memory if DMA ends within it");
    snprintf(said, sizeof said,
             "DMA ends at 0x%llx: what lies beyond goes through 2 x 256 KiB at "
             "0x%llx, each byte copied once\n",
             (unsigned long long)end_of(2), (unsigned long long)(uintptr_t)ram);
    OK(strstr(console, said) != NULL, "the log tells where DMA ends: %s", console);
    OK(storage_find_model(&storage, "a", &table, &file) == ERR_OK &&
           file_read_now(&read, &file, 0, part(3, 1).base, 4096) == ERR_OK &&
           memcmp(part(3, 1).base, volume_cluster(100), 4096) == 0 &&
           storage.bounces[0].copied == 4096,
       "a model is read through the bounce");
    platform.memory.spare[0] = part(3, 1);
    platform.memory.spare[1] = part(0, 1);
    open_over(part(1, 2), end_of(1));
    OK(is_through(ram) && memory.base == part(1, 2).base && memory.bytes == 2 * BOUNCE_BYTES,
       "RAM beside the models' memory is taken first if it is within reach");
    platform.storage.needs_cpu = true;
    open_over(part(1, 2), end_of(1));
    OK(is_through(ram) && io_core_of(storage.devices[0]) != NULL,
       "a core may serve the card and its bounce");
    for (enum block_kind kind = BLOCK_NVME; kind <= BLOCK_USB; kind++) {
        card.dev.kind = kind;
        open_over(part(1, 2), end_of(1));
        OK(is_through(ram) && io_core_of(storage.devices[0]) == NULL,
           "only core 0 serves a drive of kind %d and its bounce", kind);
    }
    platform.storage.needs_cpu = false;
}

static void test_no_bounce(void)
{
    start_over();
    attach(&card.dev);
    open_over(part(0, 4), end_of(4));
    OK(storage.devices[0] == &card.dev && storage_bounce(&card.dev) == NULL &&
           memory.bytes == sizeof ram && strstr(console, "DMA") == NULL,
       "the driver's device stays if DMA reaches all of the models' memory");
    open_over(part(0, 4), 0);
    OK(storage.devices[0] == &card.dev && memory.bytes == sizeof ram,
       "DMA without an end needs no bounce");
    open_over(part(1, 3), end_of(1));
    OK(storage.devices[0] == &card.dev && memory.bytes == 3 * BOUNCE_BYTES &&
           strstr(console, "no memory below is free") != NULL,
       "a lack of memory within reach is reported: %s", console);
    card.dev.error_message = "there is no card in the slot";
    console[0] = '\0';
    open_over(part(0, 4), end_of(2));
    OK(storage.devices[0] == &card.dev && strstr(console, "DMA") == NULL,
       "an empty slot gets no bounce");
}

int main(void)
{
    test_nothing();
    test_raw();
    test_order();
    test_card();
    test_several();
    test_places();
    test_saves();
    test_advised_names();
    test_bounce();
    test_no_bounce();
    return tap_done();
}
