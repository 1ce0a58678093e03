#include "flash_image/quantize/requantize.h"

#include <string.h>

#include "flash_image/quantize/dequantize.h"
#include "kernels/ref/scalar.h"

static void q5_0_to_q8_0(const uint8_t *in, uint8_t *out)
{
    memcpy(out, in, 2);
    for (unsigned i = 0; i < 32; i++) {
        int high = in[2 + i / 8] >> i % 8 & 1;

        out[2 + i] = (uint8_t)(int8_t)((dequantize_nibble(in + 6, i) | high << 4) - 16);
    }
}

static void iq4_to_q8_0(const uint8_t *q, uint8_t *out)
{
    for (unsigned i = 0; i < 32; i++) {
        out[2 + i] = (uint8_t)dequantize_iq4[dequantize_nibble(q, i)];
    }
}

static void iq4_nl_to_q8_0(const uint8_t *in, uint8_t *out)
{
    memcpy(out, in, 2);
    iq4_to_q8_0(in + 2, out);
}

static void iq4_xs_to_q8_0(const uint8_t *in, uint8_t *out)
{
    float d = load_f16(in);
    unsigned high = load_u16(in + 2);

    for (unsigned j = 0; j < 8; j++, out += 34) {
        int scale = (in[4 + j / 2] >> j % 2 * 4 & 15) | (int)(high >> 2 * j & 3) << 4;
        uint16_t half = f16_from_f32(d * (float)(scale - 32));

        out[0] = (uint8_t)half;
        out[1] = (uint8_t)(half >> 8);
        iq4_to_q8_0(in + 8 + 16 * j, out);
    }
}

requantize_block_fn *requantize_of(enum source_type from, enum ingot_type to)
{
    static const struct {
        enum source_type from;
        enum ingot_type to;
        requantize_block_fn *function;
    } ways[] = {
        { SOURCE_Q5_0, INGOT_Q8_0, q5_0_to_q8_0 },
        { SOURCE_IQ4_NL, INGOT_Q8_0, iq4_nl_to_q8_0 },
        { SOURCE_IQ4_XS, INGOT_Q8_0, iq4_xs_to_q8_0 },
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].from == from && ways[i].to == to) {
            return ways[i].function;
        }
    }
    return NULL;
}
