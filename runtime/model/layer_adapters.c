/* Runs adapters in a layer. Each part of the pass has its own adapters. */
#include "board/min_max.h"
#include "runtime/model/layer.h"

void layer_enter_adapters(const struct transformer *t, uint32_t layer)
{
    for (uint32_t i = 0; i < t->n_parts; i++) {
        if (t->parts[i].lora != NULL) {
            lora_enter(t->parts[i].lora, layer);
        }
    }
}

void layer_shrink(const struct transformer *t, uint64_t roles, const struct linear_input *in,
                  size_t first, size_t last)
{
    for (uint32_t i = 0; i < t->n_parts; i++) {
        const struct transformer_part *p = &t->parts[i];

        if (p->lora != NULL) {
            lora_shrink(p->lora, t->kernels, &t->act, roles, in, max_size(first, p->first),
                        min_size(last, (size_t)p->first + p->n));
        }
    }
}

void layer_expand(const struct transformer *t, const struct ingot_tensor *w, size_t r, size_t n,
                  float *y, size_t y_stride, const struct linear_input *in)
{
    enum ingot_role role = (enum ingot_role)w->role;
    size_t before = role == INGOT_OUTPUT ? t->first_row : 0;

    for (uint32_t i = 0; i < t->n_parts; i++) {
        const struct transformer_part *p = &t->parts[i];

        if (p->lora != NULL && lora_has(p->lora, role)) {
            struct linear_input part = { in->x, in->stride, p->n, in->first + p->first };

            lora_expand(p->lora, t->kernels, role, before + r, n, y + p->first * y_stride + r,
                        y_stride, &part);
        }
    }
}
