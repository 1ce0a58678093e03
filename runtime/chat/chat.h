/* A conversation: a line in, the model's template around it, the reply streamed out. */
#ifndef INGOT_RUNTIME_CHAT_H
#define INGOT_RUNTIME_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/acting/actions.h"
#include "runtime/features/branches/chat_branches.h"
#include "runtime/chat/chat_messages.h"
#include "runtime/wire/json_biases.h"
#include "runtime/features/turn_log/turn_log.h"
#include "runtime/saved/turns.h"
#include "runtime/console/console.h"
#include "runtime/features/policy/experience.h"
#include "runtime/features/fabric/fabric.h"
#include "runtime/features/lessons/lessons.h"
#include "runtime/options/options.h"
#include "runtime/session/constraint.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session.h"
#include "runtime/session/beams.h"
#include "runtime/session/speculative.h"

enum { CHAT_LINE_BYTES = 8192 };

/* A model that there is, by the name that /model takes. */
typedef void chat_model_fn(void *context, const char *name, uint64_t bytes);

/* Who obeys lines that are commands. True: the conversation ends with it. line is NUL-terminated, and
 * may be overwritten; the chat may be opened anew meanwhile. */
struct chat_commands {
    bool (*run)(void *context, char *line);
    /* Adapters (a list of adapter_list.h) go to work; NULL: they do, else why not. */
    const char *(*adapt)(void *context, const char *list);
    /* The same of a grammar, or choices, or "off". */
    const char *(*hold)(void *context, const char *grammar);
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

/* How turns are answered, with policy= (chat_policy.h). */
struct chat_policy {
    bool is_open;
    bool works; /* a choice, for the reply at work: */
    struct experience experience;
    struct policy_choice choice;
    uint8_t took[POLICY_HEADS]; /* what was done, of the latest turn */
    float throughput;           /* of its reply, as in struct policy_state */
    float temp;                 /* of the sampler, and ... */
    bool timed;                 /* ... of guesses, as they were */
    uint32_t computed;          /* tokens of the prompt, before the choice; since when: */
    uint64_t start;
    struct stream_stats before;
};

struct chat {
    struct console *console; /* who talks to it */
    struct session *session; /* NULL: no model is loaded; chat_loop can go on without */
    const char *name;        /* what /model calls the model; NULL: as its header */
    struct options *options;
    const struct chat_commands *commands;
    struct sampler sampler;
    struct speculative speculative;
    struct beams beams;
    const struct ingot_chat *template; /* and its strings */
    uint32_t think_end;                /* the token that ends thoughts, or INGOT_NO_TOKEN */
    uint32_t reply_start;              /* of the last reply, in ids */
    bool started;                      /* the session holds a turn */
    struct turns turns;                /* of a model with a template */
    struct chat_branches branches;     /* none until chat_branches_open */
    struct chat_totals totals;
    bool announced;       /* mode=json: `ready` has told of this model, or that there is none */
    bool answered;        /* mode=json: the request at work has had its last event */
    uint32_t protocol;    /* mode=json: what the program asked for, 1 or 2; 0: it did not, 1 */
    bool wants_scores;    /* mode=json: the request at work does, and ... */
    uint32_t n_likeliest; /* ... of so many others */
    struct json_biases biases; /* mode=json: of the request at work */
    bool talks;                /* somebody waits at the line: long prompts show their progress */
    const char *wait;          /* what somebody waits for ... */
    uint32_t wait_start, wait_tokens; /* ... where its tokens begin in the session, how many */
    char label[40];                   /* of its progress */
    char line[CHAT_LINE_BYTES];
    struct chat_messages messages; /* mode=json: of the request at work */
    struct turn_log *log;          /* of turns; NULL: none */
    uint64_t logged;     /* there: the latest reply's record; 0: none of the conversation */
    bool reflects;       /* the turn at work looks back at the others: it is not judged */
    const char *adapted; /* the adapters at work, for the log; NULL: none ever */
    struct constraint constraint; /* of replies; none until constraint_open */
    struct actions *actions;      /* what the model may do; NULL: nothing, or it has no template */
    char told[OPTIONS_SYSTEM_BYTES + 2 + ACTIONS_PROMPT_BYTES]; /* the system prompt with them */
    bool learns;                                                /* chat_learn_open */
    struct lessons lessons;                                     /* ... then */
    struct fabric fabric;  /* ... and what /remember puts there */
    uint64_t fabric_epoch; /* seconds on its clock when the machine started */
    uint64_t learn_ticks;  /* that steps took */
    struct chat_policy policy;
    uint32_t *kept_ids;                      /* (context) of the conversation, during a lesson */
    struct session_prefix prefix;            /* that conversations begin with ... */
    uint32_t opening[SESSION_PREFIX_TOKENS]; /* ... or should: while a first turn is put */
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
 * Where the context has no room for the turn or for more of its reply, the oldest turns after the
 * system prompt are dropped, and a line says so. */
enum err chat_reply(struct chat *c, const char *text, size_t bytes, bool as_turn);

/* The same of a text of which only the last `said` bytes are a person's words, 0: none. chat_reply takes all of its text for
 * them. An action (docs/ACTING.md) is done only where such words ask for it. */
enum err chat_reply_said(struct chat *c, const char *text, size_t bytes, bool as_turn, size_t said);

/* The same of a list of token ids as they stand, whose text json_ids_next() reads: all of the
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

/* The last turn is "good" or "bad": noted in the log. False: there is no log, or the turn is not in it. */
bool chat_log_rate(struct chat *c, const char *rating);

/* Take back the last turn, with what came of the actions that it led to; the log notes it of each. False: there is none, or the model has no template. */
bool chat_undo(struct chat *c);

/* Take it back and answer it again. ERR_NOT_FOUND: there is none; otherwise as chat_reply. */
enum err chat_retry(struct chat *c);

/* A turn that looks back at the others, and is none of them afterwards: shown and logged as any, with what it
 * remembers by tags. ERR_NOT_FOUND: there is no turn; otherwise as chat_reply. */
#define CHAT_REFLECTION \
    "Look back at this conversation. What matters in it, and what should be kept in mind?"
enum err chat_reflect(struct chat *c, const char *question, size_t bytes);

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
