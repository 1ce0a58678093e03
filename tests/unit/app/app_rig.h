/* An application over made-up models in memory, at a console played here. Each rig is one struct: a test
 * may have several, as a process may have several applications. */
#ifndef INGOT_TESTS_UNIT_APP_RIG_H
#define INGOT_TESTS_UNIT_APP_RIG_H

#include "runtime/app/app.h"

#include "tests/unit/console/console_rig.h"
#include "tests/unit/rig.h"

enum { APP_RIG_RAM = 16 << 20, APP_RIG_IDS = 12 };

/* A model that is found by name. damaged: a bit of its weights is wrong. */
struct shelf_model {
    const char *name;
    uint8_t *packed;
    size_t bytes;
    bool damaged;
};

static struct shelf_model shelf[] = { { .name = "one" }, { .name = "two" } };

struct app_rig {
    struct app app;
    struct app_files files;
    struct options options;
    struct platform platform;
    struct fake_block fake;
    struct file file;
    bool empty; /* nothing is found any more */
    char error_message[80];
};

static const uint32_t app_rig_ids[APP_RIG_IDS] = { 5, 9, 300, 17, 44, 45, 46, 7, 120, 121, 6, 8 };

/* ---- the console ---- */

static char said[1 << 15];
static size_t said_bytes;
static const char *typed = ""; /* at first */
static int looks_before_ctrl_c =
    -1; /* bytes of the input, after which Ctrl-C comes; -1: it never comes */

static void app_rig_putc(void *context, char c)
{
    (void)context;
    if (said_bytes + 1 < sizeof said) {
        said[said_bytes++] = c;
        said[said_bytes] = '\0';
    }
}

static int app_rig_getc(void *context)
{
    (void)context;
    if (*typed != '\0')
        return (unsigned char)*typed++;
    if (looks_before_ctrl_c < 0 || looks_before_ctrl_c-- > 0)
        return CONSOLE_NO_BYTE;
    return 3;
}

/* Nothing was said yet, and no key was hit. */
static void app_rig_console(int looks)
{
    struct console_rig terminal = {
        .putc = app_rig_putc, .getc = app_rig_getc, .ticks = rig_file_ticks, .hz = 1000
    };

    console_rig_open(&terminal);
    looks_before_ctrl_c = looks;
    said_bytes = 0;
    said[0] = '\0';
}

/* ---- the files ---- */

static const char *app_rig_error_message(void *context)
{
    const struct app_rig *r = context;

    return r->error_message;
}

static enum err app_rig_find(void *context, enum app_file which, const char *name,
                             const struct file **file)
{
    struct app_rig *r = context;
    static const struct file_timeout forever = { NULL, 0 };

    (void)which;
    *file = &r->file;
    snprintf(r->error_message, sizeof r->error_message, "there is no model %s", name);
    for (size_t i = 0; i < sizeof shelf / sizeof shelf[0] && !r->empty; i++) {
        struct shelf_model *m = &shelf[i];

        if (strcmp(m->name, name) != 0)
            continue;
        fake_init(&r->fake, m->packed, m->bytes / SECTOR_BYTES);
        if (file_open_device(&r->file, &r->fake.dev, m->bytes, &forever) != ERR_OK)
            rig_die("the fake device does not open");
        file_set_name(&r->file, name);
        return ERR_OK;
    }
    return ERR_NOT_FOUND;
}

/* "typo" is refused before anything is given up. */
static enum err app_rig_check(void *context, const char *name)
{
    struct app_rig *r = context;

    snprintf(r->error_message, sizeof r->error_message, "there is no model %s", name);
    if (strcmp(name, "typo") == 0)
        return ERR_NOT_FOUND;
    return ERR_OK;
}

static enum err app_rig_list(void *context, storage_visit_fn *visit, void *visit_context)
{
    const struct app_rig *r = context;

    for (size_t i = 0; i < sizeof shelf / sizeof shelf[0] && !r->empty; i++)
        visit(visit_context, shelf[i].name, shelf[i].bytes);
    return ERR_OK;
}

static const char *app_rig_name(void *context, const char *asked)
{
    (void)context;
    return asked;
}

/* ---- all of it ---- */

static void app_rig_shelf(void)
{
    static const enum ingot_type types[] = { INGOT_Q8_0, INGOT_Q4_0 };

    for (size_t i = 0; i < sizeof shelf / sizeof shelf[0]; i++) {
        rig_make_model("tiny", types[i]);
        shelf[i].packed = rig.packed;
        shelf[i].bytes = rig.packed_bytes;
        rig.packed = NULL;
    }
}

/* Flips a bit in the middle of the file, which belongs to a layer. */
__attribute__((unused)) static void app_rig_damage(struct shelf_model *m)
{
    m->packed[m->bytes / 2] ^= 4;
}

/* Opens the application with a model of the shelf, on n cores, with `limit` bytes for its weights
 * (0: no limit). The rig's memory is never freed. */
static enum err app_rig_open(struct app_rig *r, const char *model, unsigned n_cores, size_t limit)
{
    struct app_setup setup = { .platform = &r->platform,
                               .console = &console,
                               .files = &r->files,
                               .options = &r->options,
                               .front = APP_CONSOLE,
                               .predict = true };

    host_platform(&r->platform, NULL);
    r->platform.cores.n = n_cores;
    r->platform.memory.arena.base = aligned_alloc(4096, APP_RIG_RAM);
    r->platform.memory.arena.bytes = APP_RIG_RAM;
    r->files = (struct app_files){ .context = r,
                                   .error_message = app_rig_error_message,
                                   .find_model = app_rig_find,
                                   .model_name = app_rig_name,
                                   .check_model = app_rig_check,
                                   .list_models = app_rig_list };
    options_init(&r->options);
    snprintf(r->options.load.model, sizeof r->options.load.model, "%s", model);
    r->options.show.ids = true; /* hashes are made */
    r->options.load.mem = limit;
    if (app_start(&r->app, &setup) != ERR_OK)
        return ERR_NO_DEVICE;
    return app_open(&r->app);
}

/* Computes the ids anew, from the beginning, and returns the hash of their logits. 0: no model is
 * there. */
__attribute__((unused)) static uint64_t app_rig_hash(struct app_rig *r)
{
    struct session *s = r->app.chat.session;

    if (s == NULL)
        return 0;
    session_clear(s);
    for (int i = 0; i < APP_RIG_IDS; i++) {
        if (session_append(s, &app_rig_ids[i], 1, NULL) != ERR_OK)
            rig_die(s->error_message);
    }
    return s->hash.value;
}

#endif
