/* adapter_config.json of PEFT: which of its fields change what an adapter does. */
#ifndef INGOT_FLASH_IMAGE_ADAPTER_CONFIG_H
#define INGOT_FLASH_IMAGE_ADAPTER_CONFIG_H

#include <cjson/cJSON.h>

#include "flash_image/source/source.h"

/* The advice for an adapter that Ingot cannot read: merge it into its base with PEFT. */
#define ADAPTER_MERGE "merge the adapter into its base (PEFT: merge_and_unload) and pack that model"

struct adapter_config {
    cJSON *root;
    bool rslora;     /* the scale is lora_alpha / sqrt(r) */
    bool transposed; /* fan_in_fan_out */
    bool ties;       /* ensure_weight_tying */
};

/* Read the configuration. The error message names s->path and, if a field changes the result in an
 * unsupported way, that field. Free *c after errors as well. Errors: ERR_BAD_MODEL,
 * ERR_UNSUPPORTED, ERR_NO_SPACE. */
enum err adapter_config_read(struct source *s, const uint8_t *text, size_t bytes,
                             struct adapter_config *c);
void adapter_config_free(struct adapter_config *c);

/* Find lora_alpha of the module with this name, as in the file of weights. Refuses a module that is
 * not in the configuration, and a rank other than the module's r. Errors as above. */
enum err adapter_config_module(struct source *s, const struct adapter_config *c, const char *module,
                               uint32_t rank, float *alpha);

#endif
