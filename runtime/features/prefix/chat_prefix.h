/* The beginning that all conversations of a system prompt share, in a file of the card: loaded when a machine
 * starts, its tokens are computed by nobody. The file is that of a saved conversation without turns
 * (saved_chat.h): of a model, types of keys and values, and ids; who has others computes as usual. */
#ifndef INGOT_RUNTIME_CHAT_PREFIX_H
#define INGOT_RUNTIME_CHAT_PREFIX_H

#include "runtime/chat/chat.h"
#include "runtime/saved/saved_chat.h"

/* Bytes of a file for it; 0: conversations begin with nothing, or with too much. The conversation is
 * empty. */
uint64_t chat_prefix_bytes(struct chat *c);

/* Compute it where it is not kept already, and save it. Errors of saved_chat_write and of session_run,
 * ERR_BAD_ARGUMENT: a conversation is at work, or there is no prefix; io->error_message says which. */
enum err chat_prefix_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

/* Load it, so that the next conversation begins with it. Errors of saved_chat_read; ERR_BAD_MODEL also
 * where conversations begin otherwise now. */
enum err chat_prefix_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

#endif
