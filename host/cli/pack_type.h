/* --type of the commands that pack or make models. */
#ifndef INGOT_HOST_PACK_TYPE_H
#define INGOT_HOST_PACK_TYPE_H

#include "host/args/command_line.h"

/* The rows of flash_image/format/types.def as an option's choices, its argument, and its help. */
extern const char pack_types[], pack_types_taken[], pack_types_help[];

/* For --head and --experts-type, which take no mixtures. */
extern const char pack_plain_types[], pack_plain_types_taken[];

/* For `set`: writes to the struct pack_options at the row's `field`. */
enum option_result pack_type_set(void *arguments, const struct command_option *o,
                                 const char *value);

#endif
