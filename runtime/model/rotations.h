/* The tables by which the queries and keys of a pass are rotated. */
#ifndef INGOT_RUNTIME_ROTATIONS_H
#define INGOT_RUNTIME_ROTATIONS_H

#include "runtime/model/transformer.h"

/* act.cos_sin and act.cos_sin_query of every rotation, for the tokens at work. */
void rotations_make(const struct transformer *t);

#endif
