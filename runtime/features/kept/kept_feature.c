/* The hooks of kept prompts at a start and in a turn. If the beginning of a prompt was kept, its
 * blocks are taken from there. The other passes of the prompt are kept in memory, and the prompt is
 * written to the file after the reply. */
#include <string.h>

#include "board/min_max.h"
#include "runtime/app/app_private.h"
#include "runtime/console/console.h"
#include "runtime/saved/kept.h"
#include "runtime/session/session_block.h"

struct kept_state {
    struct kept kept;
    const struct app_files *files; /* where kept.file was found */
    struct session_watch watch;
    size_t bytes;      /* bytes of memory for blocks, or 0 if prompts are not kept */
    uint32_t n_prompt; /* tokens up to the end of the turn's prompt, before the reply */
    bool said;         /* kept.error_message was logged */
};

/* Take at most half of the remaining memory, because the model needs memory, too. */
static size_t memory(void *state, const struct app *a, const struct image *image)
{
    struct kept_state *s = state;
    uint64_t bytes = a->setup.options->feature.kept;

    (void)image;
    s->bytes = (size_t)min_u64(bytes, arena_left(&a->target.model.arena) / 2);
    return s->bytes != 0 ? arena_take_bytes(s->bytes) : 0;
}

/* Keep the passes of a prompt. A reply is kept after its end, because its passes have one token
 * each. */
static void keep_pass(void *context, struct session *session)
{
    struct kept_state *s = context;

    if (session->n_cached <= s->n_prompt) {
        kept_follow(&s->kept, session, s->n_prompt);
    }
}

static const struct file *find_file(struct app *a)
{
    const struct app_files *files = a->setup.files;
    const struct file *file = NULL;

    if (files->find_kept == NULL) {
        return NULL;
    }
    if (files->find_kept(files->context, &file) != ERR_OK) {
        console_log(a->setup.console, "prompts are kept only in memory: %s",
                    files->error_message(files->context));
        return NULL;
    }
    return file;
}

static void say_error_message(struct kept_state *s, struct console *console)
{
    if (s->kept.error_message[0] != '\0' && !s->said) {
        console_log(console, "warning: %s", s->kept.error_message);
        s->said = true;
    }
}

static void say_open(const struct kept *k, struct console *console)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < k->n_card; i++) {
        n += k->card[i].serial != 0;
    }
    if (k->of_another) {
        console_log(console, "%.100s had prompts of another model or type, and starts empty",
                    k->file->name);
    }
    console_log(console,
                "prompts are kept: room for %u tokens in memory and %u on the card (%u used)",
                (unsigned)(k->n_memory * k->distance), (unsigned)(k->n_card * k->distance),
                n * (unsigned)k->distance);
}

static void open_kept(void *state, struct app *a)
{
    struct kept_state *s = state;
    struct session *session = a->chat.session;
    struct kept_setup setup = { .distance = 0 };

    if (s->bytes == 0) {
        return;
    }
    setup.memory = (struct memory_range){ arena_take(&session->model->arena, ARENA_LEARN, s->bytes),
                                          s->bytes };
    setup.file = find_file(a);
    s->files = a->setup.files;
    s->said = false;
    if (kept_open(&s->kept, &setup, session)) {
        s->watch = (struct session_watch){ kept_step(&s->kept), keep_pass, s };
        session->watch = &s->watch;
        features_switch(&a->features, FEATURE_kept, true);
    }
    say_error_message(s, a->setup.console);
    if (s->kept.n_memory != 0 && a->setup.front != APP_SILENT) {
        say_open(&s->kept, a->setup.console);
    }
}

static void reset(void *state, struct chat *c)
{
    struct kept_state *s = state;

    s->kept.n_memory = 0;
    c->session->watch = NULL;
    features_switch(c->features, FEATURE_kept, false);
}

static void take(void *state, struct feature_turn *t)
{
    struct kept_state *s = state;

    s->n_prompt = t->chat->session->n_ids;
    (void)kept_take(&s->kept, t->chat->session);
    say_error_message(s, t->chat->console);
}

/* Leave the file if the card was changed on a computer. */
static void check_place(struct kept_state *s)
{
    const struct app_files *files = s->files;

    if (files->check_place != NULL && files->check_place(files->context, s->kept.file) != ERR_OK) {
        kept_leave_file(&s->kept, files->error_message(files->context));
    }
}

/* After the reply, keep the reply in memory, too, and write the prompt to the card. The next prompt
 * waits until this is done. */
static void write(void *state, struct feature_turn *t, const char *reason)
{
    struct kept_state *s = state;

    (void)reason;
    (void)session_block_ready(t->chat->session);
    kept_follow(&s->kept, t->chat->session, 0);
    if (kept_waits(&s->kept)) {
        check_place(s);
    }
    while (kept_write(&s->kept)) {
    }
    say_error_message(s, t->chat->console);
}

const struct feature feature_kept = {
    .name = "kept",
    .state_bytes = sizeof(struct kept_state),
    .memory = memory,
    .loaded = open_kept,
    .reset = reset,
    .prompt_built = take,
    .turn_ended = write,
};
