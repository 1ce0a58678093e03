/* Choose the experts that a token takes, and their weights. */
#ifndef INGOT_RUNTIME_ROUTER_H
#define INGOT_RUNTIME_ROUTER_H

#include <stddef.h>
#include <stdint.h>

#include "flash_image/format/format.h"
#include "kernels/kernels.h"

/* One of a token's experts. */
struct router_choice {
    uint32_t expert;
    float weight;
};

/* Write the n_experts_used experts that a token takes in a layer to `chosen`, in ascending order,
 * which is the order of addition. logits (n_experts) come from the router, including biases, and
 * are overwritten. choice_bias (n_experts, or NULL) counts only for the choice. If scores are
 * equal, the lower number wins. scores (n_experts) is work space. */
void router_choose(const struct kernels *k, const struct ingot_layer *l, float *logits,
                   const float *choice_bias, float *scores, struct router_choice *chosen);

#endif
