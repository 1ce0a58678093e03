#include "host/cli/pack_type.h"

#include "flash_image/pack/pack.h"

const char pack_plain_types[] =
#define TYPE_FLOATS(NAME, id, name, ...) #name " "
#define TYPE_WEIGHTS(NAME, id, name, ...) #name " "
#include "flash_image/format/types.def"
    ;

const char pack_plain_types_taken[] = "one of "
#define TYPE_FLOATS(NAME, id, name, ...) #name ", "
#define TYPE_WEIGHTS(NAME, id, name, ...) #name ", "
#include "flash_image/format/types.def"
                                      "and no mixture";

const char pack_types[] = "auto "
#define TYPE_FLOATS(NAME, id, name, ...) #name " "
#define TYPE_WEIGHTS(NAME, id, name, ...) #name " "
#define TYPE_MIXTURE(name, ...) #name " "
#define TYPE_MIXTURE_TOO(...)
#define TYPE_STAND_IN(name, stored) #name " "
#include "flash_image/format/types.def"
    ;

const char pack_types_taken[] = "auto with --size, or one of "
#define TYPE_FLOATS(NAME, id, name, ...) #name ", "
#define TYPE_WEIGHTS(NAME, id, name, ...) #name ", "
#define TYPE_MIXTURE(name, ...) #name ", "
#define TYPE_MIXTURE_TOO(...)
#define TYPE_STAND_IN(name, stored) #name " (as " #stored "), "
#include "flash_image/format/types.def"
                                "and none other";

/* The help has a line for each kind of type, because the lists are long. */
#define IF_q8(text) text
#define IF_q8k(text)
const char pack_types_help[] = "floats:"
#define TYPE_FLOATS(NAME, id, name, ...) " " #name ","
#include "flash_image/format/types.def"
                               "\nblocks of 32 columns:"
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) IF_##act(" " #name ",")
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
#undef IF_q8
#undef IF_q8k
#define IF_q8(text)
#define IF_q8k(text) text
                               "\nof 256:"
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, ...) IF_##act(" " #name ",")
#define TYPE_TABLED(...)
#include "flash_image/format/types.def"
#undef IF_q8
#undef IF_q8k
                               "\nby a table of 16 values:"
#define TYPE_TABLED(NAME, id, name, ...) " " #name ","
#include "flash_image/format/types.def"
                               "\nmixtures of these:"
#define TYPE_MIXTURE(name, ...) " " #name ","
#include "flash_image/format/types.def"
                               "\nrows with one scale:"
#define TYPE_STAND_IN(name, stored) " " #name " (as " #stored "),"
#include "flash_image/format/types.def"
                               "\nauto: for each matrix one of these (--size)"
                               "\ndefault: as in IN; q8_0 for a made-up model";

enum option_result pack_type_set(void *arguments, const struct command_option *o, const char *value)
{
    struct pack_options *pack = (void *)((char *)arguments + o->field);

    return pack_parse_type(value, pack) ? OPTION_TAKEN : OPTION_REFUSED;
}
