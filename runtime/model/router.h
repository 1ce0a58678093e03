/* Which experts a token takes, and how much each counts. */
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

/* The layer's n_experts_used experts of a token to `chosen`, ascending by their number: they are
 * added in this order. logits (n_experts) are the router's, biases included, and are overwritten;
 * choice_bias (n_experts) is added to what chooses alone, NULL: none. Ties go to the lower number.
 * scores (n_experts) is work space. */
void router_choose(const struct kernels *k, const struct ingot_layer *l, float *logits,
                   const float *choice_bias, float *scores, struct router_choice *chosen);

#endif
