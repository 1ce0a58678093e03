/* Reads boot arguments. A person writes arguments into ingot.txt on the volume from which the
 * program was started, in the syntax of cmdline.txt. A boot manager may add load options (UEFI
 * 2.10, 3.1.3 and 9.1), which are appended and so take precedence. */
#include <string.h>

#include "board/efi/efi_call.h"
#include "board/efi/efi_parts.h"

static const uint16_t beside[] = u"\\EFI\\BOOT\\ingot.txt";
static const uint16_t at_root[] = u"\\ingot.txt";

static void add(struct machine *machine, char c)
{
    if (machine->args_bytes + 1 < sizeof machine->args)
        machine->args[machine->args_bytes] = c;
    machine->args_bytes++;
}

/* Add a character in UTF-8. Line ends become blanks, so that all options are on one line. */
static void add_character(struct machine *machine, uint32_t c)
{
    if (c == '\n' || c == '\r' || c == '\t')
        c = ' ';
    if (c < 0x80) {
        add(machine, (char)c);
    } else if (c < 0x800) {
        add(machine, (char)(0xc0 | c >> 6));
        add(machine, (char)(0x80 | (c & 0x3f)));
    } else {
        add(machine, (char)(c < 0x10000 ? 0xe0 | c >> 12 : 0xf0 | c >> 18));
        if (c >= 0x10000)
            add(machine, (char)(0x80 | (c >> 12 & 0x3f)));
        add(machine, (char)(0x80 | (c >> 6 & 0x3f)));
        add(machine, (char)(0x80 | (c & 0x3f)));
    }
}

/* A text file that is being read. It is in UTF-8, or in UTF-16 with a byte order mark, as some
 * Windows programs save it. */
struct text {
    uint64_t n;        /* number of bytes so far */
    uint32_t previous; /* the byte before */
    uint32_t high;     /* the first half of a surrogate pair, or 0 */
    bool is_wide;      /* UTF-16 */
    bool is_big;       /* with the high byte first */
};

static void add_unit(struct machine *machine, struct text *t, uint32_t unit)
{
    bool is_high = unit >= 0xd800 && unit < 0xdc00;

    if (t->high != 0 && unit >= 0xdc00 && unit < 0xe000)
        unit += 0x10000 - 0xdc00 + ((t->high - 0xd800) << 10);
    t->high = is_high ? unit : 0;
    if (unit != 0 && !is_high)
        add_character(machine, unit);
}

static void add_byte(struct machine *machine, struct text *t, uint8_t byte)
{
    uint32_t previous = t->previous;

    t->n++;
    t->previous = byte;
    if (t->is_wide && t->n % 2 == 0) {
        add_unit(machine, t, t->is_big ? previous << 8 | byte : (uint32_t)byte << 8 | previous);
    } else if (t->n == 2 && (previous ^ byte) == 1 && (previous & byte) == 0xfe) {
        t->is_wide = true;
        t->is_big = byte == 0xff;
        machine->args[--machine->args_bytes] = '\0'; /* the mark's first byte is not text */
    } else if (!t->is_wide && byte != '\0') {
        add(machine, (char)(byte == '\n' || byte == '\r' ? ' ' : byte));
    }
}

static bool read_file(struct machine *machine, struct efi_file *root, const uint16_t *name)
{
    struct efi_file *file;
    struct text text = { 0 };
    uint8_t bytes[256];
    uint64_t n = 0;

    if (efi_failed(EFI_CALL(root->open(root, &file, name, EFI_FILE_READ, 0))))
        return false;
    do {
        n = sizeof bytes;
        if (efi_failed(EFI_CALL(file->read(file, &n, bytes))))
            break;
        for (uint64_t i = 0; i < n; i++)
            add_byte(machine, &text, bytes[i]);
    } while (n != 0 && machine->args_bytes < sizeof machine->args);
    (void)EFI_CALL(file->close(file));
    return true;
}

static void read_volume(struct machine *machine, efi_handle device)
{
    struct efi_file_system *fs = efi_protocol_of(device, &efi_file_system_guid);
    struct efi_file *root;

    if (fs == NULL || efi_failed(EFI_CALL(fs->open_volume(fs, &root))))
        return;
    if (!read_file(machine, root, beside))
        (void)read_file(machine, root, at_root);
    (void)EFI_CALL(root->close(root));
}

/* Load options: UTF-16 as a rule. efibootmgr writes ASCII if it is called without --unicode. */
struct load_options {
    const uint8_t *bytes;
    size_t n; /* units */
    bool is_narrow;
};

static uint16_t unit_at(const struct load_options *o, size_t i)
{
    if (o->is_narrow)
        return o->bytes[i];
    return (uint16_t)(o->bytes[2 * i] | o->bytes[2 * i + 1] << 8);
}

/* True if the load options are ASCII: an option has letters, so in UTF-16 it has a zero byte. NULs
 * may follow. */
static bool is_ascii(const uint8_t *bytes, size_t n)
{
    while (n != 0 && bytes[n - 1] == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] < ' ' || bytes[i] > '~')
            return false;
    return n != 0;
}

/* Return the number of units of the text in load options, up to a NUL; 0 if the load options
 * are not printable, because a boot manager may keep binary data there. */
static size_t text_units(const struct load_options *o)
{
    for (size_t i = 0; i < o->n; i++) {
        uint16_t unit = unit_at(o, i);

        if (unit == 0)
            return i;
        if (unit < ' ' || unit >= 0xd800)
            return 0;
    }
    return o->n;
}

/* Return where the first word ends, which may be in quotes. */
static size_t word_end(const struct load_options *o)
{
    bool quoted = o->n != 0 && unit_at(o, 0) == '"';
    size_t end = quoted;

    while (end < o->n && unit_at(o, end) != (quoted ? '"' : ' '))
        end++;
    return quoted && end < o->n ? end + 1 : end;
}

/* Skip the first word if it is the program's name, which shells put there as it was typed: in
 * quotes, or without .efi. A boot manager does not put it there. */
static size_t after_name(const struct load_options *o)
{
    static const char suffix[] = ".efi";
    size_t end = word_end(o), k = 0;

    if (efi_protocol_of(efi_image(), &efi_shell_parameters_guid) != NULL)
        return end;
    for (; k < 4 && end >= 4 && (unit_at(o, end - 4 + k) | (k != 0 ? 0x20 : 0)) == suffix[k]; k++)
        ;
    return k == 4 ? end : 0;
}

static void read_options(struct machine *machine, const struct efi_loaded_image *image)
{
    struct load_options o = { .bytes = image->options };

    if (o.bytes == NULL)
        return;
    o.is_narrow = is_ascii(o.bytes, image->options_bytes);
    if (!o.is_narrow && image->options_bytes % 2 != 0)
        return;
    o.n = image->options_bytes / (o.is_narrow ? 1 : 2);
    o.n = text_units(&o);
    if (o.n != 0 && machine->args_bytes != 0)
        add(machine, ' ');
    for (size_t i = after_name(&o); i < o.n; i++)
        add_character(machine, unit_at(&o, i));
}

void efi_options_read(struct machine *machine)
{
    const struct efi_loaded_image *image = efi_protocol_of(efi_image(), &efi_loaded_image_guid);

    machine->args_limit = sizeof machine->args - 1;
    if (image == NULL)
        return;
    read_volume(machine, image->device);
    read_options(machine, image);
}
