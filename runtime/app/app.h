/* The application, written once for the image and the Linux program: kernels and cores are chosen, a
 * model is found, planned and loaded, somebody talks to it, asks for another one, or sends a command.
 * One struct holds all of it. Two may live in one process, each with memory, cores and files of its
 * own.
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

/* The hooks in front of the application. */
enum app_front {
    APP_SILENT,  /* a program that logs nothing */
    APP_PROGRAM, /* one that logs kernels, model and plan before the weights are loaded; without a
                  * model it ends */
    APP_CONSOLE, /* a machine's only console: the start is logged, Ctrl-C stops the loading, and where
                  * somebody can ask for a model the application goes on without one */
};

/* All of it outlives the application. */
struct app_setup {
    const struct platform *platform;
    struct console *console;       /* who talks to it */
    const struct app_files *files; /* filled before app_open or app_plan */
    const struct signing
        *signing;            /* that models and adapters must be signed by; NULL: any will do */
    struct options *options; /* the application's from now on: commands change them */
    enum app_front front;
    const struct feature *const
        *features; /* (n_features) with the built-in ones first; NULL: these */
    unsigned n_features;
    bool chats;              /* lines will come that may be commands: branches have room */
    const char *greeting;    /* a line before the first prompt; NULL: none */
    uint32_t chunk;          /* prompt tokens that pass the layers together; 0: default */
    struct plan_rates rates; /* of the machine, where they are known ... */
    bool predict;            /* ... and this one is not measured */
};

/* A model, and the sequence that is computed on it. */
struct app_model {
    struct model_setup setup;
    struct model model;
    struct session session; /* open once the model is loaded */
};

/* The model that was asked for, and the conversation that would end with it: its tokens (0: none), and
 * the replies there had been. */
struct app_leaving {
    char name[OPTIONS_MODEL_BYTES];
    uint32_t n_ids, n_replies;
};

/* Wrong PINs one after the other, and when the next one counts, on the console's clock. */
struct app_lock {
    uint32_t n_wrong;
    uint64_t wait_until;
};

/* For reading, but: before app_open memory may be cut from the front of `ram`, and `kernels` may be
 * changed between app_plan and app_load. */
struct app {
    struct app_setup setup;
    struct memory_range ram; /* of models; the platform's arena */
    struct kernels kernels;
    uint32_t cpu_features; /* that these were chosen by */
    struct workers workers;
    struct trace trace;
    uint32_t watchdog_millis; /* 0: not armed */
    struct app_model target;
    struct app_model draft; /* that guesses the target's tokens */
    bool has_draft;
    struct session parallel[GROUP_MOST - 1]; /* of the target, where together= plans them ... */
    struct replies replies;                  /* ... for /bench */
    enum option at_fault; /* the word that the last error is about; OPTION_COUNT: none */
    bool prompt_of_file;  /* prompt= is a preset's, so nobody has said it here */
    bool gave_up;         /* a boot option, to come to a model without it */
    bool talks;           /* somebody is at the line: Ctrl-C stops what takes long */
    struct chat chat;     /* its session is NULL while no model is loaded */
    struct features features;
    struct app_leaving leaving;
    struct saved_chat saved; /* of the transfer that /save or /load waits for */
    struct app_lock lock;
    const char *error_message;  /* after an error: an error message for the user */
    struct app_receive receive; /* of a file over the line */
};

/* Start cores and choose kernels, as the options say. Errors: ERR_BAD_CHECKSUM, the self-test found a
 * kernel that computes wrong. Once. */
enum err app_start(struct app *a, const struct app_setup *setup);

/* Find the model of the options and its draft, and plan them into the memory; nothing is loaded.
 * Errors of the files, of model_open and of speculative_check. */
enum err app_plan(struct app *a);

/* Load what was planned, and open its sessions. Errors of model_load; ERR_UNSUPPORTED, keys and values
 * would spill and no file is there for them. */
enum err app_load(struct app *a);

/* Sequence i of the model, below plan.sequences: the first is the conversation. */
static inline struct session *app_sequence(struct app *a, uint32_t i)
{
    return i == 0 ? &a->target.session : &a->parallel[i - 1];
}

/* The name by which /model calls the model that was found. */
const char *app_model_name(const struct app *a);

/* app_plan, app_load, and a conversation with the model. With a console ERR_OK also where there is
 * none, but somebody who may ask for one: why, and what there is, is logged. A boot option in its way
 * is said and given up. */
enum err app_open(struct app *a);

/* Answer the prompt of the options, or talk until the conversation ends; then log what the memory was
 * used for. Errors of chat_reply. */
enum err app_run(struct app *a);

/* The conversation alone, until it ends. */
void app_talk(struct app *a);

/* Whether a model of that name can be asked for; said where not. */
bool app_check_model(struct app *a, const char *name);

/* Another model in place of the one that is open, in a new conversation: name passed
 * app_check_model. One that cannot be loaded leaves the one before, loaded again, or none. It prints
 * what happens. */
void app_change_model(struct app *a, const char *name);

/* The save is written, or e says why it is not. False: it is not kept, and the files' problem() says why. */
bool app_end_save(struct app *a, enum err e);

/* Core 0 is about to sleep until a byte arrives, or it woke up: nothing feeds the watchdog meanwhile.
 * Before app_start there is none. */
void app_sleeps(struct app *a);
void app_wakes(struct app *a);

#endif
