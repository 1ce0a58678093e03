/* The application, written once for the image and the Linux program. The application chooses
 * kernels and cores, and finds, plans and loads a model. Then a person or a program talks to the
 * model, loads another model, or sends commands. One struct holds everything. A process can hold
 * two applications, each with its own memory, cores and files.
 *
 *   app_start, (the caller finds its files,) app_open, app_run
 *   app_start, app_plan, app_load: a model to work with, without a conversation */
#ifndef INGOT_RUNTIME_APP_H
#define INGOT_RUNTIME_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "kernels/kernels.h"
#include "runtime/app/app_files.h"
#include "runtime/app/app_receive.h"
#include "runtime/base/platform.h"
#include "runtime/base/trace.h"
#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/compute/workers.h"
#include "runtime/model/model.h"
#include "runtime/options/options.h"
#include "runtime/session/replies.h"
#include "runtime/session/session.h"

/* The kind of program around the application. */
enum app_front {
    APP_SILENT,  /* a program that logs nothing */
    APP_PROGRAM, /* logs kernels, model and plan before the weights are loaded; ends if there is
                  * no model */
    APP_CONSOLE, /* a machine's only console: logs the start; Ctrl-C stops the loading. Without
                  * a model the application continues if somebody can ask for one */
};

/* The parts that the caller provides. All parts outlive the application. */
struct app_setup {
    const struct platform *platform;
    struct console *console;       /* the console of the person or program at the line */
    const struct app_files *files; /* the model's files; filled before app_open or app_plan */
    const struct signing *signing; /* key with which models and adapters must be signed; NULL:
                                    * unsigned ones are accepted */
    struct options *options; /* owned by the application from now on: commands change the options */
    enum app_front front;
    const struct feature *const
        *features; /* (n_features) built-in ones, then others; NULL: only built-in ones */
    unsigned n_features;
    bool chats;               /* a conversation will follow, so branches need room */
    const char *greeting;     /* a line before the first prompt; NULL: none */
    uint32_t usual_context;   /* tokens without ctx=, at most the model's; 0: the default */
    uint32_t chunk;           /* prompt tokens that one pass computes; 0: the default */
    uint32_t spare_sequences; /* sequences in addition to those of together=, if they take hardly
                               * any memory from weights */
    struct plan_rates rates;  /* rates of the machine, if they are known */
    bool predict;             /* use `rates` instead of measuring them */
};

/* A model, and the sequence that the model computes. */
struct app_model {
    struct model_setup setup;
    struct model model;
    struct session session; /* open once the model is loaded */
};

/* A request for another model ("": none), and what this change would end: the conversation's size
 * in tokens and in replies, and the number of kept branches. */
struct app_leaving {
    char name[OPTIONS_MODEL_BYTES];
    uint32_t n_ids, n_replies;
    unsigned n_kept;
};

/* The number of wrong PINs in a row, and when the next PIN is accepted, on the console's clock. */
struct app_lock {
    uint32_t n_wrong;
    uint64_t wait_until;
};

/* Read-only for the caller, with two exceptions: before app_open, memory may be cut from the
 * front of `ram`, and `kernels` may be changed between app_plan and app_load. */
struct app {
    struct app_setup setup;
    struct memory_range ram; /* memory for models: the platform's arena */
    struct kernels kernels;
    uint32_t cpu_features; /* the kernels were chosen for these CPU features */
    struct workers workers;
    struct trace trace;
    uint32_t watchdog_millis; /* watchdog time; 0: not armed */
    struct app_model target;
    struct app_model draft; /* draft model that guesses the target's tokens */
    bool has_draft;
    struct session parallel[GROUP_MOST - 1]; /* further sequences of the target, planned by
                                              * together= */
    struct replies replies;                  /* the replies that /bench runs in parallel */
    uint32_t sequences_version; /* changes when sequences are opened, or used by /bench */
    enum option at_fault;       /* the option that caused the last error; OPTION_COUNT: none */
    bool prompt_of_file; /* prompt= comes from a preset, so nobody has typed the prompt here */
    bool gave_up;        /* boot options were dropped so that a model could be loaded */
    bool talks;          /* a person is at the line: Ctrl-C stops long work */
    struct chat chat;    /* chat.session is NULL while no model is loaded */
    struct features features;
    struct app_leaving leaving;
    struct saved_chat saved; /* transfer for which /save or /load waits */
    struct app_lock lock;
    const char *error_message;  /* after an error: the message for the user */
    struct app_receive receive; /* a file that arrives over the line */
};

/* Start the cores and choose the kernels; the options decide which. Call once. ERR_BAD_CHECKSUM:
 * the self-test found a kernel with wrong results. */
enum err app_start(struct app *a, const struct app_setup *setup);

/* Find the model and the draft that the options name, and plan their place in memory. Loads
 * nothing. Returns errors of the files, of model_open and of speculative_check. */
enum err app_plan(struct app *a);

/* Load the planned models, and open their sessions. Returns errors of model_load; ERR_UNSUPPORTED:
 * keys and values would spill, but there is no file for them. */
enum err app_load(struct app *a);

/* Return sequence i of the model, i < plan.sequences; sequence 0 is the conversation. */
static inline struct session *app_sequence(struct app *a, uint32_t i)
{
    return i == 0 ? &a->target.session : &a->parallel[i - 1];
}

/* Return the name of the open model, as /model takes it. */
const char *app_model_name(const struct app *a);

/* Run app_plan and app_load, and open a conversation with the model. If loading fails, but there is
 * a console where a person can load another model, the result is also ERR_OK; the log then says why
 * there is no model and lists the models. A boot option that prevents loading is reported and
 * dropped. */
enum err app_open(struct app *a);

/* Answer the prompt of the options, or talk until the conversation ends; then log how much memory
 * was used. Returns errors of chat_reply. */
enum err app_run(struct app *a);

/* Run only the conversation, until it ends. */
void app_talk(struct app *a);

/* Return true if app_change_model may be called with this name; prints the reason if not. */
bool app_check_model(struct app *a, const char *name);

/* Load another model in place of the open one, in a new conversation; app_check_model has
 * accepted the name. If loading fails, the old model is loaded again; if that fails too, no model
 * is loaded. Prints what happens. */
void app_change_model(struct app *a, const char *name);

enum { APP_WHY_BYTES = 320 };
/* Like app_change_model, for a request that did not come from the line: what a person has typed
 * there stays. ERR_NOT_FOUND: there is no model of that name, and nothing was done. Other errors
 * come from loading; the old model is then loaded again. `why` gets the error message. */
enum err app_change_model_aside(struct app *a, const char *name, char why[APP_WHY_BYTES]);

/* Tell the files that a save was written (e is ERR_OK) or failed with error e. Returns false if
 * they cannot finish the save; their error_message() says why. */
bool app_end_save(struct app *a, enum err e);

/* Call when core 0 is about to sleep until a byte arrives, and when it wakes: nothing feeds the
 * watchdog meanwhile. Before app_start there is no watchdog. */
void app_sleeps(struct app *a);
void app_wakes(struct app *a);

#endif
