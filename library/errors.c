#include "library/library.h"

#include "runtime/text/format_text.h"

const char *ingot_error_text(enum ingot_error error)
{
    static const char *const texts[] = {
        "fine",
        "an argument is NULL or out of bounds",
        "called too early (before open, load or begin), after close, or from a callback",
        "the memory is too small for this model and context",
        "the model file could not be read",
        "not an .ingot file: make one with `ingot pack`",
        "an .ingot file of another version: pack it again",
        "the model file is damaged: copy or pack it again",
        "a model of a kind that this build cannot run",
        "the text does not fit the context",
        "stopped by a callback",
        "the model has no chat template",
    };
    int i = -(int)error;

    if (i < 0 || i >= (int)(sizeof texts / sizeof texts[0])) {
        return "unknown error";
    }
    return texts[i];
}

const char *ingot_version(void)
{
    return INGOT_VERSION_TEXT;
}

/* Return the error of include/ingot.h for an error of the runtime. An error that neither files nor
 * callers can cause becomes INGOT_BAD_ARGUMENT. */
static enum ingot_error public_error(enum err e)
{
    static const signed char codes[ERR_COUNT] = {
        [-ERR_BUSY] = INGOT_WRONG_ORDER,      [-ERR_NO_DEVICE] = INGOT_READ_FAILED,
        [-ERR_IO] = INGOT_READ_FAILED,        [-ERR_TIMEOUT] = INGOT_READ_FAILED,
        [-ERR_RANGE] = INGOT_READ_FAILED,     [-ERR_REMOVED] = INGOT_READ_FAILED,
        [-ERR_BAD_MAGIC] = INGOT_NOT_A_MODEL, [-ERR_BAD_VERSION] = INGOT_BAD_VERSION,
        [-ERR_BAD_HEADER] = INGOT_DAMAGED,    [-ERR_BAD_CHECKSUM] = INGOT_DAMAGED,
        [-ERR_TRUNCATED] = INGOT_DAMAGED,     [-ERR_BAD_TOKENIZER] = INGOT_DAMAGED,
        [-ERR_BAD_MODEL] = INGOT_DAMAGED,     [-ERR_UNSUPPORTED] = INGOT_UNSUPPORTED,
        [-ERR_NO_SPACE] = INGOT_NO_MEMORY,    [-ERR_TOO_LONG] = INGOT_TOO_LONG,
        [-ERR_ABORTED] = INGOT_STOPPED,       [-ERR_NOT_SIGNED] = INGOT_DAMAGED,
    };

    if (e == ERR_OK || codes[-e] != INGOT_OK) {
        return (enum ingot_error)codes[-e];
    }
    return INGOT_BAD_ARGUMENT;
}

enum ingot_error library_check(const struct ingot_model *m, enum library_stage least)
{
    if (m == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    if (m->busy || m->stage < least) {
        return INGOT_WRONG_ORDER;
    }
    return INGOT_OK;
}

enum ingot_error library_check_session(const struct ingot_session *s)
{
    if (s == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    if (s->model == NULL) {
        return INGOT_WRONG_ORDER;
    }
    return library_check(s->model, LIBRARY_LOADED);
}

enum ingot_error library_refuse(struct ingot_model *m, enum ingot_error error,
                                const char *error_message)
{
    if (m != NULL) {
        format_text(m->error_message, sizeof m->error_message, "%s", error_message);
    }
    return error;
}

enum ingot_error library_failed(struct ingot_model *m, enum err e, const char *error_message)
{
    if (e == ERR_OK) {
        return INGOT_OK;
    }
    if (e == ERR_ABORTED) { /* the runtime's message addresses a person at a keyboard */
        error_message = ingot_error_text(INGOT_STOPPED);
    }
    if (error_message[0] == '\0') {
        error_message = err_text(e);
    }
    return library_refuse(m, public_error(e), error_message);
}

const char *ingot_error_message(const struct ingot_model *m)
{
    if (m == NULL || m->stage == LIBRARY_CLOSED) {
        return "";
    }
    return m->error_message;
}
