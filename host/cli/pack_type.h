/* --type of the commands that pack or make models. */
#ifndef INGOT_HOST_PACK_TYPE_H
#define INGOT_HOST_PACK_TYPE_H

#include "host/args/command_line.h"

/* The types of flash_image/format/types.def, as the choices, `takes` and help of an option. */
extern const char pack_types[], pack_types_taken[], pack_types_help[];

/* For --head and --experts-type, which do not take mixtures. */
extern const char pack_plain_types[], pack_plain_types_taken[];

/* A function for `set`: writes to the struct pack_options at the row's `field`. */
enum option_result pack_type_set(void *arguments, const struct command_option *o,
                                 const char *value);

#endif
