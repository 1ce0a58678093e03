/* Commands about the conversation: start it anew, take turns back, save and load it. */
#include "runtime/app/commands_private.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/text/plural.h"

enum { PENDING_FEW = 16 };

enum command_result command_reset(struct app *a, char *argument)
{
    (void)argument;
    chat_clear(&a->chat);
    console_printf(a->setup.console, "(a new conversation)\n");
    return COMMAND_DONE;
}

/* The word with which /undo takes back what a feature has done, or NULL. */
static const char *undo_word_of(const struct app *a, unsigned feature)
{
    const struct feature_saved *s = a->features.rows[feature]->saved;

    return s != NULL && s->undo != NULL ? s->word : NULL;
}

/* Do /undo WORD for all features that share the word and can undo; false if there are none. */
static bool undo_word(struct app *a, const char *word)
{
    bool known = false;

    for (unsigned i = 0; i < a->features.n; i++) {
        const char *own = undo_word_of(a, i);

        if (own != NULL && strcmp(own, word) == 0) {
            a->features.rows[i]->saved->undo(a->features.state[i], a);
            known = true;
        }
    }
    return known;
}

/* Name the words that /undo takes, each once. */
static void refuse_undo_word(struct app *a)
{
    console_printf(a->setup.console, "error: /undo takes no word, or one of these:");
    for (unsigned i = 0; i < a->features.n; i++) {
        const char *word = undo_word_of(a, i);
        bool is_new = word != NULL;

        for (unsigned before = 0; is_new && before < i; before++) {
            const char *other = undo_word_of(a, before);

            is_new = other == NULL || strcmp(other, word) != 0;
        }
        if (is_new) {
            console_printf(a->setup.console, " %s", word);
        }
    }
    console_printf(a->setup.console, "\n");
}

enum command_result command_undo(struct app *a, char *argument)
{
    if (undo_word(a, argument)) {
        return COMMAND_DONE;
    }
    if (argument[0] != '\0') {
        refuse_undo_word(a);
    } else if (chat_undo(&a->chat)) {
        console_printf(a->setup.console, "(the last turn is taken back, %u left)\n",
                       a->chat.turns.n);
    } else {
        console_printf(a->setup.console, "error: there is no turn to take back\n");
    }
    return COMMAND_DONE;
}

enum command_result command_retry(struct app *a, char *argument)
{
    (void)argument;
    features_retried(&a->features, &a->chat, true);
    if (chat_retry(&a->chat) == ERR_NOT_FOUND) {
        console_printf(a->setup.console, "error: there is no turn to answer again\n");
    } else {
        features_retried(&a->features, &a->chat, false);
    }
    return COMMAND_DONE;
}

/* Print how the next conversation begins. */
static void show_system(struct app *a)
{
    const struct options *o = a->setup.options;
    uint32_t bytes = (uint32_t)o->reply.system_bytes;
    const char *text = o->reply.system, *whose = "the system prompt";

    if (!options_given(o, OPTION_SYSTEM)) {
        text = image_chat_text(a->chat.template, INGOT_CHAT_SYSTEM, &bytes);
        whose = "the model's own system prompt";
    }
    if (bytes == 0) {
        console_printf(a->setup.console, "(there is no system prompt: /system TEXT gives one)\n");
        return;
    }
    console_printf(a->setup.console, "(%s, which /system \"\" takes away: ", whose);
    console_write(a->setup.console, text, bytes);
    console_printf(a->setup.console, ")\n");
}

enum command_result command_system(struct app *a, char *argument)
{
    struct options_report report = commands_report(a);
    const char *with = "with that system prompt";

    if (!chat_has_template(a->chat.template)) {
        console_printf(a->setup.console,
                       "error: the model has no chat template, so a system prompt has no effect\n");
        return COMMAND_DONE;
    }
    if (argument[0] == '\0') {
        show_system(a);
        return COMMAND_DONE;
    }
    if (options_set_quoted(a->setup.options, "system", argument, &report) != ERR_OK) {
        return COMMAND_DONE;
    }
    if (a->setup.options->reply.system_bytes == 0) {
        with = "without a system prompt";
    }
    chat_clear(&a->chat);
    console_printf(a->setup.console, "(a new conversation, %s)\n", with);
    return COMMAND_DONE;
}

bool app_end_save(struct app *a, enum err e)
{
    const struct app_files *files = a->setup.files;

    return files->end_save == NULL || files->end_save(files->context, e == ERR_OK) == ERR_OK;
}

/* ---- saved and loaded ----------------------------------------------------------------------- */

static struct saved_chat_state state_of(struct chat *c)
{
    return (struct saved_chat_state){
        .session = c->session,
        .reply_start = c->reply_start,
        .started = c->started,
        .turns = &c->turns,
    };
}

const struct file *commands_find_save(struct app *a, const char *name, uint64_t bytes)
{
    const struct app_files *files = a->setup.files;
    const struct file *file;

    if (files->find_save == NULL) {
        console_printf(a->setup.console, "error: there is no card to save on\n");
        return NULL;
    }
    if (name[0] == '\0') {
        name = "chat";
    }
    if (files->find_save(files->context, name, bytes, &file) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
        return NULL;
    }
    return file;
}

bool commands_was_saved(struct app *a, const struct file *file, enum err e)
{
    const struct app_files *files = a->setup.files;
    bool kept = app_end_save(a, e);

    console_progress_end(a->setup.console);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped: %s is as it was)\n", file->name);
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", a->saved.error_message);
    } else if (!kept) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
    }
    return e == ERR_OK && kept;
}

static void say_saved(struct app *a, const struct saved_chat_state *state, const struct file *file)
{
    unsigned n = (unsigned)state->session->n_ids, kept = (unsigned)a->saved.n_kept;

    if (kept == state->session->n_cached) {
        console_printf(a->setup.console, "(%u %s saved in %s)\n", n,
                       plural(n, "token is", "tokens are"), file->name);
        return;
    }
    console_printf(
        a->setup.console,
        "(%u %s saved in %s, with the keys and values of the first %u: /load computes the "
        "others; `make card SAVE=%u` makes room for a whole context)\n",
        n, plural(n, "token is", "tokens are"), file->name, kept,
        (unsigned)((saved_chat_most_bytes(state) + (1u << 20) - 1) >> 20));
}

static enum command_result save_chat(struct app *a, char *argument)
{
    struct saved_chat_state state = state_of(&a->chat);
    const struct file *file = commands_find_save(a, argument, saved_chat_most_bytes(&state));
    enum err e;

    if (file == NULL) {
        return COMMAND_DONE;
    }
    e = saved_chat_write(&a->saved, file, &state, console_progress_step, a->setup.console);
    if (commands_was_saved(a, file, e)) {
        say_saved(a, &state, file);
    }
    return COMMAND_DONE;
}

static void save_use(struct app *a)
{
    const struct app_files *files = a->setup.files;
    struct model *m = &a->target.model;
    const struct file *file;
    enum err e;
    bool kept;

    if (m->stream.experts.all == NULL) {
        console_printf(a->setup.console, "error: no experts of this model are in a cache\n");
        return;
    }
    if (files->find_use == NULL) {
        console_printf(a->setup.console, "error: there is no card to save on\n");
        return;
    }
    if (files->find_use(files->context, expert_use_bytes(&m->image), &file) != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", files->error_message(files->context));
        return;
    }
    e = expert_use_write(&m->use, file, &m->image, m->stream.experts.all);
    kept = app_end_save(a, e);
    if (e != ERR_OK || !kept) {
        console_printf(a->setup.console, "error: %s\n",
                       e != ERR_OK ? m->use.error_message : files->error_message(files->context));
        return;
    }
    console_printf(a->setup.console, "(the use of the experts is saved in %s for the next plan)\n",
                   file->name);
}

/* Return feature i's entry for this word of /save (if `loads`, of /load), or NULL if the feature
 * has no such word. */
static const struct feature_saved *saved_by(const struct app *a, unsigned i, const char *word,
                                            bool loads)
{
    const struct feature_saved *s = a->features.rows[i]->saved;

    return s == NULL || strcmp(s->word, word) != 0 || (loads && s->load == NULL) ? NULL : s;
}

/* /save WORD or /load WORD, for all features with this word; return false if there are none. */
static bool move_word(struct app *a, const char *word, bool loads)
{
    struct features *f = &a->features;
    unsigned first = f->n; /* the first feature that took part */
    const char *off = NULL;
    bool known = false, any = false;

    for (unsigned i = 0; i < f->n; i++) {
        const struct feature_saved *s = saved_by(a, i, word, loads);

        if (s == NULL) {
            continue;
        }
        known = true;
        off = s->off;
        if (!s->is_there(f->state[i], a)) {
            continue;
        }
        first = min_u32(first, i);
        if (loads) {
            s->load(f->state[i], a);
        } else if (s->has_any(f->state[i], a)) {
            s->save(f->state[i], a);
            any = true;
        }
    }
    if (known && first == f->n) {
        console_printf(a->setup.console, "error: %s\n", off);
    } else if (known && !loads && !any) { /* `save` then prints that there is nothing to save */
        f->rows[first]->saved->save(f->state[first], a);
    }
    return known;
}

enum command_result command_save(struct app *a, char *argument)
{
    if (strcmp(argument, "use") == 0) {
        save_use(a);
        return COMMAND_DONE;
    }
    return move_word(a, argument, false) ? COMMAND_DONE : save_chat(a, argument);
}

/* Print why loading failed, and what happened to the conversation that it should have replaced. */
static void say_not_loaded(struct app *a, enum err e)
{
    struct console *console = a->setup.console;
    unsigned n_ids = (unsigned)a->chat.session->n_ids;

    if (e == ERR_ABORTED) {
        console_printf(console, "(stopped)\n");
    } else {
        console_printf(console, "error: %s\n", a->saved.error_message);
    }
    if (a->saved.before == SAVED_CHAT_LOST) {
        chat_clear(&a->chat);
        console_printf(console, "(the previous conversation is lost: a new one begins)\n");
    } else if (a->saved.before == SAVED_CHAT_PENDING && n_ids != 0) {
        console_printf(console,
                       "(the previous conversation continues: its %u %s computed again with "
                       "the next line)\n",
                       n_ids, plural(n_ids, "token is", "tokens are"));
    } else if (n_ids != 0) {
        console_printf(console, "(the previous conversation continues)\n");
    }
}

/* Compute the tokens for whose states the file had no room. The last few tokens are pending
 * after every load, and are computed with the next line. */
static void compute_missing(struct app *a)
{
    struct stop stop = { chat_wait_stop, &a->chat };
    struct session *s = a->chat.session;
    enum err e;

    if (s->n_ids - s->n_cached <= PENDING_FEW) {
        return;
    }
    chat_wait_begin(&a->chat, "conversation", s->n_ids - s->n_cached);
    e = session_run(s, &stop);
    console_progress_end(a->setup.console);
    if (e == ERR_ABORTED) {
        console_printf(a->setup.console, "(stopped: the next line computes the other %u tokens)\n",
                       (unsigned)(s->n_ids - s->n_cached));
    } else if (e != ERR_OK) {
        console_printf(a->setup.console, "error: %s\n", s->error_message);
    }
}

enum command_result command_load(struct app *a, char *argument)
{
    struct chat *c = &a->chat;
    struct saved_chat_state state = state_of(c);
    const struct file *file;
    enum err e;

    if (move_word(a, argument, true)) {
        return COMMAND_DONE;
    }
    file = commands_find_save(a, argument, 0);
    if (file == NULL) {
        return COMMAND_DONE;
    }
    e = saved_chat_read(&a->saved, file, &state, console_progress_step, a->setup.console);
    console_progress_end(a->setup.console);
    if (e != ERR_OK) {
        say_not_loaded(a, e);
        return COMMAND_DONE;
    }
    c->started = state.started;
    c->reply_start = state.reply_start;
    features_changed(&a->features, c);
    if (a->saved.is_older) {
        console_printf(a->setup.console,
                       "(the newest conversation in %s is damaged: this is the one saved before "
                       "it)\n",
                       file->name);
    }
    compute_missing(a);
    console_printf(a->setup.console, "(%u %s loaded from %s, %u %s: go on)\n",
                   (unsigned)c->session->n_ids,
                   plural((unsigned)c->session->n_ids, "token", "tokens"), file->name, c->turns.n,
                   plural(c->turns.n, "turn", "turns"));
    return COMMAND_DONE;
}
