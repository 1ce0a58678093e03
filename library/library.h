/* The structs of include/ingot.h's handles, and functions that the files of this room share. */
#ifndef INGOT_LIBRARY_LIBRARY_H
#define INGOT_LIBRARY_LIBRARY_H

#include "board/block_device.h"
#include "board/err.h"
#include "include/ingot.h"
#include "kernels/kernels.h"
#include "kernels/tuning.h"
#include "runtime/base/platform.h"
#include "runtime/compute/workers.h"
#include "runtime/model/model.h"
#include "runtime/session/replies.h"
#include "runtime/session/session.h"
#include "runtime/session/speculative.h"
#include "runtime/storage/file.h"

enum { LIBRARY_ERROR_MESSAGE_BYTES = 400, LIBRARY_PARTS = 9 };

/* How far a model has come. The order matters: from LIBRARY_OPEN on, the model is open. */
enum library_stage { LIBRARY_CLOSED, LIBRARY_FAILED, LIBRARY_OPEN, LIBRARY_LOADED };

struct ingot_session {
    struct ingot_model *model; /* NULL if the session has not begun or is closed */
    struct session session;
    bool has_logits; /* session.logits are the model's unchanged logits after the last token */
};

/* The handle is at the beginning of the caller's memory; the rest of it is the arena. */
struct ingot_model {
    enum library_stage stage;
    bool busy; /* a call is running, so callbacks must not begin another one */
    struct ingot_setup setup;
    struct platform platform;
    struct kernels kernels;
    char kernels_text[KERNELS_TEXT_BYTES];
    struct workers workers; /* n_cores 0: not started */
    struct block_device device;
    struct file file;
    struct model_setup model_setup;
    struct model model;
    struct ingot_session sessions[INGOT_MOST_SESSIONS];
    struct speculative speculative; /* guessing state of one session, whose tokens it predicts */
    struct replies replies;
    char error_message[LIBRARY_ERROR_MESSAGE_BYTES]; /* message of the latest error */
};

/* ---- errors.c -------------------------------------------------------------------------------- */

/* Return INGOT_OK if the model has reached stage `least` and no call of it is running. */
enum ingot_error library_check(const struct ingot_model *m, enum library_stage least);

/* Like library_check, for a session, which must have begun. */
enum ingot_error library_check_session(const struct ingot_session *s);

/* Store the error message, and return the error; if m is NULL nothing is stored. */
enum ingot_error library_refuse(struct ingot_model *m, enum ingot_error error,
                                const char *error_message);

/* Like library_refuse, for an error of the runtime. If error_message is "", use the error's
 * text. */
enum ingot_error library_failed(struct ingot_model *m, enum err e, const char *error_message);

/* ---- machine.c: the caller's clock, cores and file as the runtime sees them ------------------ */

/* Fill m->platform and m->device from m->setup. */
void library_open_machine(struct ingot_model *m);

/* Choose m->kernels from m->setup.cpu. */
void library_choose_kernels(struct ingot_model *m);

/* Write one line, formatted as by printf, to the caller's log. */
void library_log(const struct ingot_model *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- generate.c ------------------------------------------------------------------------------ */

/* Return true if every number is within its bounds. */
bool library_good_params(const struct ingot_generate_params *p);

/* Convert the parameters for the runtime; stop may be NULL. */
void library_set_params(const struct ingot_session *s, const struct ingot_generate_params *p,
                        const struct stop *stop, struct generate_params *out);
struct sampler_params library_sampler(const struct ingot_generate_params *p);

/* Convert the runtime's result for the caller; stopped is true if a callback stopped it. */
void library_report(const struct generate_result *r, bool stopped,
                    struct ingot_generate_result *out);

/* ---- session.c ------------------------------------------------------------------------------- */

/* Make the last token pending, even if it was computed: sampling destroys the logits.
 * Return INGOT_WRONG_ORDER if there is no token. */
enum ingot_error library_leave_pending(struct ingot_session *s);

/* ---- host/, arm64/, riscv64/ ----------------------------------------------------------------- */

/* Bits of enum cpu_feature that may always be used; if `privileged`, also the features found in
 * registers that programs under an operating system cannot read. */
uint32_t library_cpu_features(bool privileged);

/* Return this core's tuning, or the general one if the core is unknown. Never NULL. */
const struct kernel_tuning *library_cpu_tuning(void);

#endif
