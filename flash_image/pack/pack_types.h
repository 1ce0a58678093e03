/* The type in which a tensor is stored. */
#ifndef INGOT_FLASH_IMAGE_PACK_TYPES_H
#define INGOT_FLASH_IMAGE_PACK_TYPES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

/* The type of a tensor that the options ask for, or else the nearest to its own; norms are F32. A
 * type that does not fit the columns is replaced as in pack_type_for_cols. BF16 weights without a
 * requested type become F16 if that loses nothing (they are read up to the first that does), else
 * F32. */
enum ingot_type pack_choose_type(const struct pack_options *o, struct source *s,
                                 enum ingot_role role, unsigned layer);

/* The type of a matrix from o's --type, before its columns are taken into account. For p: n_layers,
 * n_heads, n_kv_heads, tied. */
enum ingot_type pack_type_asked(const struct pack_options *o, const struct source_params *p,
                                enum ingot_role role, unsigned layer);

/* The type itself or, if it needs columns in whole blocks and these are not, one with nearly as many bits in
 * blocks of 32, as in llama.cpp: a type with the same values for one or two bits, Q8_0 for six, and for columns
 * that are not a multiple of 32. */
enum ingot_type pack_type_for_cols(enum ingot_type type, uint32_t cols);

/* Whether the matrix can have the type: itself, else what it becomes. */
enum ingot_type pack_type_allowed(enum ingot_type type, enum ingot_role role, uint32_t cols);

/* Whether --head or --experts-type names the type of the matrix. */
bool pack_type_is_named(const struct pack_options *o, const struct source *s, enum ingot_role role);

enum { PACK_REMARK_BYTES = 64 };

/* The reason why a matrix has another type than that of --type, or of the file, in a few words; "":
 * it has that type. */
void pack_type_remark(const struct pack_options *o, struct source *s, enum ingot_role role,
                      unsigned layer, char *text, size_t bytes);

/* ERR_UNSUPPORTED: a matrix has values that are stored as another type only if an option names it,
 * and none does. */
enum err pack_check_types(const struct pack_options *o, struct source *s);

/* Report on standard error which types change although the user did not ask for it. */
void pack_tell_types(const struct pack_options *o, struct source *s);

#endif
