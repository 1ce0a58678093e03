/* Shared only by the files of this folder. */
#ifndef INGOT_RUNTIME_OPTIONS_PRIVATE_H
#define INGOT_RUNTIME_OPTIONS_PRIVATE_H

#include "runtime/options/options.h"

enum { OPTIONS_SHOWN_BYTES = 44 /* bytes of an option in a message, with its NUL */ };

enum kind {
    KIND_TEXT,
    KIND_SAID,
    KIND_CHOICE,
    KIND_LIST,
    KIND_KV,
    KIND_ADAPTERS,
    KIND_COUNT,
    KIND_LIMIT,
    KIND_SIZE,
    KIND_SEED,
    KIND_NUMBER,
    KIND_STOP,
    KIND_LOCK,
    KIND_FLAG
};

/* A row of options.def. */
struct rule {
    const char *name;
    const char *accepts; /* ends the error message "NAME takes ..." */
    union {
        const char *choices; /* words separated by spaces, for KIND_CHOICE */
        const char *(*check)(
            const char *); /* for KIND_LIST: returns NULL, or a sentence that says what is
                            * wrong */
    };
    float least, most, initial; /* range and default of a number */
    uint16_t field;             /* offset in struct options */
    uint16_t bytes;             /* size of a text field, with its NUL */
    uint16_t length;            /* offset of the text's length, for KIND_SAID */
    uint8_t kind;               /* enum kind */
    uint8_t where;              /* bits of enum option_where */
};

extern const struct rule options_rules[OPTION_COUNT];

/* Set the default of a row that has one. */
void options_set_initial(struct options *o, const struct rule *rule);

/* Send an error message to the report, if there is one. */
__attribute__((format(printf, 3, 4))) void options_say(const struct options_report *report,
                                                       bool refused, const char *format, ...);

/* Return the beginning of an option for a message; characters that could disturb a terminal become
 * '?'. */
const char *options_shown(char buffer[OPTIONS_SHOWN_BYTES], const char *text, size_t bytes);

/* Return the option of this name (bytes), or OPTION_COUNT. */
enum option options_find(const char *name, size_t bytes);

/* Find the index of a value in a list of words separated by spaces. Returns false if the list lacks
 * the value. */
bool options_find_choice(const char *choices, const char *value, uint32_t *place);

/* Report which values the option takes. Returns err. */
enum err options_report_value(const struct rule *rule, const char *value, enum err err,
                              const struct options_report *report);

/* Set an option; value is NULL for an option without a value. Errors: those of options_set. */
enum err options_set_one(struct options *o, enum option which, const char *value,
                         const struct options_report *report);

#endif
