#include "host/app/host_app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board/host/host_board.h"
#include "board/host/host_platform.h"
#include "board/host/host_terminal.h"
#include "board/min_max.h"
#include "flash_image/pack/pack.h"
#include "host/args/host_option_names.h"
#include "runtime/features/grammar/grammar.h"
#include "runtime/text/format_text.h"

static bool said_fine(const struct host_app *h, enum err e)
{
    char error_message[HOST_ERROR_MESSAGE_BYTES], bytes[FORMAT_NUMBER_BYTES];
    size_t n;

    if (e != ERR_OK) {
        n = host_option_names_rewrite(h->app.error_message, strlen(h->app.error_message),
                                      error_message, sizeof error_message);
        fprintf(stderr, "ingot: %.*s", (int)n, error_message);
        if (e == ERR_NO_SPACE && h->memory.limit != NULL) {
            fprintf(stderr, " (%s leaves this program %s of memory)", h->memory.limit,
                    format_bytes(bytes, h->memory.bytes));
        }
        fputc('\n', stderr);
    }
    return e == ERR_OK;
}

static bool check_args(const struct host_args *args, const struct machine *machine)
{
    char names[KERNELS_TEXT_BYTES];
    uint32_t features;

    if (args->model != NULL && strlen(args->model) >= HOST_PATH_BYTES) {
        fprintf(stderr, "ingot: the model's path is longer than %d bytes\n", HOST_PATH_BYTES - 1);
        return false;
    }
    if (args->options.machine.isa[0] != '\0' &&
        !kernels_force(machine->cpu_features, args->options.machine.isa, &features)) {
        fprintf(stderr, "ingot: --isa: this CPU has no %s; it has %s, and ref\n",
                args->options.machine.isa, kernels_features_text(names, machine->cpu_features));
        return false;
    }
    return true;
}

/* Makes the platform, with as many cores as the arguments ask for. Cores are threads, and there may
 * be more of them than processors. */
static void make_platform(struct host_app *h, const struct host_args *args)
{
    struct memory_range *arena = &h->platform.memory.arena;

    host_platform(&h->platform, &h->machine);
    if (args->options.machine.cores != 0) {
        h->platform.cores.n = args->options.machine.cores;
    }
    if (args->ram != 0) {
        arena->bytes = min_size(arena->bytes, (size_t)args->ram);
    }
}

static void open_console(struct host_app *h, const struct host_args *args, bool interactive)
{
    struct console_setup setup = { .echo = host_streams_open(interactive) };
    enum console_terminal kind = CONSOLE_PLAIN;

    host_console_rewrite_log(host_option_names_rewrite);
    console_open(&h->console, &h->platform, &setup);
    if (setup.echo || (host_terminal_obeys() && isatty(2))) {
        kind = CONSOLE_VT;
    }
    console_find_terminal(&h->console, kind);
    console_set_columns(&h->console, host_terminal_columns());
    if (args->options.line.mode == MODE_JSON) {
        console_speak_json(&h->console);
    }
}

/* Opens the public key, with which models without a valid signature are refused, as on a board.
 * Returns false after printing the error. */
static bool open_key(struct host_app *h, const char *path, const struct signing **signing)
{
    char error_message[HOST_ERROR_MESSAGE_BYTES];

    if (path == NULL) {
        return true;
    }
    if (sign_key_open(&h->key, path, false, error_message, sizeof error_message) != ERR_OK) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    *signing = &h->key.signing;
    return true;
}

/* Returns how many bytes of the model's file will be mapped: all with --mmap, or while another
 * format is packed; else 0. */
static uint64_t mapped_bytes(const struct host_args *args)
{
    struct stat st;
    enum err e;

    if (args->model == NULL || stat(args->model, &st) != 0 ||
        (!args->in_place && pack_is_ingot(args->model, &e))) {
        return 0;
    }
    return (uint64_t)st.st_size;
}

enum { PRESET_MOST = 8192 /* limit of what the application reads of a file */ };

/* Fails if the preset is missing; a board would start without it. */
static bool check_preset(struct host_app *h, const struct host_args *args)
{
    const char *name = args->options.load.preset;
    char text[PRESET_MOST];

    if (args->model == NULL || name[0] == '\0' ||
        h->files.files.read_preset(&h->files, name, text, sizeof text) == ERR_OK) {
        return true;
    }
    fprintf(stderr, "ingot: --preset %s: %s\n", name, h->files.error_message);
    return false;
}

/* Fails if the command line or a preset names a grammar that cannot be
 * read. */
static bool check_grammar(struct host_app *h, const struct host_args *args)
{
    const char *name = args->options.load.grammar;
    void *memory;
    size_t bytes;
    bool good;

    if (args->model == NULL || name[0] == '\0' || strcmp(name, "on") == 0 ||
        strcmp(name, "off") == 0 || grammar_is_choices(name)) {
        return true;
    }
    memory = malloc(INGOT_GRAMMAR_BYTES);
    good = memory != NULL && h->files.files.read_grammar(&h->files, name, memory, &bytes) == ERR_OK;
    if (!good) {
        fprintf(stderr, "ingot: --grammar: %s\n",
                memory != NULL ? h->files.error_message : "out of memory");
    }
    free(memory);
    return good;
}

enum use { USE_LOG, USE_REPLY, USE_TALK };

static bool start(struct host_app *h, struct host_args *args, enum use use)
{
    bool interactive = use == USE_TALK;
    struct app_setup setup = { .platform = &h->platform,
                               .console = &h->console,
                               .files = &h->files.files,
                               .options = &args->options,
                               .front = args->quiet ? APP_SILENT : APP_PROGRAM,
                               .chats = interactive,
                               .usual_context = args->usual_context,
                               .chunk = args->chunk,
                               .rates = args->rates,
                               .predict = args->predict };

    memset(h, 0, sizeof *h);
    h->memory = (struct host_memory){ .most = args->ram,
                                      .mapped = mapped_bytes(args),
                                      .threads = args->options.machine.cores };
    if (!host_machine(&h->machine, &h->memory) || !check_args(args, &h->machine) ||
        !open_key(h, args->public_key, &setup.signing)) {
        return false;
    }
    if (args->predict) {
        setup.rates.card = args->card_rate;
    }
    make_platform(h, args);
    if (use == USE_LOG) {
        h->platform.console.to_log = NULL; /* the user asked for the log */
    }
    open_console(h, args, interactive);
    if (interactive && isatty(0) && isatty(1)) {
        setup.greeting = "Type a line and press Enter; Ctrl-C stops a reply, Ctrl-D ends, /help "
                         "lists commands.";
    }
    if (args->model != NULL) {
        host_files_open(&h->files, args, &h->platform);
    }
    return check_preset(h, args) && said_fine(h, app_start(&h->app, &setup)) &&
           check_grammar(h, args);
}

bool host_app_start(struct host_app *h, struct host_args *args)
{
    return start(h, args, USE_LOG);
}

bool host_app_plan(struct host_app *h, struct host_args *args)
{
    if (!start(h, args, USE_REPLY)) {
        return false;
    }
    return said_fine(h, app_plan(&h->app));
}

enum { KV_TOUCHED = 256 << 20 /* limit, because a large context is rarely full */ };

/* Touches memory for keys and values. Otherwise the first prompt, which writes keys and values of
 * every layer, would wait while a page of 2 MiB is cleared for each layer
 * (docs/experiments/first-prefill.md). */
static bool touch_kv(struct host_app *h)
{
    const struct arena_region *kv = &h->app.target.model.arena.regions[ARENA_KV];

    host_memory_touch(kv->base, min_size(kv->bytes, KV_TOUCHED));
    return true;
}

bool host_app_load(struct host_app *h)
{
    return said_fine(h, app_load(&h->app)) && touch_kv(h);
}

bool host_app_open(struct host_app *h, struct host_args *args, bool interactive)
{
    return start(h, args, interactive ? USE_TALK : USE_REPLY) && said_fine(h, app_open(&h->app)) &&
           touch_kv(h) &&
           (args->options.load.preset[0] == '\0' || check_grammar(h, args)); /* preset's grammar */
}
