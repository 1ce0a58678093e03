/* A file of the card with the beginning that all conversations with a system prompt share. The file
 * is loaded when a machine starts, so that the tokens are not computed again. The file is a saved
 * conversation without turns (saved_chat.h). The file is valid for one model, one choice of types
 * of keys and values, and one list of ids. Otherwise the beginning is computed as usual. */
#ifndef INGOT_RUNTIME_CHAT_PREFIX_H
#define INGOT_RUNTIME_CHAT_PREFIX_H

#include "runtime/chat/chat.h"
#include "runtime/saved/saved_chat.h"

/* Return how many bytes the file needs, or 0 if the common beginning of conversations is missing or
 * too long. The conversation must be empty. */
uint64_t chat_prefix_bytes(struct chat *c);

/* Save the prefix. If the session lacks the prefix, compute the prefix first. Errors: those of
 * saved_chat_write and of session_run; ERR_BAD_ARGUMENT if a conversation has begun or there is no
 * prefix (io->error_message says which). */
enum err chat_prefix_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

/* Load the prefix, so that the next conversation begins with it. Errors: those of saved_chat_read,
 * and ERR_BAD_MODEL if conversations now begin differently. */
enum err chat_prefix_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);

#endif
