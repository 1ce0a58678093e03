/* A random walk over cards: one to three places of a small card are damaged, then it is saved to, loaded from, logged to
 * and sent files. Each byte that a write changes is looked at: it has to be the file's that is meant. Cards by
 * INGOT_CARDS or an argument, the seed by INGOT_SEED or a second one, INGOT_CARD or a third one prints the history of
 * that card. */
#include <stdlib.h>

#include "runtime/saved/saved_chat.h"
#include "runtime/features/turn_log/turn_log.h"
#include "runtime/storage/storage.h"
#include "runtime/storage/storage_new.h"
#include "runtime/transfer/transfer_sink.h"
#include "tests/unit/rig.h"
#include "tests/unit/storage/walk_damage.h"

enum {
    MOST_READS = 40000,
    SENT_BYTES = 24000,
    FEW_CARDS = 2000,
    MANY_CARDS = 20000,
    OWNER_NEW = 40
};

static struct card card, whole[6];
static struct block_device device;
static struct platform platform;
static struct storage storage;
static struct file model, found, log_file;
static struct file_extent extents[3][FILE_MAX_EXTENTS];
static const struct file_table model_table = { extents[0], FILE_MAX_EXTENTS },
                               save_table = { extents[1], FILE_MAX_EXTENTS };
static const struct file *const open_files[] = { &model, &log_file };
static struct turns turns;
static struct saved_chat saved;
static struct turn_log turn_log;
static struct transfer_sink sink;
static struct file_read io;
static struct storage_new new_file;

/* The bytes that the current operation may change. */
enum meant { MEANT_NOTHING, MEANT_FILE, MEANT_DATA, MEANT_NAME };

static struct {
    enum meant meant;
    unsigned owner;  /* the file's number; OWNER_NEW and on: a file that was not there */
    unsigned folder; /* where it is named */
    uint64_t reads, most_reads;
    unsigned n_wrong, n_shown;
    const char *doing;
    unsigned card;
    const struct card *before; /* without damage */
    bool shown;
    unsigned done[8], refused[8];
} walk;

/* ---- the judge ------------------------------------------------------------------------------- */

/* Whether damage has left a file its entry, hidden or not. */
static bool is_there(const struct card_file *f)
{
    const uint8_t *now = card.disk + f->entry + f->entry_bytes - 32;

    return memcmp(now, walk.before->disk + f->entry + f->entry_bytes - 32, 32) == 0;
}

static bool is_other_entry(uint32_t at)
{
    for (unsigned i = 1; i <= card.n_files; i++)
        if (i != walk.owner && at >= card.files[i].entry &&
            at < card.files[i].entry + card.files[i].entry_bytes && is_there(&card.files[i]))
            return true;
    return false;
}

/* Entries of the FAT: those of free clusters, those of the file, and the end of a growing folder. A
 * second FAT may become equal to the first. */
static bool may_change_fat(uint32_t at, uint8_t value)
{
    uint32_t offset = at - card_fat_at(&card, 0);
    uint32_t cluster = offset % (CARD_FAT_SECTORS * 512) / 4;
    unsigned owner = cluster < CARD_CLUSTERS + 2 ? card.owner[cluster] : NOBODY;

    if (offset >= CARD_FAT_SECTORS * 512 && card.disk[at - CARD_FAT_SECTORS * 512] == value)
        return true;
    return owner == NOBODY || owner == walk.owner || owner == OWNER_FOLDER + walk.folder ||
           owner == OWNER_FOLDER;
}

static bool may_change_meta(uint32_t sector, uint32_t at, uint8_t value)
{
    if (walk.meant != MEANT_NAME || card.is_exfat)
        return false;
    if (sector < CARD_RESERVED)
        return sector == 1 && at % 512 >= 488 && at % 512 < 492;
    return may_change_fat(at, value);
}

static bool may_change(uint32_t at, uint8_t value)
{
    uint32_t sector = at / 512 - card.start, cluster;
    unsigned owner;

    if (at / 512 < card.start || sector >= CARD_VOLUME)
        return false;
    if (sector < CARD_META)
        return may_change_meta(sector, at, value);
    cluster = sector - CARD_META + 2;
    owner = card.owner[cluster];
    switch (walk.meant) {
    case MEANT_FILE: return owner == walk.owner;
    case MEANT_DATA: return owner == NOBODY;
    case MEANT_NAME:
        return owner == NOBODY || ((owner == OWNER_FOLDER + walk.folder || owner == OWNER_FOLDER) &&
                                   !is_other_entry(at));
    default: return false;
    }
}

static void show_wrong(uint32_t at)
{
    uint32_t cluster = at / 512 - card.start - CARD_META + 2;

    walk.n_wrong++;
    if (walk.n_shown++ < 5)
        printf("# card %u, %s: byte %u of sector %u (cluster %u, owner %u) is changed\n", walk.card,
               walk.doing, at % 512, at / 512, cluster,
               cluster < CARD_CLUSTERS + 2 ? card.owner[cluster] : 999);
}

static void write_sector(uint64_t sector, const uint8_t *bytes)
{
    uint8_t *place = card.disk + sector * 512;

    for (uint32_t i = 0; i < 512; i++) {
        uint32_t at = (uint32_t)sector * 512 + i;

        if (place[i] != bytes[i] && !may_change(at, bytes[i])) {
            show_wrong(at);
            break;
        }
    }
    memcpy(place, bytes, 512);
}

/* ---- the device ------------------------------------------------------------------------------- */

static enum err submit(struct block_device *d, struct block_request *r)
{
    uint8_t *buffer = r->buffer;

    if (r->n_sectors == 0 || r->n_sectors > d->max_sectors || r->sector > d->n_sectors ||
        r->n_sectors > d->n_sectors - r->sector)
        return ERR_RANGE;
    for (uint32_t i = 0; i < r->n_sectors; i++) {
        if (r->write)
            write_sector(r->sector + i, buffer + 512 * (size_t)i);
        else
            memcpy(buffer + 512 * (size_t)i, card.disk + (r->sector + i) * 512, 512);
    }
    walk.reads += !r->write;
    r->status = ERR_OK;
    r->done = true;
    return ERR_OK;
}

static enum err poll(struct block_device *d)
{
    (void)d;
    return ERR_OK;
}

static unsigned find_devices(void *context, struct block_device *devices[BOARD_MAX_BLOCK])
{
    (void)context;
    devices[0] = &device;
    return 1;
}

static uint64_t ticks(void *context)
{
    static uint64_t now;

    (void)context;
    return now += 1;
}

static void open_storage(void)
{
    const struct storage_setup setup = { .platform = &platform };

    platform = (struct platform){ .name = "made up",
                                  .clock = { .ticks = ticks, .hz = 1000000 },
                                  .storage = { .find = find_devices } };
    device = (struct block_device){ .name = "a card",
                                    .n_sectors = CARD_DISK,
                                    .max_sectors = 64,
                                    .queue_depth = 4,
                                    .writable = true,
                                    .submit = submit,
                                    .poll = poll };
    memset(&model, 0, sizeof model);
    memset(&log_file, 0, sizeof log_file);
    storage_open(&storage, &setup);
    storage_know_open(&storage, open_files, 2);
}

/* ---- what is done ------------------------------------------------------------------------------ */

enum deed { OPEN, SAVE, LOAD, LOG, PREFIX, USE, KV, SEND, DEEDS };
static const char *const deeds[DEEDS] = { "open",   "save", "load", "log",
                                          "prefix", "use",  "kv",   "send" };

static enum err open_model(void)
{
    enum err e = storage_find_model(&storage, "", &model_table, &model);

    if (e != ERR_OK)
        model.device = NULL;
    return e;
}

static struct saved_chat_state state(void)
{
    return (struct saved_chat_state){
        .session = &rig.session, .reply_start = 5, .started = true, .turns = &turns
    };
}

static enum err save(void)
{
    struct saved_chat_state s = state();
    enum err e = storage_find_save(&storage, "chat", saved_chat_bytes(&s), &save_table, &found);

    return e == ERR_OK ? saved_chat_write(&saved, &found, &s, NULL, NULL) : e;
}

static enum err load(void)
{
    return storage_find_save(&storage, "chat", 0, &save_table, &found);
}

static enum err save_prefix(void)
{
    struct saved_chat_state s = state();
    enum err e = storage_find_prefix(&storage, saved_chat_bytes(&s), &save_table, &found);

    return e == ERR_OK ? saved_chat_write(&saved, &found, &s, NULL, NULL) : e;
}

static enum err put_log(void)
{
    static const uint32_t ids[] = { 5, 6, 7, 8, 9 };
    static const struct turn_log_turn turn = { .model = "a",
                                               .user = "a question",
                                               .user_bytes = 10 };
    static const struct turn_log_end end = { .end = "stop", .ids = ids, .n = 5, .reply = 2 };
    enum err e = storage_find_log(&storage, &log_file);

    if (e != ERR_OK) {
        log_file.device = NULL;
        return e;
    }
    memset(&turn_log, 0, sizeof turn_log);
    e = turn_log_open(&turn_log, &log_file);
    for (unsigned i = 0; e == ERR_OK && i < 3; i++) {
        turn_log_begin(&turn_log, &turn);
        turn_log_reply(&turn_log, "an answer", 9);
        e = turn_log_end(&turn_log, &end);
    }
    return e;
}

/* Fills a whole file, as spilling keys and values and counts of experts may do. */
static enum err fill(enum err e)
{
    static _Alignas(64) uint8_t bytes[8192];

    memset(bytes, 0xa7, sizeof bytes);
    for (uint64_t at = 0; e == ERR_OK && at < found.bytes; at += sizeof bytes) {
        uint64_t n = (found.bytes - at + 511) / 512 * 512;

        e = file_write_now(&io, &found, at, bytes, n < sizeof bytes ? (size_t)n : sizeof bytes);
    }
    return e;
}

/* From here on the named file owns its clusters, and nobody owns those of the old one. */
static void take_over(unsigned owner)
{
    for (uint32_t i = 2; i < CARD_CLUSTERS + 2; i++)
        card.owner[i] = card.owner[i] == owner ? NOBODY : card.owner[i];
    for (uint32_t i = 0; i < new_file.file.n_extents; i++) {
        const struct file_extent *x = &file_extents(&new_file.file)[i];

        for (uint64_t s = 0; s < x->n_sectors; s++) {
            uint64_t cluster = x->sector + s - card.start - CARD_META + 2;

            if (cluster < CARD_CLUSTERS + 2)
                card.owner[cluster] = (uint16_t)owner;
        }
    }
}

static enum err send(const char *path)
{
    static uint8_t bytes[1024];
    uint32_t n = 1 + walk_random(SENT_BYTES);
    enum err e;

    walk.meant = MEANT_DATA;
    e = storage_new_open(&storage, path, n, &save_table, &new_file);
    if (e != ERR_OK)
        return e;
    memset(bytes, 0x3c, sizeof bytes);
    transfer_sink_open(&sink, &new_file.file, 0);
    for (uint32_t at = 0; e == ERR_OK && at < n; at += sizeof bytes)
        e = transfer_sink_put(&sink, bytes, n - at < sizeof bytes ? n - at : sizeof bytes);
    if (e == ERR_OK)
        e = transfer_sink_flush(&sink);
    walk.meant = MEANT_NAME;
    if (e == ERR_OK)
        e = storage_new_publish(&storage, &new_file);
    if (e == ERR_OK)
        take_over(walk.owner);
    return e;
}

static enum err send_some(void)
{
    static const char *const paths[] = { "presets/old.txt",
                                         "presets/new.txt",
                                         "models/b.ingot",
                                         "models/c.ingot",
                                         "grammars/g.grammar",
                                         "adapters/x.ingot",
                                         "models/d-file-with-a-long-name.ingot" };
    unsigned which = walk_random(7);
    const char *path = paths[which];
    const struct card_file *old = card_find(&card, path);

    walk.owner = old != NULL ? (unsigned)(old - card.files) : OWNER_NEW + which;
    walk.folder = 0;
    for (unsigned i = 1; i < card.n_folders; i++)
        if (strncmp(path, card.folders[i].path, strlen(card.folders[i].path)) == 0)
            walk.folder = i;
    return send(path);
}

static enum err do_deed(enum deed d)
{
    static const char *const files[DEEDS] = { [SAVE] = "saves/chat.sav",
                                              [LOG] = "ingot.log",
                                              [PREFIX] = "ingot.prefix",
                                              [USE] = "models/a.use",
                                              [KV] = "ingot.kv" };

    walk.meant = files[d] != NULL ? MEANT_FILE : MEANT_NOTHING;
    walk.owner = files[d] != NULL ? (unsigned)(card_find(&card, files[d]) - card.files) : NOBODY;
    switch (d) {
    case OPEN: return open_model();
    case SAVE: return save();
    case LOAD: return load();
    case LOG: return put_log();
    case PREFIX: return save_prefix();
    case USE: return fill(storage_find_use(&storage, "a.ingot", 1, &found));
    case KV: return fill(storage_find_kv(&storage, &save_table, &found));
    default: return send_some();
    }
}

static void do_some(bool is_whole)
{
    for (unsigned i = 0; i < 7; i++) {
        enum deed d = i == 0 ? OPEN : (enum deed)walk_random(DEEDS);
        enum err e;

        if (card.is_exfat && d == SEND && is_whole)
            d = SAVE;
        walk.doing = deeds[d];
        walk.reads = 0;
        e = do_deed(d);
        if (e == ERR_OK)
            walk.done[d]++;
        else
            walk.refused[d]++;
        if (is_whole && e != ERR_OK) {
            printf("# whole card %u, %s: %s: %s\n", walk.card, walk.doing, storage.error_message,
                   err_text(e));
            walk.n_wrong++;
        }
        if (walk.shown)
            printf("# %s: %s\n", walk.doing, e == ERR_OK ? "done" : storage.error_message);
        walk.most_reads = walk.reads > walk.most_reads ? walk.reads : walk.most_reads;
    }
}

/* Prints the damage of the requested card, by its sectors. */
static void show_damage(void)
{
    for (uint32_t sector = 0; sector < CARD_DISK; sector++) {
        const uint8_t *now = card.disk + sector * 512, *then = walk.before->disk + sector * 512;
        uint32_t first = 0, n = 0;

        for (uint32_t i = 0; i < 512; i++) {
            first = n == 0 ? i : first;
            n += now[i] != then[i];
        }
        if (n != 0)
            printf(
                "# sector %u of the volume, cluster %u: %u bytes, of which byte %u: %08x became %08x\n",
                sector - card.start, sector - card.start - CARD_META + 2, n, first,
                card_get(then + first % 509), card_get(now + first % 509));
    }
}

static void walk_card(unsigned nth, bool shown)
{
    unsigned n = nth % 16 == 0 ? 0 : 1 + walk_random(3), kind = walk_random(6);

    walk.card = nth;
    walk.shown = shown;
    walk.before = &whole[kind];
    card = whole[kind];
    for (unsigned i = 0; i < n; i++)
        damage_once(&card);
    if (shown)
        show_damage();
    open_storage();
    do_some(n == 0);
}

static uint64_t number_of(int argc, char **argv, int nth, const char *variable, uint64_t fallback)
{
    const char *text = argc > nth ? argv[nth] : getenv(variable);

    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 0) : fallback;
}

int main(int argc, char **argv)
{
    bool is_long = getenv("INGOT_LONG") != NULL && getenv("INGOT_LONG")[0] != '\0';
    uint64_t n = number_of(argc, argv, 1, "INGOT_CARDS", is_long ? MANY_CARDS : FEW_CARDS);
    uint64_t seed = number_of(argc, argv, 2, "INGOT_SEED", 38);
    uint64_t shown = number_of(argc, argv, 3, "INGOT_CARD", UINT64_MAX);
    struct saved_chat_state s = state();
    uint32_t ids[10], room;

    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, 10);
    if (rig_append(ids, 10, NULL) != ERR_OK)
        rig_die("the rig does not run");
    turns_push(&turns, 0, 4, "a turn", 7);
    room = (uint32_t)(saved_chat_bytes(&s) + 2047) / 1024 * 1024;
    for (unsigned i = 0; i < 6; i++)
        card_make(&whole[i], i % 2 == 1, (enum card_table)(i / 2), room);
    walk_state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (unsigned i = 0; i < n; i++)
        walk_card(i, i == shown);
    for (unsigned d = 0; d < DEEDS; d++)
        printf("# %s: %u done, %u refused\n", deeds[d], walk.done[d], walk.refused[d]);
    OK(walk.n_wrong == 0,
       "%u cards from seed %llu keep their other files: %u times something else was changed",
       (unsigned)n, (unsigned long long)seed, walk.n_wrong);
    OK(walk.most_reads < MOST_READS, "no walk makes more than %llu reads at a time",
       (unsigned long long)walk.most_reads);
    return tap_done();
}
