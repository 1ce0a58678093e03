/* The tables that rotate the queries and keys of a pass. */
#ifndef INGOT_RUNTIME_ROTATIONS_H
#define INGOT_RUNTIME_ROTATIONS_H

#include "runtime/model/transformer.h"

/* Fill act.cos_sin and act.cos_sin_query of every rotation, for the current tokens. */
void rotations_make(const struct transformer *t);

#endif
