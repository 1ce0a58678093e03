/* Questions to a USB drive at its start, with time limits. SCSI follows SPC-4 and SBC-3; section
 * 3.2 is that of Bulk-Only Transport 1.0. */
#include <string.h>

#include "board/drivers/usb/usb_storage_private.h"

enum {
    READY_MS = 5000,
    SPIN_UP_MS = 20000, /* time for a disk that reports that it is becoming ready */
    ASK_MS = 100,
    INQUIRY_TRIES = 5, /* as in U-Boot */
    INQUIRY_BYTES = 36,
    MODE_BYTES = 192,   /* as Windows requests; many drives support no other length (Linux,
                         use_192_bytes_for_3f) */
    NOT_READY = 0x0400, /* a code with its qualifier: SPC-4, table 44 */
    BECOMING_READY = 0x0401,
    WANTS_START = 0x0402,
    LONG_CAPACITY = 0x9e,
    READ_TRIES = 5,
    TABLE = 446, /* of a master boot record: its first entry */
};

static const char other_drive[] = "the USB drive was replaced by another";
static const char no_card[] = "the USB reader is empty: put a card in and plug the reader in again";

static enum err refuse(struct usb_storage *s, const char *why)
{
    s->why = why;
    return ERR_UNSUPPORTED;
}

/* Note why the medium is missing: there is no card, or another card or drive than before. */
static enum err miss(struct usb_storage *s, const char *why)
{
    s->why = why;
    return ERR_REMOVED;
}

bool usb_storage_spins_up(unsigned key, unsigned code)
{
    return key == KEY_NOT_READY &&
           (code == NOT_READY || code == BECOMING_READY || code == WANTS_START);
}

/* Start the motor (SBC-3, 5.20): a disk that sleeps, or waits for a command, answers at once and
 * starts to spin. *changed: the drive reports that its medium was changed, and only once. */
static bool start_motor(struct usb_storage *s, bool *changed)
{
    static const uint8_t start_unit[6] = { 0x1b, 1, 0, 0, 1, 0 };
    unsigned code = 0;

    *changed = false;
    if (usb_storage_run(s, start_unit, sizeof start_unit, 0) == USB_FAILED)
        *changed = usb_storage_sense(s, &code) == KEY_ATTENTION && code >> 8 == MEDIUM_CHANGED;
    return s->outcome != USB_BROKEN;
}

static enum err wait_ready(struct usb_storage *s)
{
    static const uint8_t test[6] = { 0 };
    struct xhci_deadline soon = xhci_deadline_in(s->host, READY_MS),
                         late = xhci_deadline_in(s->host, SPIN_UP_MS);
    bool started = false, changed;
    enum usb_outcome o;
    unsigned code;

    while ((o = usb_storage_run_first(s, test, sizeof test, 0)) == USB_FAILED) {
        unsigned key = usb_storage_sense(s, &code);

        if (s->outcome == USB_BROKEN)
            return refuse(s, "the USB drive does not answer as it should: use another");
        if (key == KEY_NOT_READY && code >> 8 == NO_MEDIUM)
            return miss(s, no_card);
        if (xhci_is_over(s->host, usb_storage_spins_up(key, code) ? &late : &soon))
            return refuse(s, "the USB drive does not become ready: plug it in again");
        /* Only wait for a disk that starts by itself. */
        if (!started && usb_storage_spins_up(key, code) && code != BECOMING_READY &&
            !start_motor(s, &changed))
            return refuse(s, "the USB drive does not answer as it should: use another");
        started = started || usb_storage_spins_up(key, code);
        xhci_pause(s->host, ASK_MS);
    }
    return o == USB_GOOD ? ERR_OK
                         : refuse(s, "the USB drive does not answer as it should: use another");
}

/* Run a command again, because a drive that has just been connected may fail its first commands. A
 * complete answer shows whether its residue is right; Linux's usb-storage has this rule for INQUIRY
 * and READ CAPACITY (10). A drive may pad its answer to READ CAPACITY (16), and the residue tells
 * how much (BOT 1.0, 6.7.2). *gone: a try found the medium missing, not ready or changed. */
static enum usb_outcome run_again(struct usb_storage *s, const uint8_t *cdb, uint8_t cdb_bytes,
                                  uint32_t bytes, bool *gone)
{
    unsigned key, code;

    *gone = false;
    for (unsigned i = 0; i < INQUIRY_TRIES; i++) {
        if (usb_storage_run_first(s, cdb, cdb_bytes, bytes) != USB_FAILED)
            break;
        key = usb_storage_sense(s, &code);
        *gone |= key == KEY_NOT_READY || (key == KEY_ATTENTION && code >> 8 == MEDIUM_CHANGED);
        if (s->outcome == USB_BROKEN)
            break;
        s->outcome = USB_FAILED;
    }
    if (s->outcome == USB_GOOD && s->came_whole && s->left != 0 && cdb[0] != LONG_CAPACITY)
        s->wrong_residue = true;
    return s->outcome;
}

static enum err read_size(struct usb_storage *s)
{
    static const uint8_t short_one[10] = { 0x25 },
                         long_one[16] = { LONG_CAPACITY, 0x10, [13] = 32 };
    uint32_t block = 0;
    uint64_t n = 0;
    bool gone;

    s->block_sectors = 1;
    if (run_again(s, short_one, sizeof short_one, 8, &gone) == USB_GOOD)
        n = usb_read_capacity_10(s->answer, &block);
    /* The last block is FFFFFFFFh: the number does not fit into the short answer. */
    if (n == 1ull << 32 && run_again(s, long_one, sizeof long_one, 32, &gone) == USB_GOOD)
        n = usb_read_capacity_16(s->answer, &block);
    /* A drive that refuses the long command has exactly 2^32 blocks, as in Linux. One that falls
     * silent, and one whose card was taken out or changed in between, have not told their size. */
    if (n == 0 || s->outcome == USB_BROKEN || (s->outcome == USB_FAILED && gone))
        return refuse(s, "the USB drive does not report its size: use another drive");
    if (block < SECTOR_BYTES || block > USB_STORAGE_BLOCK || (block & (block - 1)) != 0)
        return refuse(s,
                      "the USB drive's blocks are not 512 to 4096 bytes long: use another drive");
    s->block_sectors = block / SECTOR_BYTES;
    s->n_sectors = n * s->block_sectors;
    return ERR_OK;
}

static enum err learn_unit(struct usb_storage *s)
{
    static const uint8_t inquiry[6] = { 0x12, 0, 0, 0, INQUIRY_BYTES, 0 };
    bool gone;
    enum err e;

    if (run_again(s, inquiry, sizeof inquiry, INQUIRY_BYTES, &gone) == USB_BROKEN)
        return refuse(s, "the USB drive does not answer as it should: use another");
    if (s->outcome != USB_GOOD || !usb_is_disk(s->answer))
        return refuse(s, "the USB device is not a disk: use a drive");
    e = wait_ready(s);
    return e == ERR_OK ? read_size(s) : e;
}

/* Read the write lock from the header's third byte (SPC-4, 6.11). ERR_IO: the drive no longer
 * answers, and is started again without this question. */
static enum err learn_lock(struct usb_storage *s)
{
    static const uint8_t mode[6] = { 0x1a, 0, 0x3f, 0, MODE_BYTES, 0 };
    unsigned key = 0, code = 0;

    if (s->no_modes)
        return ERR_OK;
    if (usb_storage_run(s, mode, sizeof mode, MODE_BYTES) == USB_GOOD)
        s->read_only = s->answer[2] & 0x80;
    else if (s->outcome == USB_FAILED)
        key = usb_storage_sense(s, &code); /* the drive has no such pages, so it can be written */
    s->no_modes = s->outcome == USB_BROKEN;
    /* The card was changed after its size was compared. */
    if (key == KEY_ATTENTION && code >> 8 == MEDIUM_CHANGED)
        return miss(s, other_drive);
    return err_unless(!s->no_modes, ERR_IO);
}

/* Find the first unit with a disk (3.2), for readers with several card slots. */
static enum err first_unit(struct usb_storage *s)
{
    enum err e;

    for (s->unit = 0;
         (e = learn_unit(s)) != ERR_OK && s->unit < s->last_unit && s->outcome != USB_BROKEN;)
        s->unit++;
    return e;
}

/* A drive that was here before keeps its unit, because the other slots may have cards too. If only
 * other slots have a card, this is another drive; if no slot has one, the card may still come. */
static enum err same_unit(struct usb_storage *s)
{
    uint8_t unit = s->unit, found;
    enum err e = learn_unit(s);

    if (e != ERR_REMOVED)
        return e;
    e = first_unit(s);
    found = s->unit;
    s->unit = unit;
    if (e == ERR_OK && found != unit)
        return miss(s, other_drive);
    return e == ERR_REMOVED ? ERR_UNSUPPORTED : e;
}

static enum err find_unit(struct usb_storage *s)
{
    enum err e = xhci_control(s->host, &s->device, 0xa1, 0xfe, 0, s->ends.interface, 1);

    s->last_unit = e == ERR_OK ? s->device.data[0] & 15 : 0;
    /* A drive with one unit may answer this question with a stall (3.2). */
    if (e != ERR_OK && e != ERR_UNSUPPORTED)
        return e;
    s->wrong_residue = false;
    if (s->n_sectors != 0) {
        if (s->unit > s->last_unit)
            return miss(s, other_drive);
        return same_unit(s);
    }
    return first_unit(s);
}

/* ---- the first blocks of its medium ---- */

/* After a command, ask why it failed, if it did: the sense key and code, else 0. ERR_REMOVED: the
 * medium was changed. ERR_NO_DEVICE: there is none. ERR_IO: the drive does not answer. */
static enum err ask_medium(struct usb_storage *s, bool failed, unsigned *key, unsigned *code)
{
    *key = *code = 0;
    if (failed)
        *key = usb_storage_sense(s, code);
    if (s->outcome == USB_BROKEN)
        return ERR_IO;
    if (*key == KEY_ATTENTION && *code >> 8 == MEDIUM_CHANGED)
        return ERR_REMOVED;
    return *key == KEY_NOT_READY && *code >> 8 == NO_MEDIUM ? ERR_NO_DEVICE : ERR_OK;
}

/* Read a block into s->edge before `late`. A disk in standby is ready (SPC-4, power conditions), but
 * its first read takes up to SPIN_UP_MS, or fails until it spins. ERR_REMOVED: the medium was
 * changed. ERR_NO_DEVICE: it was taken out. ERR_UNSUPPORTED: it cannot be read. ERR_IO: the drive
 * does not answer. */
static enum err read_block(struct usb_storage *s, uint32_t block, const struct xhci_deadline *late)
{
    uint8_t cdb[10] = { 0x28, [8] = 1 }; /* SBC-3, 5.11 */

    for (unsigned i = 0; i < 4; i++)
        cdb[2 + i] = (uint8_t)(block >> (24 - 8 * i));
    for (unsigned i = 0; i < READ_TRIES && !(i != 0 && xhci_is_over(s->host, late));) {
        enum usb_outcome o = usb_storage_run_into(s, cdb, sizeof cdb, s->edge,
                                                  s->block_sectors * SECTOR_BYTES, SPIN_UP_MS);
        bool is_whole = s->left == 0 && s->came_whole;
        unsigned key, code;
        enum err e = ask_medium(s, o == USB_FAILED, &key, &code);

        if (e != ERR_OK)
            return e;
        if (is_whole && (o == USB_GOOD || key == KEY_RECOVERED))
            return ERR_OK;
        if (usb_storage_spins_up(key, code) && !xhci_is_over(s->host, late))
            xhci_pause(s->host, ASK_MS);
        else
            i++;
    }
    return ERR_UNSUPPORTED;
}

/* The block at which the first partition begins; 0: there is none, or the file system begins at
 * block 0. Boot code may begin as a file system does, but then its bytes per sector are wrong. A
 * table of GPT has one entry, which begins at GPT's header. */
static uint32_t first_partition(const struct usb_storage *s)
{
    const uint8_t *d = s->edge, *entry = d + TABLE;
    bool is_exfat = memcmp(d + 3, "EXFAT   ", 8) == 0;
    unsigned sector = d[11] | (unsigned)d[12] << 8;
    bool is_fat = (d[0] == 0xeb || d[0] == 0xe9) && sector >= SECTOR_BYTES &&
                  (sector & (sector - 1)) == 0;
    bool has_table = d[510] == 0x55 && d[511] == 0xaa && (entry[0] & 0x7f) == 0 && entry[4] != 0;
    uint32_t at = 0;

    for (unsigned i = 0; i < 4; i++)
        at |= (uint32_t)entry[8 + i] << 8 * i;
    return has_table && !is_exfat && !is_fat && at < s->n_sectors / s->block_sectors ? at : 0;
}

static uint64_t hash_block(const struct usb_storage *s, uint64_t hash)
{
    for (uint32_t i = 0; i < s->block_sectors * SECTOR_BYTES; i++)
        hash = (hash ^ s->edge[i]) * 0x100000001b3; /* FNV-1a */
    return hash;
}

/* Hash the blocks that tell equal cards apart, and that no file's change changes: block 0, with a
 * disk's signature or a volume's serial number, and the first block of the first partition, with its
 * serial number or the GUID of a disk with GPT. The errors are those of read_block(). */
static enum err read_print(struct usb_storage *s, uint64_t *out)
{
    struct xhci_deadline late = xhci_deadline_in(s->host, SPIN_UP_MS);
    enum err e = read_block(s, 0, &late);
    uint32_t partition = e == ERR_OK ? first_partition(s) : 0;

    *out = hash_block(s, 0xcbf29ce484222325);
    if (partition == 0)
        return e;
    e = read_block(s, partition, &late);
    *out = hash_block(s, *out);
    return e;
}

/* Learn the rest of a drive whose size is known. ERR_REMOVED: its medium is another one than before,
 * or was changed meanwhile. */
static enum err learn_rest(struct usb_storage *s, bool is_new)
{
    uint64_t print = 0;
    enum err e = is_new || s->print != 0 ? read_print(s, &print) : ERR_OK;

    /* The drive is used nevertheless: a GPT has a copy, and the file layer names what it misses. */
    if (e == ERR_UNSUPPORTED && is_new) {
        print = 0;
        e = ERR_OK;
    }

    if (e == ERR_NO_DEVICE)
        return refuse(s, no_card);
    if (e == ERR_UNSUPPORTED)
        return refuse(s, "the USB drive's first blocks cannot be read: plug it in again");
    if (e == ERR_REMOVED || (e == ERR_OK && !is_new && print != s->print))
        return miss(s, other_drive);
    if (e != ERR_OK)
        return e;
    s->print = print;
    return learn_lock(s);
}

enum err usb_storage_learn(struct usb_storage *s)
{
    uint64_t n_sectors = s->n_sectors; /* 0: no drive was here before */
    uint32_t block_sectors = s->block_sectors;
    enum err e = find_unit(s);
    bool other = n_sectors != s->n_sectors || block_sectors != s->block_sectors;

    /* Open files name sectors of the drive that was here before. The next start must also compare
     * with that drive. */
    if (n_sectors != 0 && other) {
        s->n_sectors = n_sectors;
        s->block_sectors = block_sectors;
        return e != ERR_OK ? e : miss(s, other_drive);
    }
    if (e != ERR_OK)
        return e;
    s->why = NULL; /* forget why earlier units were refused */
    e = learn_rest(s, n_sectors == 0);
    if (e != ERR_REMOVED || n_sectors != 0)
        return e;
    /* The card of a new drive was changed meanwhile: begin again, with the card that is there now. */
    s->n_sectors = 0;
    e = find_unit(s);
    if (e != ERR_OK)
        return e;
    s->why = NULL;
    return learn_rest(s, true);
}

/* Ask the unit whether its medium is ready. ERR_REMOVED: the medium was changed; ERR_NO_DEVICE: there
 * is none; ERR_BUSY: it is not ready for another reason; ERR_IO: the drive does not answer. */
static enum err ask_ready(struct usb_storage *s)
{
    static const uint8_t test[6] = { 0 };
    bool failed = usb_storage_run(s, test, sizeof test, 0) == USB_FAILED;
    unsigned key, code;
    enum err e = ask_medium(s, failed, &key, &code);

    if (e != ERR_OK)
        return e;
    /* A disk that waits for a command, as in another bay of a dock, would never become ready. */
    if (usb_storage_spins_up(key, code) && code != BECOMING_READY) {
        bool changed;

        if (!start_motor(s, &changed))
            return ERR_IO;
        if (changed)
            return ERR_REMOVED;
    }
    return err_unless(!failed, ERR_BUSY);
}

/* Ask whether the unit has this card; this overwrites the drive's size. The errors are those of
 * ask_ready(); ERR_REMOVED also stands for another card. */
static enum err ask_card(struct usb_storage *s, uint64_t n_sectors, uint32_t block_sectors,
                         uint64_t print)
{
    uint64_t found = 0;
    enum err e = ask_ready(s);

    if (e != ERR_OK)
        return e;
    if (read_size(s) == ERR_OK && s->n_sectors == n_sectors && s->block_sectors == block_sectors) {
        e = print != 0 ? read_print(s, &found) : ERR_OK;
        if (e == ERR_OK)
            return found == print ? ERR_OK : ERR_REMOVED;
        if (e == ERR_UNSUPPORTED)
            return ERR_BUSY;
    }
    if (s->outcome == USB_BROKEN)
        return ERR_IO;
    /* The card was replaced, and the tries have taken the attention; or it was taken out between
     * two commands, and no other has come. */
    e = ask_ready(s);
    return e == ERR_NO_DEVICE || e == ERR_IO ? e : ERR_REMOVED;
}

enum err usb_storage_ask_slot(struct usb_storage *s, const struct usb_storage *of)
{
    uint64_t n_sectors = s->n_sectors;
    uint32_t block_sectors = s->block_sectors;
    uint8_t unit = s->unit;
    enum err e;

    s->unit = of->unit;
    e = ask_card(s, of->n_sectors, of->block_sectors, of->print);
    s->why = NULL;
    s->unit = unit;
    s->n_sectors = n_sectors;
    s->block_sectors = block_sectors;
    return e;
}
