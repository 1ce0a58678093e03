/* The prefix of conversations in a file, at a start and when it is asked for. */
#ifndef INGOT_RUNTIME_APP_PREFIX_H
#define INGOT_RUNTIME_APP_PREFIX_H

#include "runtime/app/app.h"

/* The beginning of conversations goes into its file, *file, so that no start computes it again. Before
 * the first line of a conversation. Errors of chat_prefix_save; a->error_message. */
enum err app_save_prefix(struct app *a, const struct file **file);

#endif
