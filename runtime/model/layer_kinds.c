/* The kinds of blocks that a layer can have. To add a kind, add a file and a row here. */
#include "runtime/model/ffn_dense.h"
#include "runtime/model/ffn_experts.h"
#include "runtime/model/mixer_attention.h"
#include "runtime/model/mixer_delta.h"
#include "runtime/model/mixer_mamba2.h"
#include "runtime/model/mixer_shortconv.h"

const struct layer_block *const layer_mixers[] = {
    &mixer_attention, &mixer_delta, &mixer_shortconv, &mixer_mamba2, NULL,
};
const struct layer_block *const layer_ffns[] = { &ffn_dense, &ffn_experts, NULL };
