#include "host/card/card_models.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/adapter/adapter.h"
#include "flash_image/output/temporary.h"
#include "flash_image/pack/ingot_file.h"
#include "host/plan/board_plan.h"
#include "host/plan/retyped.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/storage/storage.h"
#include "runtime/stream/expert_use.h"
#include "runtime/text/format_text.h"

enum { NAME_BYTES = 512 };

/* ---- a model that is too long ---------------------------------------------------------------- */

/* Plan the model for the board, with the card's boot arguments. */
static enum err plan_for_board(struct plan *plan, const struct card_models *m,
                               const struct image *img)
{
    struct board_request r = { .image = img,
                               .board = m->board,
                               .ram = (uint64_t)m->board->usual_mib << 20,
                               .limits = m->limits };

    return board_plan(plan, &r);
}

/* Return the best type with which the file is short enough and the board can run the model; NULL:
 * there is none. The file has `bytes` bytes now. */
static const char *type_that_fits(const struct card_models *m, const struct image *img,
                                  uint64_t bytes)
{
    static const char *const types[] = { "q8_0", "q6_k", "q4_k_m", "q4_0", "q3_k_m" };
    struct plan *plan = calloc(1, sizeof *plan);
    const char *found = NULL;
    struct retyped r;
    bool good = retyped_open(&r, img) && plan != NULL;

    for (size_t i = 0; good && found == NULL && i < sizeof types / sizeof types[0]; i++) {
        struct pack_options o = { 0 };

        good = pack_parse_type(types[i], &o);
        retype(&r, img, &o);
        if (retyped_file_bytes(&r) <= CARD_MOST_FILE_BYTES && retyped_file_bytes(&r) < bytes &&
            (m->board == NULL || plan_for_board(plan, m, &r.image) == ERR_OK)) {
            found = types[i];
        }
    }
    retyped_close(&r);
    free(plan);
    return found;
}

static void say_too_long(const struct card_models *m, const struct image *img, uint64_t bytes,
                         const char *name, const char *source, char *error_message,
                         size_t error_message_bytes)
{
    const char *type = type_that_fits(m, img, bytes);
    char size[FORMAT_NUMBER_BYTES];

    format_bytes(size, bytes);
    if (type == NULL) {
        snprintf(error_message, error_message_bytes,
                 "%.400s takes %s, and a file on FAT32 must be shorter than 4 GiB: no type makes "
                 "this model small enough; --format exfat has room for it",
                 name, size);
        return;
    }
    snprintf(
        error_message, error_message_bytes,
        "%.400s takes %s, and a file on FAT32 must be shorter than 4 GiB; --format exfat has room "
        "for it, or smaller weights help: ingot pack %.400s -o %.400s --type %s",
        name, size, source, name, type);
}

/* ---- how fast it will be --------------------------------------------------------------------- */

static void say_slow(const struct card_models *m, const char *name, const char *rate,
                     const struct plan *plan)
{
    fprintf(
        stderr,
        "ingot: warning: %s makes at most %s tokens a second on %s with %u MiB%s: take a smaller model, "
        "or fewer bits (--type); `ingot plan FILE --board %s` says more\n",
        name, rate, m->board->name, (unsigned)m->board->usual_mib,
        plan->residency == PLAN_STREAMED ? ", since its weights do not fit and come from the card"
                                         : "",
        m->board->name);
}

/* Print the rate expected from the board's published rates; an emulator has none. */
static void say_rate(const struct card_models *m, const struct image *img, const char *name)
{
    struct plan *plan = calloc(1, sizeof *plan);
    char rate[FORMAT_NUMBER_BYTES];

    if (plan == NULL || m->board == NULL) {
        free(plan);
        return;
    }
    if (plan_for_board(plan, m, img) != ERR_OK) {
        fprintf(stderr, "ingot: warning: %s does not fit %s with %u MiB: %s\n", name,
                m->board->name, (unsigned)m->board->usual_mib, plan->error_message);
    } else if (plan->prediction.decode_ns != 0) {
        format_ratio(rate, 1000000000u, plan->prediction.decode_ns,
                     board_rate_decimals(plan->prediction.decode_ns));
        printf("%s: at most %s tok/s predicted on %s with %u MiB\n", name, rate, m->board->name,
               (unsigned)m->board->usual_mib);
        if (plan->prediction.decode_ns > 1000000000u) {
            say_slow(m, name, rate, plan);
        }
    }
    free(plan);
}

/* ---- what a conversation takes ---------------------------------------------------------------- */

/* The context length on the board. */
static uint32_t context_on_board(const struct card_models *m, const struct image *img)
{
    struct plan *plan = calloc(1, sizeof *plan);
    uint32_t context = img->header->params.context;

    context = context < PLAN_DEFAULT_CONTEXT ? context : PLAN_DEFAULT_CONTEXT;
    context = m->limits.context != 0 ? m->limits.context : context;
    if (plan != NULL && m->board != NULL && plan_for_board(plan, m, img) == ERR_OK) {
        context = plan->context;
    }
    free(plan);
    return context;
}

/* Count the bytes of a save: two halves, each with tokens, turns and all states
 * (runtime/saved/saved_chat.h). */
static void count_save(struct card_models *m, const struct image *img)
{
    const struct kv_layers layers = { img->layers, img->header->params.n_layers };
    uint32_t context = context_on_board(m, img);
    uint64_t half = kv_cache_bytes(&layers, context, m->limits.kv) + layer_states_bytes(img) +
                    (uint64_t)context * sizeof(uint32_t) + sizeof(struct turns) +
                    sizeof(struct saved_chat_header) + CARD_SECTOR;

    if (2 * half > m->save_bytes) {
        m->save_bytes = 2 * half;
        m->save_tokens = context;
    }
}

/* ---- one model ------------------------------------------------------------------------------- */

/* Return the last part of a path, without slashes at its end. */
static const char *last_part(const char *path, size_t *bytes)
{
    size_t n = strlen(path);
    const char *slash;

    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    slash = memrchr(path, '/', n);
    *bytes = n - (slash != NULL ? (size_t)(slash + 1 - path) : 0);
    return slash != NULL ? slash + 1 : path;
}

/* Make the name "models/NAME.ingot" for a path: NAME is the name of the file, without .gguf or
 * .bin, or of the folder. A link keeps its own name, because the names in the cache of Hugging Face
 * are links to files that are named by their hashes. Returns false if the path does not exist. */
static bool card_name(const char *path, char *name, size_t bytes)
{
    static const char *const known[] = { ".gguf", ".bin", ".ingot" };
    char *whole = realpath(path, NULL);
    const char *base;
    size_t n;

    if (whole == NULL) {
        return false;
    }
    base = last_part(path, &n);
    if (strspn(base, ".") >= n) { /* "." or ".." */
        base = last_part(whole, &n);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t k = strlen(known[i]);

        if (n > k && strcmp(base + n - k, known[i]) == 0) {
            n -= k;
            break;
        }
    }
    snprintf(name, bytes, "models/%.*s.ingot", (int)n, base);
    free(whole);
    return true;
}

/* Make a new file in the folder of out. The file exists until card_models_close; the list owns its
 * path. NULL: error_message says why. */
static const char *file_beside(char **list, size_t *n, const char *out, char *error_message,
                               size_t error_message_bytes)
{
    size_t bytes = strlen(out) + 64;
    char *to = malloc(bytes);
    int fd = to != NULL ? temporary_file(out, to, bytes) : -1;

    if (fd < 0) {
        snprintf(error_message, error_message_bytes, "%.400s: no file can be made beside it: %s",
                 out, strerror(errno));
        free(to);
        return NULL;
    }
    close(fd);
    list[(*n)++] = to;
    return to;
}

/* Pack into a new file in the folder of out. NULL: error_message says why. */
static const char *pack_beside(struct card_models *m, const struct pack_options *pack,
                               const char *out, char *error_message, size_t error_message_bytes)
{
    struct pack_options o = *pack;
    const char *to = file_beside(m->packed, &m->n_packed, out, error_message, error_message_bytes);

    o.output = to;
    return to != NULL && pack_file(&o, error_message, error_message_bytes) == ERR_OK ? to : NULL;
}

/* True if the .ingot file is short enough, and its header and tables are valid. *use_bytes: the
 * size of NAME.use. */
static bool check_file(struct card_models *m, const struct card_image *c, const char *file,
                       const char *name, const char *source, uint64_t *use_bytes,
                       char *error_message, size_t error_message_bytes)
{
    struct ingot_file f;
    bool good;

    if (ingot_file_open(&f, file, error_message, error_message_bytes) != ERR_OK) {
        return false;
    }
    good = c->format == CARD_EXFAT || f.bytes <= CARD_MOST_FILE_BYTES;
    *use_bytes = expert_use_bytes(&f.image);
    if (!good) {
        say_too_long(m, &f.image, f.bytes, name, source, error_message, error_message_bytes);
    } else {
        say_rate(m, &f.image, name);
        count_save(m, &f.image);
    }
    ingot_file_close(&f);
    return good;
}

/* Get the .ingot file of the model at path; other formats are packed. NULL: error_message says
 * why. */
static const char *ready_file(struct card_models *m, const struct pack_options *pack,
                              const char *path, const char *out, bool *packed, char *error_message,
                              size_t error_message_bytes)
{
    struct pack_options o = *pack;
    enum err e;

    *packed = !pack_is_ingot(path, &e);
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%.400s: %s", path,
                 e == ERR_NOT_FOUND ? "no such file or folder" : strerror(errno));
        return NULL;
    }
    if (*packed) {
        o.input = path;
        return pack_beside(m, &o, out, error_message, error_message_bytes);
    }
    if (pack->type_given) {
        snprintf(error_message, error_message_bytes,
                 "%.400s is an .ingot already, whose types --type cannot change: give what it was "
                 "packed from",
                 path);
        return NULL;
    }
    return path;
}

/* Make a signed copy of the file in the folder of out; the copy exists until card_models_close.
 * Without a key, return the file. NULL: error_message says why. */
static const char *signed_file(struct card_models *m, const char *file, const char *out,
                               char *error_message, size_t error_message_bytes)
{
    const char *to;

    if (m->sign == NULL) {
        return file;
    }
    to = file_beside(m->signed_files, &m->n_signed, out, error_message, error_message_bytes);
    return to != NULL && sign_file(m->sign, file, to, error_message, error_message_bytes) == ERR_OK
               ? to
               : NULL;
}

/* Add a file that a board finds by its name without the ending: an adapter, a preset, a grammar or
 * actions. */
static bool add_by_name(struct card_image *c, const char *folder, const char *base,
                        const char *file, char *error_message, size_t error_message_bytes)
{
    const char *dot = strrchr(base, '.');
    char name[NAME_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)(dot != NULL ? dot - base : 0), base);
    if (!storage_is_plain_name(name)) {
        snprintf(error_message, error_message_bytes,
                 "%.300s: a board does not find a file of this name in %s: %s", base, folder,
                 storage_name_rule);
        return false;
    }
    snprintf(name, sizeof name, "%s%.480s", folder, base);
    if (card_add_file(c, name, file) != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s", c->error_message);
        return false;
    }
    return true;
}

/* Add a packed adapter to adapters/. */
static bool add_adapter(struct card_models *m, struct card_image *c, const char *path,
                        const char *out, char *error_message, size_t error_message_bytes)
{
    const char *file = signed_file(m, path, out, error_message, error_message_bytes);
    char model[NAME_BYTES];

    if (file == NULL) {
        return false;
    }
    if (!card_name(path, model, sizeof model)) {
        snprintf(error_message, error_message_bytes, "%.400s: no such file", path);
        return false;
    }
    return add_by_name(c, "adapters/", model + strlen("models/"), file, error_message,
                       error_message_bytes);
}

/* True if the file is in a folder of that name. */
static bool is_in(const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    size_t n = strlen(folder), before = slash != NULL ? (size_t)(slash - path) : 0;

    return before >= n && strncmp(slash - n, folder, n) == 0 &&
           (before == n || slash[-(ptrdiff_t)n - 1] == '/');
}

/* Return the card's folder for a file that is not a model; NULL for other files. */
static const char *folder_of(const char *path)
{
    static const struct {
        const char *end, *folder;
    } kinds[] = { { ".txt", "presets/" }, { ".grammar", "grammars/" } };
    size_t n = strlen(path);

    if (is_in(path, "actions") && n > 4 && strcmp(path + n - 4, ".txt") == 0) {
        return "actions/"; /* a preset's name also ends with .txt */
    }

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t bytes = strlen(kinds[i].end);

        if (n > bytes && strcmp(path + n - bytes, kinds[i].end) == 0) {
            return kinds[i].folder;
        }
    }
    return NULL;
}

static bool add_small(struct card_image *c, const char *folder, const char *path,
                      char *error_message, size_t error_message_bytes)
{
    const char *slash = strrchr(path, '/');

    return add_by_name(c, folder, slash != NULL ? slash + 1 : path, path, error_message,
                       error_message_bytes);
}

/* Reserve space for NAME.use, in which a board counts how often experts are used. */
static bool add_use(struct card_image *c, const char *model, uint64_t bytes)
{
    char name[NAME_BYTES];

    if (bytes == 0) {
        return true;
    }
    snprintf(name, sizeof name, "%.*s.use", (int)(strlen(model) - strlen(".ingot")), model);
    return card_add_room(c, name, bytes) == ERR_OK;
}

bool card_models_add(struct card_models *m, struct card_image *c, const struct pack_options *pack,
                     const char *path, const char *out, char *error_message,
                     size_t error_message_bytes)
{
    char name[NAME_BYTES];
    size_t at = strlen(m->names);
    const char *file;
    uint64_t use_bytes;
    bool packed;

    if (folder_of(path) != NULL) {
        return add_small(c, folder_of(path), path, error_message, error_message_bytes);
    }
    if (adapter_is(path)) {
        return add_adapter(m, c, path, out, error_message, error_message_bytes);
    }
    file = ready_file(m, pack, path, out, &packed, error_message, error_message_bytes);
    if (file != NULL) {
        file = signed_file(m, file, out, error_message, error_message_bytes);
    }
    if (file == NULL || !card_name(path, name, sizeof name) ||
        !check_file(m, c, file, name + strlen("models/"), packed ? path : "SOURCE", &use_bytes,
                    error_message, error_message_bytes)) {
        return false;
    }
    if (card_add_file(c, name, file) != ERR_OK || !add_use(c, name, use_bytes)) {
        snprintf(error_message, error_message_bytes, "%s", c->error_message);
        return false;
    }
    if (m->first == NULL) {
        m->first = file;
    }
    snprintf(m->names + at, sizeof m->names - at, "%s%s", at > 0 ? ", " : "",
             name + strlen("models/"));
    return true;
}

void card_models_close(struct card_models *m)
{
    for (size_t i = 0; i < m->n_packed; i++) {
        temporary_remove(m->packed[i]);
        free(m->packed[i]);
    }
    m->n_packed = 0;
    for (size_t i = 0; i < m->n_signed; i++) {
        temporary_remove(m->signed_files[i]);
        free(m->signed_files[i]);
    }
    m->n_signed = 0;
}
