#include "host/cli/pack_type.h"

#include "flash_image/pack/pack.h"

enum option_result pack_type_set(void *arguments, const struct command_option *o, const char *value)
{
    struct pack_options *pack = (void *)((char *)arguments + o->field);

    return pack_parse_type(value, pack) ? OPTION_TAKEN : OPTION_REFUSED;
}
