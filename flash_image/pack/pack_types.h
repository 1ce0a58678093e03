/* Which type a tensor is stored in. */
#ifndef INGOT_FLASH_IMAGE_PACK_TYPES_H
#define INGOT_FLASH_IMAGE_PACK_TYPES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

/* The type of a tensor as the options ask for it, or else nearest to its own; norms are F32. A
 * type that the columns forbid is replaced as by pack_type_for_cols. BF16 weights without a type
 * are F16 if that loses nothing, which reads them up to the first that does, else F32. */
enum ingot_type pack_choose_type(const struct pack_options *o, struct source *s,
                                 enum ingot_role role, unsigned layer);

/* The type of a matrix by o's --type alone, before what its columns forbid. For p: n_layers, n_heads,
 * n_kv_heads, tied. */
enum ingot_type pack_type_asked(const struct pack_options *o, const struct source_params *p,
                                enum ingot_role role, unsigned layer);

/* The type, or where it demands columns in whole blocks and these are not, one of nearly as many bits in blocks of 32,
 * as llama.cpp has it: a type of the same values for one or two bits, Q8_0 for six, and for columns that are not a
 * multiple of 32. */
enum ingot_type pack_type_for_cols(enum ingot_type type, uint32_t cols);

enum { PACK_REMARK_BYTES = 64 };

/* Why a matrix has another type than the one of --type, or of the file, in a few words; "": it has it. */
void pack_type_remark(const struct pack_options *o, struct source *s, enum ingot_role role,
                      unsigned layer, char *text, size_t bytes);

/* ERR_UNSUPPORTED: a matrix has values that are stored as another type only where an option names it, and none does. */
enum err pack_check_types(const struct pack_options *o, struct source *s);

/* Say on standard error which types change although the user did not ask for it. */
void pack_tell_types(const struct pack_options *o, struct source *s);

#endif
