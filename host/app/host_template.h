/* --template: another chat section than the model's own. */
#ifndef INGOT_HOST_HOST_TEMPLATE_H
#define INGOT_HOST_HOST_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/model/model.h"

/* The section called `name` in *chat, for an open model. Its vocabulary is copied to
 * *vocabulary, in place of what malloc gave before, for the template makes control tokens of its
 * markers and the file's stays as it is. One model at a time. Errors: an error message in
 * error_message (bytes). */
enum err host_template_choose(const char *name, struct model *m, uint8_t **vocabulary,
                              const struct ingot_chat **chat, char *error_message, size_t bytes);

#endif
