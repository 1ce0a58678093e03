/* Shared declarations of this folder's files; nobody else includes it. */
#ifndef INGOT_RUNTIME_APP_PRIVATE_H
#define INGOT_RUNTIME_APP_PRIVATE_H

#include "runtime/app/app.h"

/* An error and its error message, which outlives it. Returns e. */
static inline enum err app_fail(struct app *a, enum err e, const char *error_message)
{
    a->error_message = error_message;
    return e;
}

/* Arm the watchdog, where the platform has one; doing: for the log of the next start. */
void app_watch(struct app *a, const char *doing);

/* The common features of the cores at work. */
uint32_t app_cpu_features(const struct app *a);

/* For the self-test: the check of signatures against published vectors, where files are signed; what came of it is
 * logged. */
bool app_check_signing(struct app *a);

/* lock=: the line is locked from the start. */
void app_open_lock(struct app *a);

/* app_plan, app_load, and the conversation. since_ms: when the wait for the prompt began, on the
 * console's clock. */
enum err app_begin(struct app *a, enum app_file which, uint64_t since_ms);

/* The same at start of a machine: a word that the model or the card cannot obey (mem=, ctx=, kv=, draft=)
 * is named, given up and noted in a->gave_up. */
enum err app_obey_options(struct app *a);

/* app_plan of the model as `which`, and the two halves of app_load: say what is about to be loaded, as
 * the front wants to know it, and load it. */
enum err app_plan_models(struct app *a, enum app_file which);
enum err app_announce(struct app *a);
enum err app_load_models(struct app *a);

/* The error is about a word, without which it may go better; returns e. */
enum err app_blame(struct app *a, enum err e, enum option which);

#endif
