/* Load the prefix of conversations from a file at a start, and save it on request. */
#ifndef INGOT_RUNTIME_APP_PREFIX_H
#define INGOT_RUNTIME_APP_PREFIX_H

#include "runtime/app/app.h"

/* Save the beginning of conversations to *file, so that no start computes it again. Call before the
 * first turn of a conversation. Errors: those of chat_prefix_save, with a->error_message. */
enum err app_save_prefix(struct app *a, const struct file **file);

#endif
