"""The packer: parsers of model files, quantizers."""

from row import row

QUANTIZE = "flash_image/quantize/quantize.c"

ROWS = [
    row("quantize: nibbles of the second half in the first", QUANTIZE,
        "(best.q[i] + 8) | (best.q[i + 16] + 8) << 4",
        "(best.q[i + 16] + 8) | (best.q[i] + 8) << 4",
        "unit/flash_image/quantize"),
    row("quantize: a padding row is not zero", QUANTIZE, "blocks[r][2 + c] : 0x88;",
        "blocks[r][2 + c] : 0x77;", "unit/flash_image/quantize unit/flash_image/pack"),
    row("quantize: a scale beyond fp16", QUANTIZE, "fabsf(extreme) / 7.0f > FIT_F16_MOST",
        "fabsf(extreme) / 70.0f > FIT_F16_MOST", "unit/flash_image/quantize"),
    row("quantize: the bits of a min are lost", QUANTIZE,
        "(s[j + 4] >> 2 & 15) | min >> 2 << 4", "(s[j + 4] >> 2 & 15) | min >> 3 << 4",
        "unit/flash_image/quantize_k unit/flash_image/quantize unit/flash_image/dequantize"),
    row("pack: the last eighth is not sensitive", "flash_image/pack/pack_types.c",
        "layer >= 7 * n / 8", "layer > 7 * n / 8", "unit/flash_image/pack_types"),
    row("pack: short groups in blocks of 32", "flash_image/pack/pack_types.c",
        "t->group % 32 == 0", "t->group % 16 == 0",
        "unit/flash_image/pack_types unit/flash_image/pack"),
]
