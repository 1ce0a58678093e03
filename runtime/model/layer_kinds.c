/* The kinds of blocks that a layer can have. A new kind is a file and a row here. */
#include "runtime/model/ffn_dense.h"
#include "runtime/model/ffn_experts.h"
#include "runtime/model/mixer_attention.h"

const struct layer_block *const layer_mixers[] = { &mixer_attention, NULL };
const struct layer_block *const layer_ffns[] = { &ffn_dense, &ffn_experts, NULL };
