/* A feature can be switched off without changing anything else. A feature's folder has all of its
 * code: state, commands, its section of saved files, and its hooks at fixed points of a start and
 * of a turn. features.inc has a row for each feature; chat and app walk the rows at these points
 * and name no feature. If no feature is on, a point costs one test.
 *
 * Hooks get the feature's own state, which is zeroed once, at the start. Hooks of a conversation
 * and of a turn are called only while the feature is on (features_switch), other hooks always. A
 * hook that is NULL is not called. */
#ifndef INGOT_RUNTIME_FEATURE_H
#define INGOT_RUNTIME_FEATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/session/generate.h"

struct app;
struct chat;
struct hidden_tag;
struct model_setup;

enum {
    FEATURES_MOST = 32,
    FEATURES_STATE_BYTES = 192 << 10, /* room for the states of all features */
    FEATURE_TURN_BYTES = 1024,        /* longest text with which a feature makes a turn */
};

/* ---- commands -------------------------------------------------------------------------------- */

enum command_result {
    COMMAND_DONE, /* the command was done, or refused with a message */
    COMMAND_ENDS, /* the conversation ends, as by /off */
};

/* The groups of /help. */
enum command_group {
    GROUP_CONVERSATION,
    GROUP_BRANCHES,
    GROUP_MODELS,
    GROUP_LESSONS,
    GROUP_MEMORIES,
    GROUP_LINE,
    GROUP_MACHINE,
    COMMAND_GROUPS
};

struct chat_command {
    const char *name;
    enum command_group group;
    const char *arguments, *help; /* NULL if /help does not list the command */
    bool needs_model;             /* the command is refused while no model is loaded */
    enum command_result (*run)(struct app *a, char *argument);
};

/* ---- /save and /load ------------------------------------------------------------------------- */

/* The functions of /save WORD, /load WORD and /undo WORD (plain /undo takes a turn back, see
 * `undone`). Several features may have the same WORD. /save and /load then apply to those that are
 * on. /undo applies to each that has the function `undo`; one that is off reports that it is
 * off. */
struct feature_saved {
    const char *word;
    const char *off; /* the error if no feature with this word is on; NULL if one is always on */
    bool (*is_there)(void *state, struct app *a);
    bool (*has_any)(void *state,
                    struct app *a); /* true if there is something to save; if this is false for all
                                     * features, the first active one says so */
    void (*save)(void *state, struct app *a);
    void (*load)(void *state, struct app *a); /* NULL: /load takes WORD as a name */
    void (*undo)(void *state, struct app *a); /* NULL: /undo does not take WORD */
};

/* ---- a field of requests (docs/SERIAL.md) ---------------------------------------------------- */

/* `check`, `set` and `enter` get the field's value. `check` and `set` return NULL, or a sentence
 * that says why the value is wrong. `check` changes nothing. `set` is called after the options were
 * set; if it returns a sentence, they are put back. `put_back` undoes the last `set`, because that
 * of another field failed. `enter` is called last, with a checked value. */
struct feature_field {
    const char *name;
    const char *(*check)(void *state, struct chat *c, const char *value);
    const char *(*set)(void *state, struct chat *c, const char *value);
    void (*put_back)(void *state, struct chat *c);
    void (*enter)(void *state, struct chat *c, const char *value);
};

/* ---- an option ------------------------------------------------------------------------------- */

/* An option NAME=VALUE for a feature that a program adds, as tests/unit/features/word_count.h does.
 * A start, /set and options_set() accept the option. `set` returns NULL, or the accepted values
 * after an error. A built-in feature has rows in an options.def of its folder instead, which also
 * make the flags, the help and the page of options. */
struct feature_option {
    const char *name;
    const char *(*set)(void *state, const char *value);
};

/* ---- a turn ---------------------------------------------------------------------------------- */

struct feature_turn {
    struct chat *chat;
    const char *text; /* (bytes) the person's text */
    size_t bytes;
    const char
        *told; /* (told_bytes) what the model reads: the person's text, after any text that features
               * add */
    size_t told_bytes;
    size_t said;     /* number of a person's own bytes, at the end of `text` */
    bool as_turn;    /* the text is in the model's template */
    bool leads;      /* the reply may lead to another turn */
    unsigned n_led;  /* number of turns that led from the question to this turn */
    bool looks_back; /* the turn does not become part of the conversation */
    uint32_t own;    /* index of the turn's first token in the session */
    bool thinks;     /* the current text belongs to thoughts */
    struct generate_result result;

    /* For the hooks at the end of a turn: */
    bool hidden;        /* nothing of the reply was shown */
    bool leads_on;      /* the reply leads to another turn, which next_turn makes */
    const char *reason; /* why the reply ended, or NULL if `result` says it */
};

/* The next receiver of a reply's text. */
struct feature_text {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
};

enum feature_rating { FEATURE_GOOD, FEATURE_BAD };

struct feature {
    const char *name;
    size_t state_bytes;
    const struct chat_command *commands; /* (n_commands) */
    unsigned n_commands;
    const struct feature_saved *saved;
    const struct feature_field *field;
    const struct feature_option *option;

    /* Hooks of a start, in this order. `start` is called after the options were read. `planned` is
     * called before a model is planned with `setup`. `memory`, once the model is open, returns the
     * bytes of ARENA_LEARN that the feature needs. `ready` is called after the weights are loaded;
     * its error, with a->error_message, refuses the model. `loaded` is called when a conversation
     * is open. */
    void (*start)(void *state, struct app *a);
    void (*planned)(void *state, struct app *a, struct model_setup *setup);
    size_t (*memory)(void *state, const struct app *a, const struct image *image);
    enum err (*ready)(void *state, struct app *a);
    void (*loaded)(void *state, struct app *a);

    /* Hooks of a conversation: */
    void (*reset)(void *state, struct chat *c);   /* another model begins a conversation, so forget
                                                   * everything */
    void (*cleared)(void *state, struct chat *c); /* the conversation is empty now */
    void (*changed)(void *state, struct chat *c); /* another kept conversation continues */
    void (*weights_changed)(void *state, struct chat *c); /* the model's weights have changed */
    void (*undone)(void *state, struct chat *c); /* /undo or /retry takes the last turn back; /retry
                                                  * then answers it again */
    /* The last turn was judged. Returns where the hook noted this, as "in the log", or NULL. */
    const char *(*rated)(void *state, struct chat *c, enum feature_rating rating);
    /* The last turn will be answered again (`begins`) or was answered again. */
    void (*retried)(void *state, struct chat *c, bool begins);

    /* Return how many other conversations are kept, which another model would end. */
    unsigned (*kept)(void *state, const struct chat *c);

    /* Hooks while a prompt is built: `system` may change the system prompt (NULL means the prompt
     * of the template), `room` may limit the tokens of the context in use, and `is_led` says
     * whether the feature made the text. */
    void (*system)(void *state, struct chat *c, const char **text, size_t *bytes);
    uint32_t (*room)(void *state, const struct chat *c);
    bool (*is_led)(void *state, const char *text, size_t bytes);

    /* Return the turn's text with the feature's text in front of it (*bytes long, valid until the
     * next call), or NULL if the feature adds nothing. */
    const char *(*told)(void *state, struct feature_turn *t, size_t *bytes);

    /* Hooks of a turn, in this order. prompt_built is called when all tokens are pending (also for
     * plain text and a turn that looks back). pass_begins may compute some of these tokens (errors
     * of session_run). `chooses` may change sampling parameters. `shows` may put itself before *to,
     * the receiver of the text. reply_begins follows the first token, which makes the turn part of
     * the conversation. `tagged` follows a tag in the text (runtime/text/hidden_tags.h). reply_ends
     * follows the last token. says_end may print why the reply ended. turn_ended comes last. */
    void (*prompt_built)(void *state, struct feature_turn *t);
    enum err (*pass_begins)(void *state, struct feature_turn *t, const struct stop *stop);
    void (*chooses)(void *state, struct feature_turn *t, struct generate_params *p,
                    struct generator *g);
    void (*shows)(void *state, struct feature_turn *t, struct feature_text *to);
    void (*reply_begins)(void *state, struct feature_turn *t);
    void (*tagged)(void *state, struct feature_turn *t, const struct hidden_tag *tag);
    void (*reply_ends)(void *state, struct feature_turn *t, enum err error);
    void (*says_end)(void *state, const struct feature_turn *t);
    void (*turn_ended)(void *state, struct feature_turn *t, const char *reason);
    /* If leads_on is set, do what the reply asks for, write the text of the next turn, and return
     * its length. */
    size_t (*next_turn)(void *state, struct feature_turn *t, char text[FEATURE_TURN_BYTES]);
    /* Return true if the current turn (at_work), or else the last turn, asks for a reply without
     * thoughts. */
    bool (*is_quiet)(void *state, bool at_work);
};

/* ---- the rows -------------------------------------------------------------------------------- */

#define FEATURE(name) FEATURE_##name,
enum feature_number {
#include "runtime/features/features.inc"
    FEATURES_BUILT_IN
};
#undef FEATURE

/* All features of a process, and their state. */
struct features {
    const struct feature *const *rows; /* (n) */
    unsigned n;
    uint32_t on; /* bits, by row number */
    struct app *app;
    void *state[FEATURES_MOST];
    _Alignas(64) uint8_t memory[FEATURES_STATE_BYTES];
};

/* The rows of features.inc. */
extern const struct feature *const features_built_in[FEATURES_BUILT_IN];

/* Open the features; all are off. f is zeroed; rows (n) begin with the features of features.inc.
 * If app is NULL, no hook of a start is called. */
void features_open(struct features *f, const struct feature *const *rows, unsigned n,
                   struct app *app);

/* Switch a feature on or off. Hooks of conversations and turns are called only while it is on. */
static inline void features_switch(struct features *f, enum feature_number number, bool on)
{
    f->on = (f->on & ~(UINT32_C(1) << number)) | (uint32_t)on << number;
}

static inline bool features_is_on(const struct features *f, enum feature_number number)
{
    return (f->on >> number & 1) != 0;
}

/* True if row i is on and has the hook. */
#define FEATURE_HAS(f, i, hook) (((f)->on >> (i)&1) != 0 && (f)->rows[i]->hook != NULL)
/* Call a hook of a start for each row, even for features that are off. features_ready stops at the
 * first error. */
void features_start(struct features *f);
void features_planned(struct features *f, struct model_setup *setup);
size_t features_memory(struct features *f, const struct image *image);
enum err features_ready(struct features *f);
void features_loaded(struct features *f);

/* Call hooks of conversations and turns, as `struct feature` describes; f may be NULL. */
void features_reset(struct features *f, struct chat *c); /* called for features that are off, too */
void features_cleared(struct features *f, struct chat *c);
void features_changed(struct features *f, struct chat *c);
void features_weights_changed(struct features *f, struct chat *c);
void features_undone(struct features *f, struct chat *c);
void features_retried(struct features *f, struct chat *c, bool begins);
void features_system(struct features *f, struct chat *c, const char **text, size_t *bytes);
uint32_t features_room(struct features *f, const struct chat *c, uint32_t most);
unsigned features_kept(struct features *f, const struct chat *c); /* sum of the hooks' numbers */
bool features_is_led(struct features *f, const char *text, size_t bytes);
void features_tell(struct features *f, struct feature_turn *t); /* sets t->told */
void features_prompt_built(struct features *f, struct feature_turn *t);
enum err features_pass_begins(struct features *f, struct feature_turn *t, const struct stop *stop);
void features_choose(struct features *f, struct feature_turn *t, struct generate_params *p,
                     struct generator *g);
void features_reply_begins(struct features *f, struct feature_turn *t);
void features_tagged(struct features *f, struct feature_turn *t, const struct hidden_tag *tag);
void features_reply_ends(struct features *f, struct feature_turn *t, enum err error);
void features_say_end(struct features *f, const struct feature_turn *t);
void features_turn_ended(struct features *f, struct feature_turn *t, const char *reason);
size_t features_next_turn(struct features *f, struct feature_turn *t,
                          char text[FEATURE_TURN_BYTES]);
bool features_is_quiet(struct features *f, bool at_work);
/* Call the last feature's hook first, so that the text passes row 0 first. */
void features_show(struct features *f, struct feature_turn *t, struct feature_text *to);
/* Return the description of this field of requests, or NULL if no feature has it. */
const struct feature_field *features_field(struct features *f, const char *name, void **state);
/* Set an option that is not in options.h. Returns ERR_NOT_FOUND if no feature has it, or
 * ERR_BAD_ARGUMENT, with the accepted values in *accepts. */
enum err features_set(struct features *f, const char *name, const char *value,
                      const char **accepts);

#endif
