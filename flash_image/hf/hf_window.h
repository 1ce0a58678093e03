/* Finds in config.json which layers see only a window of positions. */
#ifndef INGOT_FLASH_IMAGE_HF_WINDOW_H
#define INGOT_FLASH_IMAGE_HF_WINDOW_H

#include "flash_image/hf/hf_json.h"
#include "flash_image/source/families.h"

/* Set the window in params; rope_base must be final. usual: the window if no field gives a window.
 * Errors go to j->e. */
void hf_window_read(struct hf_json *j, const struct family *f, uint32_t usual);

#endif
