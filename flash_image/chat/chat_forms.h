/* The named forms of chat templates, as strings, for models with no template or with a wrong
 * template. */
#ifndef INGOT_FLASH_IMAGE_CHAT_FORMS_H
#define INGOT_FLASH_IMAGE_CHAT_FORMS_H

#include <stddef.h>

#include "flash_image/format/format.h"

/* These characters in a form's strings stand for the texts of the model's bos and eos. */
#define CHAT_BOS "\2"
#define CHAT_EOS "\3"

struct chat_form {
    const char *name;
    const char *models;                      /* the models that use it, for a person to read */
    const char *strings[INGOT_CHAT_STRINGS]; /* NULL: empty; INGOT_CHAT_NAME is not used */
    uint32_t flags;
};

/* Return the table of forms, and their number in *n. */
const struct chat_form *chat_forms(size_t *n);

/* Find a form by name. NULL if no form has the name. */
const struct chat_form *chat_form_find(const char *name);

#endif
