"""The packer: parsers of model files, quantizers, chat templates."""

from row import row

INTERLEAVE = "flash_image/quantize/interleave.c"
QUANTIZE, FEW = "flash_image/quantize/quantize.c", "flash_image/quantize/quantize_few.c"
TABLE, STACKS = "flash_image/quantize/quantize_table.c", "flash_image/hf/hf_stacks.c"
JINJA, DERIVE = "flash_image/jinja/", "flash_image/chat/chat_derive.c"

ROWS = [
    row("quantize: nibbles of the second half in the first", QUANTIZE,
        "(best.q[i] + 8) | (best.q[i + 16] + 8) << 4",
        "(best.q[i + 16] + 8) | (best.q[i] + 8) << 4",
        "unit/flash_image/quantize"),
    row("quantize: a padding row is not zero", INTERLEAVE, "blocks[r][2 + c] : 0x88;",
        "blocks[r][2 + c] : 0x77;", "unit/flash_image/quantize unit/flash_image/pack"),
    row("quantize: a scale beyond fp16", QUANTIZE, "fabsf(extreme) / 7.0f > FIT_F16_MOST",
        "fabsf(extreme) / 70.0f > FIT_F16_MOST", "unit/flash_image/quantize"),
    row("quantize: the bits of a min are lost", INTERLEAVE,
        "(s[j + 4] >> 2 & 15) | min >> 2 << 4", "(s[j + 4] >> 2 & 15) | min >> 3 << 4",
        "unit/flash_image/quantize_k unit/flash_image/quantize unit/flash_image/dequantize"),
    row("pack: the last eighth is not sensitive", "flash_image/pack/pack_types.c",
        "layer >= 7 * n / 8", "layer > 7 * n / 8", "unit/flash_image/pack_types"),
    row("pack: short groups in blocks of 32", "flash_image/pack/pack_own_type.c",
        "t->group % 32 == 0", "t->group % 16 == 0",
        "unit/flash_image/pack_types unit/flash_image/pack"),
    row("quantize: a quarter of a byte in its neighbour's place", FEW,
        "(q[i] + 1) << i % 4 * 2)", "(q[i] + 1) << (3 - i % 4) * 2)",
        "unit/flash_image/quantize_few"),
    row("quantize: all weights count alike", FEW, "(double)h[i] * fabs((double)w[i])",
        "fabs((double)w[i])", "unit/flash_image/quantize_few"),
    row("quantize: no scale is negative", TABLE, "i % 2 == 0 && round == 0 ? -d : d", "d",
        "unit/flash_image/quantize_table"),
    row("quantize: small powers of two are not tried", TABLE, "int e = exponent - 5; e <=",
        "int e = exponent - 3; e <=", "unit/flash_image/quantize_table"),
    row("experts of a folder: gate and up in turn are halves", STACKS, "half.run_step = 2;",
        "half.run_step = 1;", "golden/hf/hf_families.t"),
    row("experts of a folder: a bias in turn is halves", STACKS, "half.stride = 2;",
        "half.stride = 1;", "golden/hf/hf_families.t"),
    row("jinja: a whole quotient is rounded down", JINJA + "jinja_operators.c",
        "(a % b != 0 && (a < 0) != (b < 0))", "((a < 0) != (b < 0))", "unit/jinja/jinja"),
    row("jinja: a tuple of two ends in a comma", JINJA + "jinja_text.c",
        'tuple && v.list->n == 1 ? "," : ""', 'tuple && v.list->n != 0 ? "," : ""',
        "unit/jinja/jinja"),
    row("jinja: a text without letters is upper", JINJA + "jinja_tests.c",
        "jinja_text_equal(t, mapped) && !jinja_text_equal(t, opposite)",
        "jinja_text_equal(t, mapped) + 0 * jinja_text_equal(t, opposite)", "unit/jinja/jinja"),
    row("chat form: control tokens are cut", "flash_image/chat/chat_cut.c", "MOST_MARKER = 64",
        "MOST_MARKER = 1", "unit/chat/chat_template"),
    row("chat form: nothing is trimmed", DERIVE, "v->d->flags |= INGOT_CHAT_TRIM_USER;",
        "v->d->flags |= 0;", "unit/chat/chat_template"),
    row("chat form: the default system prompt is the opening", DERIVE,
        "if (chat_begins_with(before, head)) {", "if (chat_begins_with(head, before)) {",
        "unit/chat/chat_form"),
]
