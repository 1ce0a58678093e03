/* --type of the commands that pack or make models. */
#ifndef INGOT_HOST_PACK_TYPE_H
#define INGOT_HOST_PACK_TYPE_H

#include "host/cli/command_line.h"

#define PACK_TYPES \
    "f32 f16 q8_0 q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k q3_k_m q4_k_m q5_k_m q2_0 tq2_0 " \
    "q1_0 iq4_nl mxfp4 fig4 i8r i4r"
#define PACK_TYPES_TAKEN \
    "one of f32, f16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, q3_k_m, q4_k_m, " \
    "q5_k_m, q2_0, tq2_0, q1_0, iq4_nl, mxfp4, fig4, i8r, i4r"

/* Of --head and --experts-type, which take no mixtures. */
#define PACK_PLAIN_TYPES \
    "f32 f16 q8_0 q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k q2_0 tq2_0 q1_0 iq4_nl mxfp4 fig4"
#define PACK_PLAIN_TYPES_TAKEN \
    "one of f32, f16, q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, q2_0, tq2_0, " \
    "q1_0, iq4_nl, mxfp4, fig4"

/* For `set`: into the struct pack_options at the row's `field`. */
enum option_result pack_type_set(void *arguments, const struct command_option *o,
                                 const char *value);

#endif
