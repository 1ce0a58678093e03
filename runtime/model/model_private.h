/* Shared functions of model.c and model_image.c; nobody else includes it. */
#ifndef INGOT_RUNTIME_MODEL_PRIVATE_H
#define INGOT_RUNTIME_MODEL_PRIVATE_H

#include "runtime/model/model.h"

/* m->error_message becomes the file's name and the error message, "": the error's. Returns error. */
enum err model_refuse(struct model *m, enum err error, const char *error_message);

/* Header, signature where setup wants one, and tables of m->file: m->image. Errors as model_open. */
enum err model_open_image(struct model *m, const struct model_setup *setup);

#endif
