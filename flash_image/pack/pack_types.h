/* The type in which a tensor is stored. */
#ifndef INGOT_FLASH_IMAGE_PACK_TYPES_H
#define INGOT_FLASH_IMAGE_PACK_TYPES_H

#include "flash_image/pack/pack.h"
#include "flash_image/source/source.h"

/* Return the type that the options name for a tensor, else the type nearest to its own; norms are
 * F32. A type that does not fit the columns is replaced as in pack_type_for_cols. If no type is
 * named, BF16 weights become F16 if F16 holds every weight (they are read to check that), else
 * F32. */
enum ingot_type pack_choose_type(const struct pack_options *o, struct source *s,
                                 enum ingot_role role, unsigned layer);

/* The type that o's --type gives a matrix, before its columns are taken into account. Reads from p:
 * n_layers, n_heads, n_kv_heads, tied. */
enum ingot_type pack_type_asked(const struct pack_options *o, const struct source_params *p,
                                enum ingot_role role, unsigned layer);

/* Return the type if the columns are whole blocks of it. Otherwise return a type in blocks of 32
 * with at least as many bits, for most types the one that llama.cpp chooses. If the columns are not
 * a multiple of 32, return Q4_0 for types below four bits, Q8_0 for others. */
enum ingot_type pack_type_for_cols(enum ingot_type type, uint32_t cols);

/* Return the type if the matrix can have it, otherwise the type that replaces it. */
enum ingot_type pack_type_allowed(enum ingot_type type, enum ingot_role role, uint32_t cols);

/* True if --head or --experts-type gives the type of the matrix. */
bool pack_type_is_named(const struct pack_options *o, const struct source *s, enum ingot_role role);

enum { PACK_REMARK_BYTES = 64 };

/* Write in a few words why a matrix does not have the type of --type, or of the file; "" if it has
 * that type. */
void pack_type_remark(const struct pack_options *o, struct source *s, enum ingot_role role,
                      unsigned layer, char *text, size_t bytes);

/* Refuse (ERR_UNSUPPORTED) a matrix whose values no type of .ingot files represents exactly, unless
 * an option names a type. */
enum err pack_check_types(const struct pack_options *o, struct source *s);

/* Report on standard error which types change although the user did not ask for it. */
void pack_tell_types(const struct pack_options *o, struct source *s);

#endif
