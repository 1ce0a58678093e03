/* Shared functions of model.c and model_image.c; no other folder includes this header. */
#ifndef INGOT_RUNTIME_MODEL_PRIVATE_H
#define INGOT_RUNTIME_MODEL_PRIVATE_H

#include "runtime/model/model.h"

/* Set m->error_message to the file's name and the message. If the message is "", use the error's
 * own text. Returns error. */
enum err model_refuse(struct model *m, enum err error, const char *error_message);

/* Fill m->image with the header and tables of m->file. Check header and tables, and the signature
 * if setup needs one. Errors: those of model_open. */
enum err model_open_image(struct model *m, const struct model_setup *setup);

#endif
