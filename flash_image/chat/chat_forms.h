/* The chat templates that the packer knows, as strings, and how the published Jinja texts are told
 * apart. */
#ifndef INGOT_FLASH_IMAGE_CHAT_FORMS_H
#define INGOT_FLASH_IMAGE_CHAT_FORMS_H

#include <stddef.h>

#include "flash_image/format.h"

/* In a form's strings, these stand for the text of the model's own bos and eos. */
#define CHAT_BOS "\2"
#define CHAT_EOS "\3"

/* In a squeezed template (chat_jinja.h), and so in `needs` and `lacks`, around literals. */
#define CHAT_QUOTE "\1"

enum { CHAT_FORM_WORDS = 4 };

struct chat_form {
    const char *name;
    const char *models;                      /* of which it is, for a person */
    const char *strings[INGOT_CHAT_STRINGS]; /* NULL: empty; the name is not among them */
    uint32_t flags;
    const char *needs[CHAT_FORM_WORDS]; /* all of these are in the template, */
    const char *lacks[CHAT_FORM_WORDS]; /* and none of these */
};

/* The table; the first form that fits a template is the template's. *n: how many. */
const struct chat_form *chat_forms(size_t *n);

/* NULL: no form has the name. */
const struct chat_form *chat_form_find(const char *name);

#endif
