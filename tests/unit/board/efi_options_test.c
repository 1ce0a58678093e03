/* Boot options from a firmware of EFI: the file beside the program, and the load options. */
#include "board/efi/efi_parts.h"
#include "tests/unit/board/fakes/fake_efi.h"

enum { VOLUME = 20 };

static struct machine machine;

/* ---- a volume -------------------------------------------------------------------------------- */

static struct {
    struct efi_file_system system;
    struct efi_file root, file;
    const char *beside,
        *at_root;        /* contents of EFI/BOOT/ingot.txt and of ingot.txt; NULL: there is none */
    size_t beside_bytes; /* its length; 0: up to a NUL */
    const char *open;    /* bytes that are still to be read */
    size_t left;         /* their number */
    bool broken;         /* reads fail */
    int n_open;
} volume;

static bool is_name(const uint16_t *name, const char *wanted)
{
    size_t i = 0;

    while (wanted[i] != '\0' && name[i] == (uint8_t)wanted[i])
        i++;
    return wanted[i] == '\0' && name[i] == 0;
}

static efi_status EFI_API open_file(struct efi_file *folder, struct efi_file **file,
                                    const uint16_t *name, uint64_t mode, uint64_t attributes)
{
    (void)folder, (void)mode, (void)attributes;
    volume.open = is_name(name, "\\EFI\\BOOT\\ingot.txt") ? volume.beside
                  : is_name(name, "\\ingot.txt")          ? volume.at_root
                                                          : NULL;
    volume.left = volume.open == NULL                                        ? 0
                  : volume.open == volume.beside && volume.beside_bytes != 0 ? volume.beside_bytes
                                                                             : strlen(volume.open);
    *file = &volume.file;
    volume.n_open += volume.open != NULL;
    return volume.open != NULL ? EFI_SUCCESS : EFI_ERROR_BIT | 14;
}

static efi_status EFI_API close_file(struct efi_file *file)
{
    (void)file;
    volume.n_open--;
    return EFI_SUCCESS;
}

/* Seven bytes at a time. */
static efi_status EFI_API read_file(struct efi_file *file, uint64_t *bytes, void *to)
{
    size_t n = volume.left < 7 ? volume.left : 7;

    (void)file;
    if (volume.broken)
        return FAKE_ERROR;
    memcpy(to, volume.open, n);
    volume.open += n;
    volume.left -= n;
    *bytes = n;
    return EFI_SUCCESS;
}

static efi_status EFI_API open_volume(struct efi_file_system *fs, struct efi_file **root)
{
    (void)fs;
    volume.n_open++;
    *root = &volume.root;
    return EFI_SUCCESS;
}

/* ---- options --------------------------------------------------------------------------------- */

static struct efi_loaded_image image;

static void power_up(const char *beside, const char *at_root)
{
    fake_power_up();
    memset(&volume, 0, sizeof volume);
    volume.beside = beside;
    volume.at_root = at_root;
    volume.system.open_volume = open_volume;
    volume.root = (struct efi_file){ .open = open_file, .close = close_file };
    volume.file = (struct efi_file){ .close = close_file, .read = read_file };
    image = (struct efi_loaded_image){ .device = (efi_handle)VOLUME };
    fake_add(1, &efi_loaded_image_guid, &image);
    fake_add(VOLUME, &efi_file_system_guid, &volume.system);
}

static void load_options(const void *options, size_t bytes)
{
    image.options = options;
    image.options_bytes = (uint32_t)bytes;
}

static bool reads(const char *wanted)
{
    memset(&machine, 0, sizeof machine);
    efi_options_read(&machine);
    return strcmp(machine.args, wanted) == 0 && machine.args_bytes == strlen(wanted) &&
           volume.n_open == 0;
}

static void test_file(void)
{
    power_up("temp=0 ctx=512\r\nids", "temp=1");
    OK(reads("temp=0 ctx=512  ids"),
       "the file beside the program is read, and its lines are joined: '%s'", machine.args);
    power_up(NULL, "temp=1");
    OK(reads("temp=1"), "the file at the volume's root is read if none lies beside the program");
    power_up(NULL, NULL);
    OK(reads(""), "without a file there is no option");
    power_up("system=\"\xc3\xa4\"", NULL);
    OK(reads("system=\"\xc3\xa4\""), "UTF-8 is not changed");
    volume.broken = true;
    OK(reads(""), "a file that cannot be read gives no option");
}

static void power_up_wide(const char *bytes, size_t n)
{
    power_up(bytes, NULL);
    volume.beside_bytes = n;
}

/* Files that Notepad saves as "UTF-16". */
static void test_wide_file(void)
{
    static const char little[] = "\xff\xfet\0e\0m\0p\0=\0"
                                 "0\0\r\0\n\0\xe4\0\xac\x20\x3d\xd8\0\xde",
                      big[] = "\xfe\xff\0n\0=\0"
                              "4",
                      odd[] = "\xff\xfen\0=",
                      halves[] = "\xff\xfe"
                                 "a\0\0\0\0\xde" /* NUL, and a low half alone */
                                 "b\0\x3d\xd8"   /* a high half alone */
                                 "c\0\0\xde"
                                 "d";

    power_up_wide(little, sizeof little - 1);
    OK(reads("temp=0  \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "UTF-16 becomes UTF-8: '%s'",
       machine.args);
    power_up_wide(big, sizeof big - 1);
    OK(reads("n=4"), "so does UTF-16 with the high byte first: '%s'", machine.args);
    power_up_wide(odd, sizeof odd - 1);
    OK(reads("n"), "a half unit at the end is dropped: '%s'", machine.args);
    power_up_wide(halves, sizeof halves);
    OK(reads("a\xed\xb8\x80"
             "bc\xed\xb8\x80"
             "d"),
       "halves of a pair that stand alone make no pair: '%s'", machine.args);
    power_up_wide(little, 2);
    OK(reads(""), "a mark alone gives no option");
    power_up_wide("n=4\0 ids", 8);
    OK(reads("n=4 ids"), "NULs in the file are left out: '%s'", machine.args);
}

static void test_shell(void)
{
    static const uint16_t shell[] = u"ingot n=4", quoted[] = u"\"my dir\\ingot.efi\" n=4";

    power_up(NULL, NULL);
    load_options(shell, sizeof shell);
    OK(reads("ingot n=4"), "a boot manager gives only options: '%s'", machine.args);
    fake_add(1, &efi_shell_parameters_guid, &image);
    OK(reads(" n=4"), "a shell gives the name as it was typed: '%s'", machine.args);
    load_options(quoted, sizeof quoted);
    OK(reads(" n=4"), "a name in quotes is not an option: '%s'", machine.args);
}

static void test_load_options(void)
{
    static const uint16_t plain[] = u"temp=0 \u00e4\u20ac",
                          shell[] = u"FS0:\\EFI\\BOOT\\BOOTX64.EFI n=4", number[] = u"n=4\1";

    power_up("temp=1", NULL);
    load_options(plain, sizeof plain);
    OK(reads("temp=1 temp=0 \xc3\xa4\xe2\x82\xac"),
       "load options come after the file, and so win: '%s'", machine.args);
    power_up(NULL, NULL);
    load_options(shell, sizeof shell);
    OK(reads(" n=4"), "a shell's name of the program is not an option: '%s'", machine.args);
    load_options(number, sizeof number);
    OK(reads(""), "load options that are not text are ignored");
    load_options(plain, sizeof plain - 1);
    OK(reads(""), "load options with an odd number of bytes are not text");
    load_options(plain, 2 * 6);
    OK(reads("temp=0"), "text without a NUL at its end is read");
    fake_remove(1);
    OK(reads(""), "without a loaded image there is no option");
}

/* efibootmgr without --unicode writes ASCII, without a NUL. */
static void test_ascii(void)
{
    static const char even[] = "temp=0 n=4", odd[] = "BOOTX64.EFI n=4 ids\0", binary[] = "n=4\1a";

    power_up("temp=1", NULL);
    load_options(even, 10);
    OK(reads("temp=1 temp=0 n=4"), "ASCII is read: '%s'", machine.args);
    load_options(odd, sizeof odd);
    OK(reads("temp=1  n=4 ids"), "ASCII with NULs at its end is read, without a name: '%s'",
       machine.args);
    load_options(binary, 5);
    OK(reads("temp=1"), "binary data with letters is not text: '%s'", machine.args);
    load_options("\0\0", 2);
    OK(reads("temp=1"), "NULs alone are not text");
}

static void test_length(void)
{
    static char text[2 * sizeof machine.args];
    size_t most = sizeof machine.args - 1;

    memset(text, 'x', sizeof text - 1);
    text[most] = '\0';
    power_up(text, NULL);
    OK(reads(text), "%u bytes fit", (unsigned)most);
    text[most] = 'x';
    memset(&machine, 0, sizeof machine);
    efi_options_read(&machine);
    OK(machine.args_bytes > most && machine.args_limit == most && strlen(machine.args) == most,
       "bytes beyond the limit are counted and not kept");
}

int main(void)
{
    test_file();
    test_wide_file();
    test_load_options();
    test_shell();
    test_ascii();
    test_length();
    return tap_done();
}
