/* What the files of this folder share; nobody else includes it. */
#ifndef INGOT_RUNTIME_APP_PRIVATE_H
#define INGOT_RUNTIME_APP_PRIVATE_H

#include "runtime/app/app.h"

/* An error and its sentence, which outlives it. Returns e. */
static inline enum err app_fail(struct app *a, enum err e, const char *problem)
{
    a->problem = problem;
    return e;
}

/* Arm the watchdog, where the platform has one; doing: for the log of the next start. */
void app_watch(struct app *a, const char *doing);

/* What the cores at work have in common. */
uint32_t app_cpu_features(const struct app *a);

/* Of the self-test: the check of signatures against published vectors, where files are signed; what came of it is
 * logged. */
bool app_check_signing(struct app *a);

/* lock=: the line is locked from the start. */
void app_open_lock(struct app *a);

/* Before app_begin: the words of preset=, where none of their name was given. */
void app_open_preset(struct app *a);

/* app_plan, app_load, and the conversation. since_ms: when the wait for the prompt began, on the
 * console's clock. */
enum err app_begin(struct app *a, enum app_file which, uint64_t since_ms);

/* The same at start of a machine: a word that the model or the card cannot obey (mem=, ctx=, kv=, draft=)
 * is named, given up and noted in a->gave_up. */
enum err app_obey_words(struct app *a);

/* app_plan of the model as `which`, and the two halves of app_load: say what is about to be loaded, as
 * the front wants to know it, and load it. */
enum err app_plan_models(struct app *a, enum app_file which);
enum err app_announce(struct app *a);
enum err app_load_models(struct app *a);

/* Before the target is planned: cut the memory of its adapters from the front of its own. */
void app_plan_adapters(struct app *a);

/* The target is loaded: those of the boot word go to work. Errors of app_use_adapters. */
enum err app_load_adapters(struct app *a);

/* The error is about a word, without which it may go better; returns e. */
enum err app_blame(struct app *a, enum err e, enum option which);

/* After chat_open: what conversations begin with comes from a file, where there is one for it. */
void app_load_prefix(struct app *a);

/* After chat_open: learn=on, and the lessons of an earlier start from their file, where there is one. */
void app_open_lessons(struct app *a);

/* After chat_open: policy=, and what earlier starts have seen of turns, where there is a file of it. */
void app_open_policy(struct app *a);

/* After chat_open: log=on, where there is a file for it. */
void app_open_log(struct app *a);

/* session_bytes with room for a constraint; and after chat_open that of grammar= is at work. */
size_t app_session_bytes_with_grammar(const struct image *image);
void app_open_grammar(struct app *a);

/* Before app_begin: what pins= and actions= let the model do. */
void app_open_actions(struct app *a);

/* After chat_open, before app_open_grammar: the model is told of it. */
void app_tell_actions(struct app *a);

/* Replies are one call of an action or prose, where there are actions; else they are free. */
void app_hold_to_actions(struct app *a);

/* How many lines /branch can keep. */
uint32_t app_branches(const struct app *a);

#endif
