/* FAT32 over cards that mkfs.vfat and mtools made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/file_device.h"
#include "tests/unit/storage/fat32_rig.h"

static char folder[256];

/* Run a shell command in the folder; $CARD is the script. */
static bool shell(const char *command)
{
    char line[2048];

    snprintf(line, sizeof line,
             "PATH=$PATH:/usr/sbin:/sbin CARD=$PWD/tests/card.sh; "
             "export LC_ALL=C.UTF-8 MTOOLSRC=/dev/null; cd %s && { %s; } >log 2>&1",
             folder, command);
    return system(line) == 0;
}

static bool file_equals(const char *name)
{
    char path[512];
    FILE *f;
    static uint8_t expected[sizeof buffer];
    size_t n = 0;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (f != NULL) {
        n = fread(expected, 1, sizeof expected, f);
        fclose(f);
    }
    return f != NULL && n == file.bytes && n + 511 < sizeof buffer &&
           file_read_now(&reading, &file, 0, buffer, (n + 511) / 512 * 512) == ERR_OK &&
           memcmp(buffer, expected, n) == 0;
}

/* mkfs.fat makes FAT32 volumes with fewer than 65,536 sectors too, on request; such a volume has no
 * files here, because mtools takes it for FAT16. */
static void check_small(void)
{
    static struct file_device state;
    struct block_device dev;
    char path[512];
    unsigned n = 1;

    OK(shell("truncate -s 200M small.img && mkfs.vfat -F 32 -S 4096 small.img"),
       "the test has a volume of 51,200 sectors");
    snprintf(path, sizeof path, "%s/small.img", folder);
    OK(file_device_open(&state, path, 0, &dev) == ERR_OK && fat32_mount(&fs, &dev, NULL) == ERR_OK,
       "a volume of 51,200 sectors mounts: %s", fs.why != NULL ? fs.why : "");
    OK(fat32_count_models(&fs, &n) == ERR_OK && n == 0 &&
           fs.n_sectors == (200 << 20) / SECTOR_BYTES,
       "and has its size");
    file_device_close(&state);
}

static void check_card(const char *image, unsigned models, unsigned pieces)
{
    static struct file_device state;
    struct block_device dev;
    char path[512];
    unsigned n = 0;

    snprintf(path, sizeof path, "%s/%s", folder, image);
    OK(file_device_open(&state, path, 0, &dev) == ERR_OK && fat32_mount(&fs, &dev, NULL) == ERR_OK,
       "%s mounts", image);
    OK(fat32_count_models(&fs, &n) == ERR_OK && n == models, "the card has %u models", n);
    OK(fat32_find_model(&fs, "A", &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK && file.n_extents >= pieces,
       "a model is found by its name, in %u pieces", file.n_extents);
    OK(file_equals("a.ingot"), "the model's %u bytes are equal", (unsigned)file.bytes);
    if (models > 1) {
        OK(fat32_find_model(&fs, "GRÖßE 模型 long name", &entry) == ERR_OK &&
               fat32_open_file(&fs, &entry, &table, &file) == ERR_OK &&
               file_equals("größe 模型 long name.ingot"),
           "a model with a long name is found: %s", entry.name);
        OK(fat32_find_model(&fs, "boot/deep/notes.txt", &entry) == ERR_OK &&
               fat32_open_file(&fs, &entry, &table, &file) == ERR_OK && file_equals("notes"),
           "a path is found");
        OK(fat32_find_model(&fs, "/MODELS/A", &entry) == ERR_OK, "a path without .ingot is found");
        OK(fat32_find_model(&fs, "nothing", &entry) == ERR_NOT_FOUND,
           "a model that does not exist is reported: %s", fs.why);
        OK(fat32_find_model(&fs, "", &entry) == ERR_NOT_FOUND, "an empty name is not found");
        OK(get_model(models - 1, &entry) == ERR_OK && get_model(models, &entry) == ERR_NOT_FOUND,
           "the last model is found: %s", entry.name);
        OK(fat32_find_model(&fs, "empty.ingot", &entry) == ERR_OK && entry.bytes == 0 &&
               fat32_open_file(&fs, &entry, &table, &file) == ERR_OK,
           "an empty file opens");
    }
    file_device_close(&state);
}

static void test_cards(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/ingot-fat32-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
        return;
    }
    if (!shell("command -v mcopy && command -v mkfs.vfat")) {
        OK(true, "cards by mtools # SKIP mtools or dosfstools is not installed");
        return;
    }
    OK(shell("head -c 3000123 /dev/urandom >a.ingot; : >empty.ingot; echo text >notes;"
             "head -c 70001 /dev/urandom >'größe 模型 long name.ingot';"
             "for i in $(seq 200); do echo $i >model-number-$i.ingot; done;"
             "$CARD card.img --root notes:boot/deep/notes.txt *.ingot"),
       "card.sh makes a card");
    check_card("card.img", 203, 1);
    OK(shell("$CARD again.img --root notes:boot/deep/notes.txt *.ingot && "
             "cmp card.img again.img"),
       "card.sh makes the same bytes again");
    OK(shell("$CARD pieces.img --fragment a.ingot"), "the test has a card with a model in pieces");
    check_card("pieces.img", 1, 10);
    OK(shell("truncate -s 64M bare.img && mkfs.vfat -F 32 -s 1 bare.img && mmd -i"
             " bare.img ::MODELS && mcopy -i bare.img a.ingot ::MODELS/A.Ingot"),
       "the test has a volume without an MBR");
    check_card("bare.img", 1, 1);
    check_small();
    OK(!shell("$CARD x.img notes") && !shell("$CARD x.img no.ingot") &&
           !shell("$CARD x.img --size 9 a.ingot") && !shell("$CARD") && !shell("test -e x.img"),
       "bad calls make no card");
    shell("rm -r \"$PWD\"");
}

int main(void)
{
    test_cards();
    return tap_done();
}
