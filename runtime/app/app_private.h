/* Declarations that the files of this folder share; outside this folder, only features include this
 * header. */
#ifndef INGOT_RUNTIME_APP_PRIVATE_H
#define INGOT_RUNTIME_APP_PRIVATE_H

#include "runtime/app/app.h"

/* Set the message of error e, and return e. The message must stay valid after the call. */
static inline enum err app_fail(struct app *a, enum err e, const char *error_message)
{
    a->error_message = error_message;
    return e;
}

/* Arm the watchdog, if the platform has one. The log of the next start names `doing`. */
void app_watch(struct app *a, const char *doing);

/* Return the features that all cores in use have in common. */
uint32_t app_cpu_features(const struct app *a);

/* For the self-test: if this machine needs signed files, check the code that verifies signatures
 * against published test vectors, and log the result. */
bool app_check_signing(struct app *a);

/* Lock the line from the start, if lock= is given. */
void app_open_lock(struct app *a);

/* Run app_plan and app_load, and open the conversation. The wait for the prompt began at since_ms
 * on the console's clock. */
enum err app_begin(struct app *a, enum app_file which, uint64_t since_ms);

/* Run app_begin at the start of the application. With APP_CONSOLE, an option that the model or the
 * card cannot use (such as ctx= or draft=) is reported and dropped, and a->gave_up is set. */
enum err app_obey_options(struct app *a);

/* app_plan_models plans the model `which`, as app_plan does. The other two are the halves of
 * app_load: app_announce logs what is about to be loaded, in the detail that suits setup.front;
 * app_load_models loads it. */
enum err app_plan_models(struct app *a, enum app_file which);
enum err app_announce(struct app *a);
enum err app_load_models(struct app *a);

/* Note that the error is about this option, and that loading may succeed without it. Returns e. */
enum err app_blame(struct app *a, enum err e, enum option which);

#endif
