/* --template: uses another chat section instead of the model's own. */
#ifndef INGOT_HOST_HOST_TEMPLATE_H
#define INGOT_HOST_HOST_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/model/model.h"

/* Writes the chat section of the form `name` to *chat, for an open model. From then on the model
 * uses *vocabulary, a copy of its vocabulary (an earlier copy is freed), because the template turns
 * markers into control tokens, and the file must not change. Only one model is open at a time.
 * Errors: an error message in error_message (bytes). */
enum err host_template_choose(const char *name, struct model *m, uint8_t **vocabulary,
                              const struct ingot_chat **chat, char *error_message, size_t bytes);

#endif
