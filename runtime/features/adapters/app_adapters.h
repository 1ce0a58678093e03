/* A model's adapters (LoRA): their memory, and the ones in use. */
#ifndef INGOT_RUNTIME_APP_ADAPTERS_H
#define INGOT_RUNTIME_APP_ADAPTERS_H

#include "runtime/app/app.h"
#include "runtime/features/adapters/adapters.h"
#include "runtime/features/feature.h"
#include "runtime/options/adapter_list.h"

struct adapters_state {
    struct memory_range ram; /* bytes of `adapters`, in front of the target */
    struct adapters adapters;
    char adapted[ADAPTER_LIST_BYTES];         /* the list of those in use */
    struct adapter_list lists[ADAPTERS_SETS]; /* while sets are being changed */
};

static inline struct adapters_state *adapters_of(const struct chat *c)
{
    return c->features->state[FEATURE_adapters];
}

/* Use the adapters of a list (runtime/options/adapter_list.h) from now on; those that are not in
 * memory are loaded first. Errors: ERR_BAD_ARGUMENT, those of the files and of adapters_load and
 * adapters_use; a->error_message, and the previous ones stay in use. */
enum err app_use_adapters(struct app *a, const char *list);

/* The same for n lists, 1 to ADAPTERS_SETS, for parallel sequences: list i is
 * adapters_of_set(i). */
enum err app_use_adapter_sets(struct app *a, const char *const lists[], uint32_t n);

/* The same during a conversation, which is computed again if other adapters are in use now. */
enum err app_change_adapters(struct app *a, const char *list);

extern const struct chat_command adapter_commands[];
enum { ADAPTER_COMMANDS = 2 };

#endif
