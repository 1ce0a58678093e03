/* Read a position of a tile in a format that boards support: x (d), j below KV_TILE. Rotated
 * formats give rotated heads. */
#ifndef INGOT_RUNTIME_KV_FORMAT_GET_H
#define INGOT_RUNTIME_KV_FORMAT_GET_H

#include <stdint.h>

void kv_get_key_f16(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_f16(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_key_f32(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_f32(const void *tile, uint32_t d, uint32_t j, float *x);

void kv_get_key_q8(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_q8(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_rot_q8(const void *tile, uint32_t d, uint32_t j, float *x);

void kv_get_key_q4(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_q4(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_key_uniform(const void *tile, uint32_t d, uint32_t j, float *x);
void kv_get_value_uniform(const void *tile, uint32_t d, uint32_t j, float *x);

#endif
