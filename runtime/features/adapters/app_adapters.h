/* The memory of a model's adapters (LoRA), and which adapters are in use. */
#ifndef INGOT_RUNTIME_APP_ADAPTERS_H
#define INGOT_RUNTIME_APP_ADAPTERS_H

#include "runtime/app/app.h"
#include "runtime/features/adapters/adapters.h"
#include "runtime/features/feature.h"
#include "runtime/options/adapter_list.h"

struct adapters_state {
    struct memory_range ram; /* memory of `adapters`, in front of the target model's arena */
    struct adapters adapters;
    char adapted[ADAPTER_LIST_BYTES];         /* the list of adapters in use */
    char before[ADAPTER_LIST_BYTES];          /* the list before the last request set another */
    struct adapter_list lists[ADAPTERS_SETS]; /* the new lists while sets are being changed */
};

static inline struct adapters_state *adapters_of(const struct chat *c)
{
    return c->features->state[FEATURE_adapters];
}

/* Use the adapters of a list (runtime/options/adapter_list.h) from now on; missing adapters are
 * loaded first. Errors: ERR_BAD_ARGUMENT and those of the files, adapters_load and adapters_use.
 * After an error a->error_message is set, and the previous adapters stay in use. */
enum err app_use_adapters(struct app *a, const char *list);

/* Like app_use_adapters, for 1 to ADAPTERS_SETS lists of parallel sequences. List i becomes
 * adapters_of_set(i). */
enum err app_use_adapter_sets(struct app *a, const char *const lists[], uint32_t n);

/* Like app_use_adapters, during a conversation, which is computed again if the adapters changed. */
enum err app_change_adapters(struct app *a, const char *list);

extern const struct chat_command adapter_commands[];
enum { ADAPTER_COMMANDS = 2 };

#endif
