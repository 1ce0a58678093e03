/* Cards that flash_image/card writes, read by the image's own FAT32, by fsck.fat and by mtools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/file_device.h"
#include "flash_image/card/card_image.h"
#include "runtime/storage/fat32_proof.h"
#include "tests/unit/storage/fat32_rig.h"

static char folder[256];
static struct card_image card;
static struct card_layout layout;

/* Run a shell command in the folder. */
static bool shell(const char *command)
{
    char line[2048];

    snprintf(line, sizeof line,
             "PATH=$PATH:/usr/sbin:/sbin; export LC_ALL=C.UTF-8 MTOOLSRC=/dev/null; cd %s && { "
             "%s; } >log 2>&1",
             folder, command);
    return system(line) == 0;
}

static const char *in_folder(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static enum err add_text(const char *name, const char *text)
{
    return card_add_text(&card, name, text, strlen(text));
}

static enum err write_card(const char *name, uint64_t bytes, bool power_of_two)
{
    struct card_options o = {
        .bytes = bytes, .power_of_two = power_of_two, .time = 1735689600, .table = CARD_MBR
    };

    return card_image_write(&card, &o, in_folder(name), &layout);
}

static enum err write_disk(const char *name, uint64_t bytes, enum card_table partitions,
                           struct card_image *boot)
{
    struct card_options o = {
        .bytes = bytes, .time = 1735689600, .table = partitions, .boot = boot
    };

    return card_image_write(&card, &o, in_folder(name), &layout);
}

/* ---- what is on it --------------------------------------------------------------------------- */

enum { N_MODELS = 203 };

static void fill_card(void)
{
    char name[64];

    OK(add_text("kernel8.img", "image") == ERR_OK &&
           add_text("boot/CONFIG.TXT", "words") == ERR_OK &&
           add_text("boot/deep/notes.txt", "text\n") == ERR_OK &&
           add_text("boot/deep/more notes.txt", "more\n") == ERR_OK,
       "files and folders are added");
    OK(card_add_room(&card, "saves/chat.sav", 3 << 20) == ERR_OK,
       "room for a conversation is added");
    OK(card_add_file(&card, "models/a.ingot", in_folder("a")) == ERR_OK &&
           card_add_file(&card, "models/größe 模型 𝄞 long name.ingot", in_folder("b")) == ERR_OK &&
           add_text("models/empty.ingot", "") == ERR_OK,
       "models are added");
    for (int i = 0; i < N_MODELS - 3; i++) {
        snprintf(name, sizeof name, "models/model-number-%d.ingot", i);
        if (add_text(name, name) != ERR_OK) {
            OK(false, "a model is added: %s", card.error_message);
        }
    }
}

/* Whether the reader's file equals the host's, or a text. */
static bool reads_as(const char *name, const char *text)
{
    static uint8_t want[sizeof buffer];
    size_t n = strlen(text);

    memcpy(want, text, n);
    if (text[0] == '\0') {
        FILE *f = fopen(in_folder(name), "rb");

        n = f == NULL ? 0 : fread(want, 1, sizeof want, f);
        fclose(f);
    }
    return n == file.bytes && n + 511 < sizeof buffer &&
           file_read_now(&reading, &file, 0, buffer, (n + 511) / 512 * 512) == ERR_OK &&
           memcmp(buffer, want, n) == 0;
}

static bool opens(const char *name)
{
    return fat32_find_model(&fs, name, &entry) == ERR_OK &&
           fat32_open_file(&fs, &entry, &table, &file) == ERR_OK && file.n_extents == 1;
}

static struct fat32_proof proof;

static void check_reader(const char *image)
{
    static struct file_device state;
    struct block_device dev;
    unsigned n = 0;

    OK(file_device_open(&state, in_folder(image), 0, &dev) == ERR_OK &&
           fat32_mount(&fs, &dev, NULL) == ERR_OK && fat32_count_models(&fs, &n) == ERR_OK &&
           n == N_MODELS,
       "the card mounts, with %u models", n);
    OK(opens("a") && reads_as("a", ""), "a model lies in one piece, and its bytes are equal");
    OK(opens("GRÖßE 模型 𝄞 long name") && reads_as("b", ""),
       "a model with a long name is found: %s", entry.name);
    OK(opens("a") && fat32_prove_file(&proof, &fs, &entry, &file) == ERR_OK &&
           opens("GRÖßE 模型 𝄞 long name") &&
           fat32_prove_file(&proof, &fs, &entry, &file) == ERR_OK && opens("model-number-199") &&
           fat32_prove_file(&proof, &fs, &entry, &file) == ERR_OK,
       "the clusters of models are their own, by the bitmap too: %s",
       fs.why != NULL ? fs.why : "all");
    OK(opens("model-number-199") && reads_as("", "models/model-number-199.ingot"),
       "the last of many models is found: %s is %s", entry.name, entry.short_name);
    OK(opens("boot/deep/more notes.txt") && reads_as("", "more\n"), "a path opens");
    OK(opens("boot/CONFIG.TXT") && reads_as("", "words"), "a short name opens");
    OK(opens("saves/chat.sav") && file.bytes == 3 << 20, "the room for a conversation opens");
    file_device_close(&state);
}

static void check_others(void)
{
    if (!shell("command -v mdir && command -v fsck.fat")) {
        OK(true, "fsck.fat and mtools # SKIP mtools or dosfstools is not installed");
        return;
    }
    OK(shell("dd if=card.img of=volume bs=1M skip=1 && fsck.fat -n -v volume && "
             "! grep -qEi 'differ|wrong|bad|uninitialized|dirty' log"),
       "fsck.fat finds nothing wrong");
    OK(shell("mdir -i card.img@@1M -b ::models | sort >list; test $(wc -l <list) = 203; "
             "grep 'größe' list"),
       "mdir lists all models");
    OK(shell("mtype -i card.img@@1M ::models/a.ingot | cmp - a && "
             "mtype -i card.img@@1M ::boot/deep/notes.txt | grep text"),
       "mtype reads the files");
    OK(shell("mcopy -i card.img@@1M a ::new && mtype -i card.img@@1M ::new | cmp - a && "
             "dd if=card.img of=volume bs=1M skip=1 && fsck.fat -n volume"),
       "a file that is added later harms nothing");
}

static void test_card(void)
{
    struct stat about;

    OK(shell("head -c 3000123 /dev/urandom >a; head -c 70001 /dev/urandom >b"),
       "the test has files to add");
    card_image_open(&card, CARD_FAT32);
    fill_card();
    OK(write_card("card.img", 0, false) == ERR_OK && write_card("again.img", 0, false) == ERR_OK &&
           shell("cmp card.img again.img && ! test -e card.img.part"),
       "the same files give the same bytes twice: %s", card.error_message);
    check_reader("card.img");
    check_others();
    OK(write_card("two.img", 0, true) == ERR_OK && stat(in_folder("two.img"), &about) == 0 &&
           about.st_size == 64 << 20,
       "the image's size is a power of two");
    OK(write_card("big.img", 2304ull << 20, false) == ERR_OK && layout.cluster == 64 &&
           stat(in_folder("big.img"), &about) == 0 && about.st_size == 2304ll << 20 &&
           about.st_blocks * 512 < 16 << 20,
       "%llu KiB of an image of 2304 MiB are written", (unsigned long long)about.st_blocks / 2);
    OK(!shell("command -v fsck.fat") ||
           shell(
               "dd if=big.img of=volume bs=1M skip=1 conv=sparse status=none && fsck.fat -n volume"),
       "fsck.fat finds no fault");
    card_image_close(&card);
}

/* ---- exFAT, a GPT, and two partitions --------------------------------------------------------- */

/* Checks the tools' reports about partition n of the disk, which is `kind`. */
static void check_disk(const char *image, enum card_table partitions, int n, const char *kind)
{
    char line[512];

    snprintf(line, sizeof line, "command -v sgdisk && command -v fsck.%s", kind);
    if (!shell(line)) {
        OK(true, "fsck.%s and sgdisk # SKIP gdisk or the tools of %s are not installed", kind,
           kind);
        return;
    }
    if (partitions == CARD_GPT) {
        snprintf(line, sizeof line, "sgdisk -v %s && grep -q 'No problems found' log", image);
        OK(shell(line), "sgdisk finds nothing wrong in %s", image);
    }
    snprintf(
        line, sizeof line,
        "sgdisk -i %d %s >about; "
        "first=$(sed -n 's/First sector: \\([0-9]*\\).*/\\1/p' about); "
        "last=$(sed -n 's/Last sector: \\([0-9]*\\).*/\\1/p' about); "
        "dd if=%s of=volume conv=sparse status=none bs=512 skip=$first count=$((last-first+1)) && "
        "fsck.%s -n volume && ! grep -qEi 'error|corrupt|differ|wrong|dirty' log",
        n, image, image, kind);
    OK(shell(line), "fsck.%s finds nothing wrong in partition %d of %s", kind, n, image);
}

static void test_exfat(void)
{
    struct stat about;

    card_image_open(&card, CARD_EXFAT);
    fill_card();
    OK(write_disk("exfat.img", 0, CARD_MBR, NULL) == ERR_OK &&
           write_disk("exfat2.img", 0, CARD_MBR, NULL) == ERR_OK &&
           shell("cmp exfat.img exfat2.img"),
       "exFAT has the same bytes twice: %s", card.error_message);
    check_reader("exfat.img");
    check_disk("exfat.img", CARD_MBR, 1, "exfat");
    OK(write_disk("gpt.img", 0, CARD_GPT, NULL) == ERR_OK, "exFAT is written in a GPT: %s",
       card.error_message);
    check_reader("gpt.img");
    check_disk("gpt.img", CARD_GPT, 1, "exfat");
    OK(write_disk("huge.img", 3ull << 40, CARD_GPT, NULL) == ERR_OK && layout.cluster == 256 &&
           stat(in_folder("huge.img"), &about) == 0 && about.st_blocks * 512 < 16 << 20,
       "a disk of 3 TiB is written: %s", card.error_message);
    check_reader("huge.img");
    card_image_close(&card);
}

static void test_two_partitions(void)
{
    static const struct {
        enum card_table table;
        const char *name;
    } kinds[] = { { CARD_MBR, "two-mbr.img" }, { CARD_GPT, "two-gpt.img" } };
    struct card_image boot;

    card_image_open(&card, CARD_EXFAT);
    card_image_open(&boot, CARD_FAT32);
    fill_card();
    OK(card_add_text(&boot, "config.txt", "words\n", 6) == ERR_OK &&
           card_add_room(&boot, "start.elf", 50 << 20) == ERR_OK,
       "the test has a loader's files");
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        OK(write_disk(kinds[i].name, 0, kinds[i].table, &boot) == ERR_OK,
           "the disk %s is written %s", kinds[i].name, card.error_message);
        check_reader(kinds[i].name);
        check_disk(kinds[i].name, kinds[i].table, 1, "fat");
        check_disk(kinds[i].name, kinds[i].table, 2, "exfat");
    }
    OK(!shell("command -v mtype") || shell("mtype -i two-mbr.img@@1M ::config.txt | grep words"),
       "the first partition has the loader's files");
    card_image_close(&boot);
    card_image_close(&card);
}

/* Write a card with one file, and one of the loader, and return a number on it. */
static uint32_t number_of(enum card_format format, enum card_table kind, uint64_t offset,
                          const char *model, const char *loader)
{
    struct card_image boot;
    uint8_t number[4] = { 0 };
    FILE *f;

    card_image_open(&card, format);
    card_image_open(&boot, CARD_FAT32);
    (void)card_add_text(&boot, "config.txt", loader, strlen(loader));
    f = fopen(in_folder("model"), "wb");
    if (f != NULL) {
        (void)fputs(model, f);
        fclose(f);
    }
    (void)card_add_file(&card, "models/a.ingot", in_folder("model"));
    (void)write_disk("number.img", 0, kind, loader[0] != '\0' ? &boot : NULL);
    f = fopen(in_folder("number.img"), "rb");
    if (f != NULL) {
        (void)(fseek(f, (long)offset, SEEK_SET) == 0 && fread(number, 1, sizeof number, f) == 4);
        fclose(f);
    }
    card_image_close(&boot);
    card_image_close(&card);
    return number[0] | (uint32_t)number[1] << 8 | (uint32_t)number[2] << 16 |
           (uint32_t)number[3] << 24;
}

/* A board tells cards of one size apart by these numbers (board/drivers/usb/usb_scsi.c). */
static void test_numbers(void)
{
    enum { MIB = 1 << 20 };
    static const struct {
        enum card_format format;
        enum card_table table;
        uint64_t offset;
        const char *name;
    } rows[] = {
        { CARD_FAT32, CARD_MBR, 440, "an MBR's signature" },
        { CARD_FAT32, CARD_GPT, CARD_SECTOR + 56, "a GPT's GUID" },
        { CARD_FAT32, CARD_MBR, MIB + 67, "a FAT32's serial number" },
        { CARD_EXFAT, CARD_MBR, MIB + 100, "an exFAT's serial number" },
    };

    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t first = number_of(rows[i].format, rows[i].table, rows[i].offset, "one model", "");

        OK(first != 0 &&
               first == number_of(rows[i].format, rows[i].table, rows[i].offset, "one model", ""),
           "%s is the same for the same files", rows[i].name);
        OK(first != number_of(rows[i].format, rows[i].table, rows[i].offset, "two model", ""),
           "%s is another for another model of the same size", rows[i].name);
    }
    OK(number_of(CARD_EXFAT, CARD_MBR, 440, "one model", "a=1") !=
           number_of(CARD_EXFAT, CARD_MBR, 440, "one model", "a=2"),
       "and for other words of the loader");
}

/* Files of 4 GiB and more: a tail of bytes that a reader must find, and zeros before it. */
static void test_long_file(void)
{
    static struct file_device state;
    struct block_device dev;
    uint64_t bytes = (4ull << 30) + 512;

    card_image_open(&card, CARD_EXFAT);
    OK(shell("truncate -s 4G long && head -c 512 a >>long") &&
           card_add_file(&card, "models/long.ingot", in_folder("long")) == ERR_OK &&
           add_text("models/after.ingot", "after") == ERR_OK &&
           write_disk("long.img", 0, CARD_GPT, NULL) == ERR_OK,
       "a file of more than 4 GiB is added %s", card.error_message);
    if (getenv("INGOT_LONG") != NULL) { /* as many bytes are copied */
        check_disk("long.img", CARD_GPT, 1, "exfat");
    }
    OK(file_device_open(&state, in_folder("long.img"), 0, &dev) == ERR_OK &&
           fat32_mount(&fs, &dev, NULL) == ERR_OK && opens("long") && file.bytes == bytes &&
           file_read_now(&reading, &file, bytes - 512, buffer, 512) == ERR_OK,
       "the long file has its length");
    {
        static uint8_t want[512];
        FILE *f = fopen(in_folder("a"), "rb");

        OK(f != NULL && fread(want, 1, sizeof want, f) == sizeof want &&
               memcmp(buffer, want, sizeof want) == 0,
           "the file's last bytes are right");
        if (f != NULL) {
            fclose(f);
        }
    }
    OK(opens("after") && reads_as("", "after"), "the file after the long one is whole");
    file_device_close(&state);
    card_image_close(&card);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(enum err e, enum err want, const char *text)
{
    OK(e == want && strstr(card.error_message, text) != NULL, "the card is refused: %s",
       card.error_message);
}

static void test_refused(void)
{
    char longest[300];

    card_image_open(&card, CARD_FAT32);
    OK(add_text("models/x.ingot", "x") == ERR_OK, "a model is added");
    refused(add_text("models/X.INGOT", "x"), ERR_BAD_ARGUMENT, "two files on the card are called");
    refused(add_text("models/x.ingot/y", "x"), ERR_BAD_ARGUMENT, "a file and a folder");
    refused(add_text("a:b", "x"), ERR_BAD_ARGUMENT, "'a:b' is not a name for a card");
    refused(add_text("a\xff", "x"), ERR_BAD_ARGUMENT, "not UTF-8");
    refused(add_text("a.", "x"), ERR_BAD_ARGUMENT, "ends in a dot");
    refused(add_text("", "x"), ERR_BAD_ARGUMENT, "empty");
    memset(longest, 'x', 256);
    longest[256] = '\0';
    refused(add_text(longest, "x"), ERR_BAD_ARGUMENT, "255");
    refused(card_add_file(&card, "y", "/no/such"), ERR_NOT_FOUND, "/no/such: No such file");
    refused(card_add_room(&card, "z", 1ull << 32), ERR_NO_SPACE, "shorter than 4 GiB");
    card_image_close(&card);

    card_image_open(&card, CARD_FAT32);
    card_add_room(&card, "a", 100 << 20);
    refused(write_card("small.img", 64 << 20, false), ERR_NO_SPACE,
            "its contents need 102M, but it has 64M");
    refused(write_card("no/such.img", 0, false), ERR_IO,
            "no/such.img: cannot be written: No such file");
    OK(!shell("ls small.img*"), "no temporary file is left");
    OK(write_card("fits.img", 102 << 20, false) == ERR_OK, "the needed size is enough");
    card_image_close(&card);
}

/* Names that share their first eight characters, and one without any character of FAT's. */
static void test_short_names(void)
{
    static const char *const names[] = { "LONG~1.TXT", "longer name.txt", "longer nome.txt",
                                         "模型",       "a.b.c",           ".hidden" };
    uint32_t n = sizeof names / sizeof names[0];
    bool apart = true;

    card_image_open(&card, CARD_FAT32);
    for (uint32_t i = 0; i < n; i++) {
        OK(add_text(names[i], "x") == ERR_OK, "%s is %.11s", names[i],
           (const char *)card.entries[i + 1].short_name);
        for (uint32_t k = 1; k <= i; k++) {
            apart &= memcmp(card.entries[k].short_name, card.entries[i + 1].short_name, 11) != 0;
        }
    }
    OK(apart, "no two short names are equal");
    OK(memcmp(card.entries[2].short_name, "LONGER~1TXT", 11) == 0 &&
           memcmp(card.entries[3].short_name, "LONGER~2TXT", 11) == 0,
       "short names that would be equal are numbered");
    card_image_close(&card);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/ingot-card-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        OK(false, "a scratch folder like %s can be made: set TMPDIR", folder);
        return tap_done();
    }
    test_card();
    test_exfat();
    test_two_partitions();
    test_numbers();
    test_long_file();
    test_refused();
    test_short_names();
    shell("rm -r \"$PWD\"");
    return tap_done();
}
