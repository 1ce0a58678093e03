/* `ingot card`: a card image for a board, with models and room for conversations. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/card/card_board.h"
#include "flash_image/output/output_file.h"
#include "flash_image/output/temporary.h"
#include "host/plan/board_table.h"
#include "host/card/card_args.h"
#include "host/card/card_boards.h"
#include "host/card/card_models.h"
#include "host/card/card_prefix.h"
#include "host/card/hss_payload.h"
#include "host/cli/commands.h"
#include "host/cli/pack_type.h"
#include "host/args/shown_streams.h"
#include "runtime/options/options.h"
#include "runtime/storage/storage.h"
#include "runtime/text/format_text.h"

enum {
    SAVE_LEAST_MIB = 8,   /* without --save: the space for a whole context, at least this */
    SAVE_MOST_MIB = 1024, /* and at most this much; /load computes the rest again */
    ERROR_MESSAGE_BYTES = 2048,
    PAYLOAD_WHY_BYTES = 128
};
#define FILES_TIME 1735689600 /* 1 January 2025, if SOURCE_DATE_EPOCH is not set */

/* ---- the card -------------------------------------------------------------------------------- */

struct job {
    const struct card_args *a;
    const char *name; /* name of the board's folder */
    const char
        *for_board; /* the card's board, if the image starts other boards too; NULL: all boards */
    struct card_board board;
    struct card_image card; /* the partition with the models */
    struct card_image boot; /* the partition before it, if has_boot */
    bool has_boot;
    bool is_efi; /* EFI firmware: it reads a GPT, and needs one on disks */
    enum card_table table;
    struct card_models models;
    struct sign_key key;
    char *system_word;           /* NULL: none */
    char *prefix;                /* path of the prefix's file, in the image's folder; NULL: none */
    struct card_missing missing; /* firmware */
    struct card_payload payload; /* path NULL: no payload */
    char error_message[ERROR_MESSAGE_BYTES];
};

static bool fine_on(struct job *j, const struct card_image *c, enum err e)
{
    if (e != ERR_OK) {
        snprintf(j->error_message, sizeof j->error_message, "%s", c->error_message);
    }
    return e == ERR_OK;
}

static bool fine(struct job *j, enum err e)
{
    return fine_on(j, &j->card, e);
}

/* Report an unknown board with a list of all names, which helps more than the name of the searched
 * folder. */
static void say_no_board(struct job *j)
{
    size_t n;
    const struct board_facts *boards_there_are = board_facts_all(&n);
    size_t at = (size_t)snprintf(j->error_message, sizeof j->error_message,
                                 "'%.60s' is not a board; there are", j->a->board);

    for (size_t i = 0; i < n && at < sizeof j->error_message; i++) {
        at += (size_t)snprintf(j->error_message + at, sizeof j->error_message - at, " %s",
                               boards_there_are[i].name);
    }
}

static bool open_board(struct job *j)
{
    char found[PATH_MAX];
    const char *folder = j->a->boards;
    const struct board_facts *known = board_facts_find(j->a->board);
    enum err e;

    j->name = j->a->board;
    if (known != NULL && strcmp(known->name, j->name) != 0) {
        j->for_board = j->a->board; /* for example "zero2w", which rpi3's image starts */
        j->name = known->name;
    }
    if (folder == NULL && !card_boards_find(found, sizeof found)) {
        snprintf(j->error_message, sizeof j->error_message,
                 "there are no boards beside this program: --boards takes share/ingot/boards of a "
                 "release, or the build folder of a checkout");
        return false;
    }
    e = card_board_open(&j->board, folder != NULL ? folder : found, j->name, j->error_message,
                        sizeof j->error_message);
    if (e == ERR_NOT_FOUND && folder == NULL && known == NULL && strcmp(j->name, "efi") != 0) {
        say_no_board(j);
    }
    /* Firmware and U-Boot read FAT32, so exFAT needs a second partition, unless the board starts
     * without files. */
    j->has_boot = j->a->format == CARD_EXFAT && j->board.image[0] != '\0';
    j->is_efi = strncmp(j->board.image, "EFI/", 4) == 0;
    j->table = j->is_efi ? CARD_GPT : (enum card_table)j->a->table;
    if (e == ERR_OK && j->board.mbr_only && j->table == CARD_GPT) {
        snprintf(j->error_message, sizeof j->error_message,
                 "%.60s cannot start from a GPT: leave out --table gpt", j->a->board);
        return false;
    }
    return e == ERR_OK;
}

/* If the board's first loader wants a payload, open the file of --firmware, which is then the
 * payload. */
static bool open_payload(struct job *j)
{
    const char *path = j->a->firmware;
    const uint32_t *magics = j->board.loader_magics;
    char why[PAYLOAD_WHY_BYTES];
    uint8_t head[4] = { 0 };
    struct stat about;
    FILE *file;
    size_t n;
    uint32_t magic;

    if (magics[0] == 0 || path == NULL) {
        return true;
    }
    file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    n = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    magic = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
    if (n != sizeof head || (magic != magics[0] && magic != magics[1])) {
        snprintf(j->error_message, sizeof j->error_message,
                 "%.500s is not a payload for the first loader of %.60s (a payload begins with "
                 "%08x): README.txt of the card says where to get one",
                 path, j->a->board, magics[0]);
        return false;
    }
    if (!hss_payload_check(path, why, sizeof why)) {
        snprintf(j->error_message, sizeof j->error_message,
                 "%.500s is not a payload that the first loader of %.60s starts: %s", path,
                 j->a->board, why);
        return false;
    }
    j->payload.path = path;
    j->payload.bytes = (uint64_t)about.st_size;
    memcpy(j->payload.type, j->board.loader_type, sizeof j->payload.type);
    j->table = CARD_GPT; /* the loader supports only a GPT */
    return true;
}

/* True if the image would overwrite a model. */
static bool is_out(const struct card_args *a, const char *model)
{
    struct stat x, y;

    return stat(a->out, &x) == 0 && stat(model, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool check_output(struct job *j)
{
    const struct output_wish wish = { .path = j->a->out,
                                      .instead = "write the image to a card with dd" };

    return output_check(&wish, j->error_message, sizeof j->error_message) == ERR_OK;
}

static bool open_key(struct job *j)
{
    if (j->a->sign == NULL) {
        return true;
    }
    j->models.sign = &j->key;
    return sign_key_open(&j->key, j->a->sign, true, j->error_message, sizeof j->error_message) ==
           ERR_OK;
}

/* Read the limits of memory from the boot arguments. Wrong arguments are reported by the board. */
static void take_limits(struct job *j)
{
    static struct options all;

    options_init(&all);
    if (j->a->words != NULL) {
        (void)options_parse(&all, j->a->words, NULL);
    }
    j->models.board = board_facts_find(j->a->board);
    j->models.limits = (struct plan_limits){ .weights = (size_t)all.load.mem,
                                             .context = all.load.ctx,
                                             .kv = all.load.kv.types,
                                             .kv_card = all.load.kv.card };
}

static bool add_models(struct job *j)
{
    take_limits(j);
    for (size_t i = 0; i < j->a->n_models; i++) {
        if (is_out(j->a, j->a->models[i])) {
            snprintf(j->error_message, sizeof j->error_message, "-o %.400s is the model itself",
                     j->a->out);
            return false;
        }
        if (!card_models_add(&j->models, &j->card, &j->a->pack, j->a->models[i], j->a->out,
                             j->error_message, sizeof j->error_message)) {
            return false;
        }
    }
    if (j->models.first == NULL) {
        snprintf(j->error_message, sizeof j->error_message,
                 "the card would have no model: presets, grammars, actions and adapters go beside "
                 "one; give at least one model");
        return false;
    }
    return true;
}

/* The size of each saved conversation in MiB. */
static uint64_t save_mib(const struct job *j)
{
    uint64_t mib = (j->models.save_bytes + (1u << 20) - 1) >> 20;

    if (j->a->save != SAVE_BY_MODEL) {
        return j->a->save;
    }
    if (mib < SAVE_LEAST_MIB) {
        return SAVE_LEAST_MIB;
    }
    return mib < SAVE_MOST_MIB ? mib : SAVE_MOST_MIB;
}

static void say_saves(const struct job *j)
{
    uint64_t mib = save_mib(j), whole = (j->models.save_bytes + (1u << 20) - 1) >> 20;

    if (mib == 0) {
        return;
    }
    printf("room for /save: %" PRIu64 " MiB", mib);
    if (mib >= whole) {
        printf(", a whole context of %u tokens\n", (unsigned)j->models.save_tokens);
    } else {
        printf(": enough for the tokens of any conversation, but for keys and values of only the "
               "first tokens; /load computes the others; keys and values of all %u tokens need "
               "--save %" PRIu64 "\n",
               (unsigned)j->models.save_tokens, whole);
    }
}

/* Add saves/NAME.sav for each name of the list. */
static bool add_saves(struct job *j)
{
    char stem[NAME_MAX + 1], path[NAME_MAX + 16];
    uint64_t mib = save_mib(j);

    if (mib == 0) {
        return true;
    }
    for (const char *name = j->a->names; *name != '\0';) {
        size_t n = strcspn(name, ",");

        snprintf(stem, sizeof stem, "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), name);
        if (!storage_is_plain_name(stem)) { /* /save would not take it */
            snprintf(j->error_message, sizeof j->error_message,
                     "--names %.400s: takes names with commas between them, such as a,b; %s",
                     j->a->names, storage_name_rule);
            return false;
        }
        snprintf(path, sizeof path, "saves/%s.sav", stem);
        if (!fine(j, card_add_room(&j->card, path, mib << 20))) {
            return false;
        }
        name += n + (name[n] == ',');
    }
    return true;
}

/* If --system is given, add the boot argument, and the file with the state. */
static bool add_prefix(struct job *j)
{
    const struct card_args *a = j->a;

    if (a->system == NULL) {
        return true;
    }
    j->system_word = card_prefix_word(a->system);
    if (j->system_word == NULL) {
        snprintf(j->error_message, sizeof j->error_message, "out of memory");
        return false;
    }
    j->prefix = card_prefix_file(a->out, j->error_message, sizeof j->error_message);
    return j->prefix != NULL &&
           card_prefix_make(j->models.first, a->words, a->system, j->prefix, j->error_message,
                            sizeof j->error_message) &&
           fine(j, card_add_file(&j->card, "ingot.prefix", j->prefix));
}

static bool add_all(struct job *j)
{
    const struct card_words words = { .models = j->models.names,
                                      .words = j->a->words,
                                      .more = j->system_word,
                                      .firmware = j->payload.path == NULL ? j->a->firmware : NULL,
                                      .for_board = j->for_board,
                                      .where = j->has_boot ? ", on the other partition" : "",
                                      .version = INGOT_VERSION_TEXT };
    struct card_image *own = j->has_boot ? &j->boot : &j->card;

    return fine_on(j, own, card_add_board(own, &j->board, &words, &j->missing)) && add_saves(j) &&
           (j->a->kv == 0 || fine(j, card_add_room(&j->card, "ingot.kv", j->a->kv << 20))) &&
           (j->a->log == 0 || fine(j, card_add_room(&j->card, "ingot.log", j->a->log << 20))) &&
           (j->a->kept == 0 || fine(j, card_add_room(&j->card, "ingot.kept", j->a->kept << 20)));
}

/* Report missing files: first those that all boards need, then those that only some boards
 * need. */
static void say_missing(const struct job *j)
{
    const struct card_missing *m = &j->missing;
    const char *from = j->a->firmware;

    if (j->board.loader_magics[0] != 0 && j->payload.path == NULL) {
        fprintf(stderr,
                "ingot: the card has no payload for the board's first loader, so it starts in "
                "QEMU only; --firmware FILE (make card: FIRMWARE=) copies one, README.txt says "
                "which\n");
    }
    if (from == NULL && (m->files[0] != '\0' || m->trees[0] != '\0')) {
        fprintf(
            stderr,
            "ingot: the card has no firmware of the board's maker, so it starts in QEMU only; --firmware FOLDER-OR-ZIP (make "
            "card: FIRMWARE=) copies: %s%s%s\n",
            m->files, m->files[0] != '\0' && m->trees[0] != '\0' ? ", " : "", m->trees);
        return;
    }
    if (m->files[0] != '\0') {
        fprintf(
            stderr,
            "ingot: %s lacks firmware of the board's maker, so no board starts from this card; missing: %s\n",
            name_shown(from), m->files);
    }
    if (m->trees[0] != '\0') {
        fprintf(
            stderr, "ingot: warning: %s has no device tree of these boards: %s. %s\n",
            name_shown(from), m->trees,
            m->stops
                ? "Some of them do not start without it (README.txt); the bootfs of a Raspberry Pi OS card has all"
                : "They start without it, and Ingot asks the firmware for their memory");
    }
}

/* Warn if the payload does not have a U-Boot that starts cards by itself. */
static void say_payload(const struct job *j)
{
    const char *path = j->payload.path;

    if (path != NULL && !hss_payload_starts_cards(path)) {
        fprintf(stderr,
                "ingot: warning: %s has no U-Boot that starts this card by itself: use a version "
                "that README.txt names, or type the lines there\n",
                name_shown(path));
    }
}

/* Warn if the board starts without files of its maker, so that --firmware has no effect. */
static void say_unused(const struct job *j)
{
    const struct card_board *b = &j->board;

    if (j->a->firmware != NULL && b->firmware[0] == '\0' && b->trees[0] == '\0' &&
        b->loader_magics[0] == 0) {
        fprintf(stderr,
                "ingot: warning: a card for %s has no firmware: --firmware %s is not used\n",
                j->a->board, name_shown(j->a->firmware));
    }
}

static bool write_card(struct job *j)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    struct card_options o = { .bytes = j->a->size,
                              .power_of_two = j->a->power_of_two,
                              .time = FILES_TIME,
                              .table = j->table,
                              .slot = j->board.slot,
                              .efi = j->is_efi,
                              .payload = j->payload.path != NULL ? &j->payload : NULL,
                              .boot = j->has_boot ? &j->boot : NULL };
    struct card_layout layout;
    char bytes[FORMAT_NUMBER_BYTES];

    if (epoch != NULL) {
        o.time = strtoll(epoch, NULL, 10);
    }
    if (!fine(j, card_image_write(&j->card, &o, j->a->out, &layout))) {
        return false;
    }
    printf("%s: %s for %s with %s\n", name_shown(j->a->out),
           format_bytes(bytes, layout.sectors * CARD_SECTOR), j->a->board,
           name_shown(j->models.names));
    say_saves(j);
    say_missing(j);
    say_payload(j);
    say_unused(j);
    return true;
}

static bool make_card(const struct card_args *a)
{
    struct job *j = calloc(1, sizeof *j);
    bool good;

    if (j == NULL) {
        fputs("ingot: out of memory\n", stderr);
        return false;
    }
    j->a = a;
    card_image_open(&j->card, (enum card_format)a->format);
    card_image_open(&j->boot, CARD_FAT32);
    /* The models are added first, because the README names them. */
    good = open_board(j) && open_payload(j) && check_output(j) && open_key(j) && add_models(j) &&
           add_prefix(j) && add_all(j) && write_card(j);
    if (!good) {
        fprintf(stderr, "ingot: %s\n", j->error_message);
    }
    card_models_close(&j->models);
    temporary_remove(j->prefix);
    free(j->prefix);
    free(j->system_word);
    card_image_close(&j->card);
    card_image_close(&j->boot);
    sign_key_clear(&j->key);
    free(j);
    return good;
}

static int run(int argc, char **argv)
{
    struct card_args a = { .save = SAVE_BY_MODEL, .names = NULL };
    int status;

    if (!command_line_read(&cmd_card, &a, argc, argv, &status)) {
        return status;
    }
    if (a.n_models == 0) {
        return command_refuse(&cmd_card, a.board, "give at least one model");
    }
    if (a.out == NULL) {
        return command_refuse(&cmd_card, "-o", "give the file to write, such as -o card.img");
    }
    if (a.words != NULL && strchr(a.words, '\n') != NULL) {
        return command_refuse(&cmd_card, "--cmdline", "boot arguments are one line");
    }
    if (a.names != NULL && (a.save == 0 || a.names[0] == '\0')) {
        return command_refuse(&cmd_card, "--names", "needs a name, and --save above 0");
    }
    if (a.names == NULL) {
        a.names = "chat";
    }
    return exit_status(make_card(&a));
}

const struct command cmd_card = {
    .name = "card",
    .operands = "BOARD MODEL...",
    .missing = "for which board, and with which models?",
    .summary = "make a card from which a board starts",
    .about =
        "Writes the image of a card or a drive: an MBR and one FAT32 partition with Ingot, the files\n"
        "that the board starts from, and the models. A MODEL is an .ingot, which is copied, or\n"
        "anything that `ingot pack` takes. A file on FAT32 must be shorter than 4 GiB; use\n"
        "--format exfat for larger ones. The board `efi` makes one stick for every machine whose\n"
        "firmware is EFI.",
    .example = "ingot card rpi4 -o card.img model.gguf --firmware /path/to/bootfs\n"
               "ingot card zero2w -o card.img model.gguf --firmware firmware-master.zip\n"
               "ingot card rpi4 -o card.img small.ingot large.ingot --size 4G --names a,b\n"
               "ingot card rpi5 -o drive.img large.ingot --format exfat --table gpt\n"
               "ingot card efi -o stick.img model.gguf",
    .options = card_args_options,
    .operand = card_args_operand,
    .run = run,
};
