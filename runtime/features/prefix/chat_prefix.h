/* The beginning that all conversations with a system prompt share, in a file of the card: it is
 * loaded when a machine starts, so its tokens are not computed. The file is a saved conversation
 * without turns (saved_chat.h), for a model, types of keys and values, and ids; if these differ,
 * the beginning is computed as usual. */
#ifndef INGOT_RUNTIME_CHAT_PREFIX_H
#define INGOT_RUNTIME_CHAT_PREFIX_H

#include "runtime/chat/chat.h"
#include "runtime/saved/saved_chat.h"

/* Bytes of a file for it; 0: conversations begin with nothing, or with too much. The
 * conversation must be empty. */
uint64_t chat_prefix_bytes(struct chat *c);

/* Compute it if it is not kept already, and save it. Errors of saved_chat_write and of
 * session_run, ERR_BAD_ARGUMENT: a conversation has begun, or there is no prefix;
 * io->error_message says which. */
enum err chat_prefix_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

/* Load it, so that the next conversation begins with it. Errors of saved_chat_read;
 * ERR_BAD_MODEL also if conversations now begin differently. */
enum err chat_prefix_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

#endif
