/* Which type a tensor is stored in. */
#ifndef INGOT_FLASH_IMAGE_PACK_TYPES_H
#define INGOT_FLASH_IMAGE_PACK_TYPES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

/* The type of a tensor as the options ask for it, or else nearest to its own; norms are F32. Where
 * Q4_K or Q6_K meets columns that are no multiple of 256, it is Q8_0. BF16 weights without a type
 * are F16 if that loses nothing, which reads them up to the first that does, else F32. */
enum ingot_type pack_choose_type(const struct pack_options *o, struct source *s,
                                 enum ingot_role role, unsigned layer);

/* Say on standard error which types change although the user did not ask for it. */
void pack_tell_types(const struct pack_options *o, struct source *s);

#endif
