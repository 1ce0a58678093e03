/* A conversation: reads a line, wraps it in the model's template, and streams the reply. */
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

/* An available model, by the name that /model takes. */
typedef void chat_model_fn(void *context, const char *name, uint64_t bytes);

/* Handles lines that are commands. `run` returns true if the conversation ends. line is
 * NUL-terminated and may be overwritten; the chat may be opened again meanwhile. */
struct chat_commands {
    bool (*run)(void *context, char *line);
    /* Visit the available models. Returns NULL, or the reason for a failure. */
    const char *(*list)(void *context, chat_model_fn *visit, void *visit_context);
    void *context;
    const char *stays; /* printed at Ctrl-D on an empty line; NULL: Ctrl-D ends the conversation */
};

/* Totals since the model was loaded. */
struct chat_totals {
    uint32_t turns;
    uint64_t prompt_tokens, new_tokens;
};

/* A program on the line (mode=json), and its running request. */
struct chat_program {
    bool announced;       /* `ready` was sent, with this model or without one */
    bool answered;        /* the request's last event was sent */
    uint32_t protocol;    /* the protocol that the program asked for, 1 or 2; 0: the program did
                           * not ask and gets 1 */
    bool wants_scores;    /* events have the scores of each token */
    uint32_t n_likeliest; /* events also have the scores of this many alternatives */
    struct json_biases biases;
    struct chat_messages messages;
};

/* Work for which somebody waits: n tokens from the session's token `start` on. `label` is the text
 * of the progress line. */
struct chat_wait {
    bool is_shown; /* somebody is on the line: long prompts show their progress */
    const char *what;
    uint32_t start, n;
    char label[40];
};

/* The tokens with which conversations begin: `prefix` has the tokens that the session has computed,
 * `ids` the latest result of chat_encode_opening. */
struct chat_opening {
    struct session_prefix prefix;
    uint32_t ids[SESSION_PREFIX_TOKENS];
};

struct chat {
    struct console *console; /* the console of the person or program at the line */
    struct session *session; /* NULL: no model is loaded; chat_loop can run without one */
    const char *name;        /* what /model calls the model; NULL: the name in its header */
    struct options *options;
    const struct chat_commands *commands;
    struct features *features; /* NULL: there are none */
    struct sampler sampler;
    struct speculative speculative;
    const struct ingot_chat *template; /* strings of the chat template */
    uint32_t think_end;                /* the token that ends thoughts, or INGOT_NO_TOKEN */
    uint32_t reply_start;              /* start of the last reply, in ids */
    bool started;                      /* the session contains a complete turn */
    struct turns turns;                /* turns, with a model that has a template */
    struct chat_totals totals;
    struct chat_program program;
    struct chat_wait wait;
    struct chat_opening opening;
    char line[CHAT_LINE_BYTES];
};

/* Open a conversation. session is open. draft is an open session of a model that guesses the
 * session's tokens, or NULL. template is a checked chat section that replaces the chat section of
 * the image, or NULL. These objects must outlive the chat. The log warns about options that the
 * template cannot follow. */
void chat_open(struct chat *c, struct console *console, struct session *session,
               struct session *draft, struct options *options, const struct ingot_chat *template);

/* Close the model and its conversation. Before chat_open there is nothing to close. */
void chat_close(struct chat *c);

/* Reply to text: print the reply as it comes, then the line of figures (and with the option `ids`
 * the token ids and the hash of the logits). If as_turn is true, wrap the text in the model's
 * template. If it is false, or if there is no template, continue the text as it stands from an
 * empty context. If the context has no room for the turn or for more of its reply, the oldest turns
 * after the system prompt are dropped, and a line says so. ERR_NOT_FOUND: there is no model.
 * ERR_ABORTED: Ctrl-C ended the reply; its text so far stays in the conversation. ERR_TOO_LONG and
 * errors of the stream are printed, and the conversation can continue. */
enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn);

/* Like chat_reply, for a text in which only the last `said` bytes (0: none) are a person's words.
 * chat_reply takes the whole text for a person's words. An action (docs/ACTING.md) runs
 * only if a person's words ask for it. */
enum err chat_reply_said(struct chat *c, const char *text, size_t bytes, bool as_turn, size_t said);

/* Like chat_reply, for a list of token ids, used as they stand. json_ids_next() reads `ids`: each
 * id must be in the vocabulary, and the list must fit the context. */
enum err chat_reply_ids(struct chat *c, const char *ids);

/* Print the error that no model is loaded. */
void chat_say_no_model(struct console *c);

/* Restart the sampler with its settings and the options' seed or, if there is none, with a new seed
 * from the clock, which the options then have. */
void chat_restart_sampler(struct chat *c);

/* Forget the conversation, if there is one. */
void chat_clear(struct chat *c);

/* Like chat_clear, for a new person at the line: also drops a system message from a request. */
void chat_forget(struct chat *c);

/* Call when the weights change (adapters). The conversation stays, and the next line computes it
 * again. */
void chat_weights_changed(struct chat *c);

/* Take back the last turn of a person, and the turns that features added in response; the log notes
 * each of them. Returns false if there is no turn, or if the model has no template. */
bool chat_undo(struct chat *c);

/* Take back the last turn and answer it again. ERR_NOT_FOUND: there is no turn. Other errors are
 * those of chat_reply. */
enum err chat_retry(struct chat *c);

/* Run a turn that looks back at the conversation, and remove the turn afterwards. The turn is
 * printed like any other; features that judge turns or answer from memory skip it. ERR_NOT_FOUND:
 * there is no turn. Other errors are those of chat_reply. */
enum err chat_reply_aside(struct chat *c, const char *text, size_t bytes);

/* Return true if the line is a command: a slash and a letter. A line that begins with "//" goes to
 * the model, without the first slash. */
bool chat_is_command(const char *line, size_t bytes);

/* Return true if the end of the input ends the conversation. If chat_commands.stays is set, Ctrl-D
 * prints that text and does not end the conversation. */
bool chat_input_ends(struct chat *c);

/* Prompt, read a line, and reply or run a command, until the input or a command ends the
 * conversation. */
void chat_loop(struct chat *c, const struct chat_commands *commands);

enum { CHAT_WAIT_PENDING = 0 };

/* Begin to wait for tokens that the session computes: n_tokens of them or, with CHAT_WAIT_PENDING,
 * its pending tokens. `what` names the tokens ("prompt"). While somebody talks to the chat,
 * chat_wait_stop shows the progress; its context is the chat. console_progress_end() ends the
 * wait. */
void chat_wait_begin(struct chat *c, const char *what, uint32_t n_tokens);
bool chat_wait_stop(void *chat);

#endif
