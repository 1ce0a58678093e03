/* A conversation: a line in, the model's template around it, the reply streamed out. */
#ifndef INGOT_RUNTIME_CHAT_H
#define INGOT_RUNTIME_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/chat/chat_messages.h"
#include "runtime/wire/json_biases.h"
#include "runtime/saved/turns.h"
#include "runtime/console/console.h"
#include "runtime/options/options.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session.h"
#include "runtime/session/speculative.h"

enum { CHAT_LINE_BYTES = 8192 };

struct features;

/* A model that there is, by the name that /model takes. */
typedef void chat_model_fn(void *context, const char *name, uint64_t bytes);

/* The handler of lines that are commands. True: the conversation ends with it. line is NUL-terminated, and
 * may be overwritten; the chat may be opened anew meanwhile. */
struct chat_commands {
    bool (*run)(void *context, char *line);
    /* Visit the models that there are. NULL: they are, else why not. */
    const char *(*list)(void *context, chat_model_fn *visit, void *visit_context);
    void *context;
    const char
        *stays; /* what Ctrl-D at an empty prompt is answered; NULL: it ends the conversation */
};

/* Since the model was loaded. */
struct chat_totals {
    uint32_t turns;
    uint64_t prompt_tokens, new_tokens;
};

/* A program at the line (mode=json), and its running request. */
struct chat_program {
    bool announced;       /* `ready` has told of this model, or that there is none */
    bool answered;        /* the request has had its last event */
    uint32_t protocol;    /* what the program asked for, 1 or 2; 0: it did not, 1 */
    bool wants_scores;    /* of each token, and ... */
    uint32_t n_likeliest; /* ... of so many others */
    struct json_biases biases;
    struct chat_messages messages;
};

/* Work that somebody waits for: n tokens from number start of the session on; label: of its progress. */
struct chat_wait {
    bool is_shown; /* somebody is at the line: long prompts show their progress */
    const char *what;
    uint32_t start, n;
    char label[40];
};

/* The beginning of conversations: kept by the session, and the ids of it as it should be, while a first turn is put. */
struct chat_opening {
    struct session_prefix prefix;
    uint32_t ids[SESSION_PREFIX_TOKENS];
};

struct chat {
    struct console *console; /* who talks to it */
    struct session *session; /* NULL: no model is loaded; chat_loop can go on without */
    const char *name;        /* what /model calls the model; NULL: as its header */
    struct options *options;
    const struct chat_commands *commands;
    struct features *features; /* NULL: none are there */
    struct sampler sampler;
    struct speculative speculative;
    const struct ingot_chat *template; /* and its strings */
    uint32_t think_end;                /* the token that ends thoughts, or INGOT_NO_TOKEN */
    uint32_t reply_start;              /* of the last reply, in ids */
    bool started;                      /* the session holds a turn */
    struct turns turns;                /* of a model with a template */
    struct chat_totals totals;
    struct chat_program program;
    struct chat_wait wait;
    struct chat_opening opening;
    char line[CHAT_LINE_BYTES];
};

/* session is open, and so is draft, of a model that guesses its tokens, or NULL; template: another
 * chat section than the image's, checked, or NULL. All must outlive the chat. Options that the
 * template cannot obey are warned of. */
void chat_open(struct chat *c, struct console *console, struct session *session,
               struct session *draft, struct options *options, const struct ingot_chat *template);

/* The model goes, and its conversation with it. Before chat_open there is nothing to close. */
void chat_close(struct chat *c);

/* One reply to text: prints it as it comes, then the line of figures (and with the option
 * `ids` the token ids and the hash of the logits). as_turn: wrap it in the model's template; a
 * model without one, or as_turn false, continues the text as it stands from an empty context.
 * ERR_OK; ERR_NOT_FOUND without a model; ERR_ABORTED by Ctrl-C (the reply so far stays in the
 * conversation); ERR_TOO_LONG and the stream's errors are printed, and the conversation can go on.
 * If the context has no room for the turn or for more of its reply, the oldest turns after the
 * system prompt are dropped, and a line says so. */
enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn);

/* The same for a text of which only the last `said` bytes are a person's words, 0: none. chat_reply takes all of its text for
 * them. An action (docs/ACTING.md) is done only where such words ask for it. */
enum err chat_reply_said(struct chat *c, const char *text, size_t bytes, bool as_turn, size_t said);

/* The same for a list of token ids as they stand, whose text json_ids_next() reads: all of the
 * vocabulary, and as many as fit the context. */
enum err chat_reply_ids(struct chat *c, const char *ids);

/* The answer where a model is needed and none is loaded. */
void chat_say_no_model(struct console *c);

/* Forget the conversation, if there is one. */
void chat_clear(struct chat *c);

/* The same where somebody else takes over the line: a system message of a request goes with it. */
void chat_forget(struct chat *c);

/* The model computes with other weights (adapters): what was said stays and is computed again with the
 * next line. */
void chat_weights_changed(struct chat *c);

/* Take back the last turn, with what came of the actions that it led to; the log notes it of each. False: there is none, or the model has no template. */
bool chat_undo(struct chat *c);

/* Take it back and answer it again. ERR_NOT_FOUND: there is none; otherwise as chat_reply. */
enum err chat_retry(struct chat *c);

/* A turn that looks back at the others, and is none of them afterwards: shown as any; features that judge turns or answer by
 * what they remember pass it over. ERR_NOT_FOUND: there is no turn; otherwise as chat_reply. */
enum err chat_reply_aside(struct chat *c, const char *text, size_t bytes);

/* Whether the line is a command: a slash and a letter. "//" begins a line for the model that begins
 * with "/". */
bool chat_is_command(const char *line, size_t bytes);

/* Whether the end of the input ends the conversation: it does not where it was Ctrl-D and the commands
 * say what stays; that is said. */
bool chat_input_ends(struct chat *c);

/* Prompt, read, reply, or hand on a command, until the input ends or a command ends it. */
void chat_loop(struct chat *c, const struct chat_commands *commands);

enum { CHAT_WAIT_PENDING = 0 };

/* A wait for n tokens that the session computes begins, or for those that are pending; what: "prompt". While somebody talks to the
 * chat, asking chat_wait_stop shows how far it is; its context is the chat. console_progress_end()
 * ends the wait. */
void chat_wait_begin(struct chat *c, const char *what, uint32_t n_tokens);
bool chat_wait_stop(void *chat);

#endif
