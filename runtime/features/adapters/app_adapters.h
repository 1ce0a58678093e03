/* Adapters (LoRA) of a model: their memory, and which of them are at work. */
#ifndef INGOT_RUNTIME_APP_ADAPTERS_H
#define INGOT_RUNTIME_APP_ADAPTERS_H

#include "runtime/app/app.h"
#include "runtime/features/adapters/adapters.h"
#include "runtime/features/feature.h"
#include "runtime/options/adapter_list.h"

struct adapters_state {
    struct memory_range ram; /* of `adapters`, in front of the target */
    struct adapters adapters;
    char adapted[ADAPTER_LIST_BYTES];         /* the list of those at work */
    struct adapter_list lists[ADAPTERS_SETS]; /* while sets go to work */
};

static inline struct adapters_state *adapters_of(const struct chat *c)
{
    return c->features->state[FEATURE_adapters];
}

/* The adapters of a list (runtime/options/adapter_list.h) are at work from now on; those that are not in
 * memory are loaded before. Errors: ERR_BAD_ARGUMENT, those of the files and of adapters_load and
 * adapters_use; a->error_message, and those before are still at work. */
enum err app_use_adapters(struct app *a, const char *list);

/* The same for n lists, 1 to ADAPTERS_SETS, for sequences side by side: list i is adapters_of_set(i). */
enum err app_use_adapter_sets(struct app *a, const char *const lists[], uint32_t n);

/* The same while a conversation is open, which is computed again where other ones are at work now. */
enum err app_change_adapters(struct app *a, const char *list);

extern const struct chat_command adapter_commands[];
enum { ADAPTER_COMMANDS = 2 };

#endif
