/* The .ingot reader: every wrong section, segment, tensor and token is refused by name. */
#include "tests/unit/image/image_rig.h"

static void test_damaged_section(const char *name, const struct ingot_section *s)
{
    char words[64];
    bool named = true;
    struct image img;

    snprintf(words, sizeof words, "section %s is damaged", name);
    for (uint64_t i = 0; i<s->bytes; i += s->bytes> 4000 ? 61 : 7) {
        restore(&good);
        work[s->offset + i] ^= 1;
        named = named && check(&img, good.n) == ERR_BAD_CHECKSUM &&
                strstr(img.error_message, words) != NULL;
    }
    OK(named, "a flipped bit of a section is found: %s", words);
    restore(&good);
    if (s->bytes % INGOT_PAGE != 0) {
        work[s->offset + s->bytes] ^= 1;
        OK(check(&img, good.n) == ERR_BAD_CHECKSUM && strstr(img.error_message, name) != NULL,
           "a flipped bit behind a section is found: %s", img.error_message);
    }
}

static void test_damaged(void)
{
    struct ingot_header h;

    memcpy(&h, good.data, sizeof h);
    test_damaged_section("tokenizer", &h.tokenizer);
    test_damaged_section("chat", &h.chat);
    test_damaged_section("layers", &h.layers);
    test_damaged_section("tensors", &h.tensors);
    test_damaged_section("segments", &h.segments);
}

static void test_segments(void)
{
    static const char *const names[] = { "embedding", "layer 0", "layer 1", "head" };
    struct image img;

    restore(&good);
    OK(check(&img, good.n) == ERR_OK, "the tables are right");
    for (unsigned i = 0; i < 4; i++) {
        const struct ingot_segment *x = &img.segments[i];
        uint32_t crc = crc32c(0, work + x->offset, (size_t)x->bytes);

        OK(image_check_segment(&img, i, crc) == ERR_OK, "segment %u matches its CRC", i);
        work[x->offset + x->bytes - 1] ^= 0x80;
        crc = crc32c(0, work + x->offset, (size_t)x->bytes);
        OK(image_check_segment(&img, i, crc) == ERR_BAD_CHECKSUM &&
               strstr(img.error_message, names[i]) != NULL,
           "a damaged segment is named: %s", img.error_message);
    }
}

static void test_segment_table(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->segments.offset;
    size_t layer = at + sizeof(struct ingot_segment);

#define SEGMENT(field) (offsetof(struct ingot_segment, field))
    refuse_u64(at + SEGMENT(offset), 0, "embedding: offset is 0");
    refuse_u64(layer + SEGMENT(offset), 4096, "layer 0: offset is 4096");
    refuse_u64(layer + SEGMENT(bytes), 0, "layer 0: bytes is 0");
    refuse_u64(layer + SEGMENT(bytes), 4097, "layer 0: bytes is 4097");
    refuse_u64(layer + SEGMENT(bytes), UINT64_MAX - 4095, "layer 0: bytes is 184467440737095");
    refuse(&good, layer + SEGMENT(kind), "\2\0", 2, ERR_BAD_HEADER, "is not layer 0");
    refuse(&good, layer + SEGMENT(layer), "\1\0", 2, ERR_BAD_HEADER, "is not layer 0");
    refuse(&good, layer + SEGMENT(kind), "\3\0", 2, ERR_BAD_HEADER, "is not layer 0 (kind 3");
    refuse_u32(layer + SEGMENT(reserved), 1, "layer 0: reserved");
    refuse(&good, layer + SEGMENT(reserved0), "\1\0", 2, ERR_BAD_HEADER, "layer 0: reserved");
    refuse_u64(layer + SEGMENT(phase_end[0]), 1, "layer 0: phase_end[0] is 1");
    refuse_u64(layer + SEGMENT(phase_end[0]), UINT64_MAX - 63,
               "layer 0: phase_end[0] is 184467440");
    refuse_u64(layer + SEGMENT(phase_end[0]), 64,
               "layer 0: phase_end[0] is not the start of a tensor");
    refuse_u64(layer + SEGMENT(phase_end[2]), 0, "layer 0: phase_end[2] is 0");
    refuse_u64(layer + SEGMENT(phase_end[3]), 0, "layer 0: phase_end[3] is 0");
    refuse_u64(at + SEGMENT(phase_end[0]), 0, "embedding: phase_end[0] is 0");
}

static void test_tensor_table(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->tensors.offset;
    size_t q = at + 2 * sizeof(struct ingot_tensor); /* layer 0 attn_q: 24 rows of 24 */
    size_t norm = at + sizeof(struct ingot_tensor);
    const uint8_t unknown = INGOT_N_TYPES; /* the first number without a type */
    char unknown_text[48];

#define TENSOR(field) (offsetof(struct ingot_tensor, field))
    refuse(&good, q + TENSOR(role), "\3\0", 2, ERR_BAD_HEADER, "expected layer 0 attn_q");
    refuse(&good, q + TENSOR(layer), "\1\0", 2, ERR_BAD_HEADER, "expected layer 0 attn_q");
    refuse(&good, q + TENSOR(type), "\1", 1, ERR_BAD_HEADER, "attn_q: interleave is 8, must be 1");
    refuse(&good, q + TENSOR(type), "\4", 1, ERR_BAD_HEADER,
           "attn_q: cols is 24, q4_k demands a multiple of 256");
    refuse(&good, q + TENSOR(type), "\5", 1, ERR_BAD_HEADER, "q6_k demands a multiple of 256");
    refuse(&good, q + TENSOR(type), "\17", 1, ERR_BAD_HEADER, "q4_1 demands a multiple of 32");
    refuse(&good, q + TENSOR(type), "\22", 1, ERR_BAD_HEADER, "q3_k demands a multiple of 256");
    snprintf(unknown_text, sizeof unknown_text, "attn_q: type is %u, this program", unknown);
    refuse(&good, q + TENSOR(type), &unknown, 1, ERR_UNSUPPORTED, unknown_text);
    refuse(&good, q + TENSOR(type), "\10", 1, ERR_BAD_HEADER, "iq4_nl demands a multiple of 32");
    refuse(&good, q + TENSOR(type), "\11", 1, ERR_BAD_HEADER, "fig4 demands a multiple of 128");
    refuse(&good, q + TENSOR(values) + 3, "\1", 1, ERR_BAD_HEADER,
           "attn_q: it has a table of values, which q8_0 does not use");
    refuse(&good, q + TENSOR(type), "\377", 1, ERR_UNSUPPORTED, "attn_q: type is 255");
    refuse(&good, q + TENSOR(type), "\3", 1, ERR_BAD_HEADER, "attn_q: bytes");
    refuse(&good, norm + TENSOR(type), "\2", 1, ERR_UNSUPPORTED, "it must be f32");
    refuse(&good, q + TENSOR(interleave), "\4", 1, ERR_BAD_HEADER, "interleave is 4, must be 8");
    refuse(&good, q + TENSOR(chunk), "\0", 1, ERR_BAD_HEADER, "chunk is 0, must be 4");
    refuse(&good, q + TENSOR(reserved0), "\1", 1, ERR_BAD_HEADER, "reserved");
    refuse_u32(q + TENSOR(rows), 25, "attn_q: rows is 25, must be 24");
    refuse_u32(q + TENSOR(cols), 0xffffffff, "attn_q: cols is 4294967295");
    refuse_u32(q + TENSOR(cols_padded), 24, "cols_padded is 24, must be 32");
    refuse_u32(q + TENSOR(segment), 0xffffffff, "segment is 4294967295, must be 1");
    refuse_u64(q + TENSOR(offset), 64, "attn_q: offset 64 is unaligned or below 128");
    refuse_u64(q + TENSOR(offset), 4000001, "unaligned");
    refuse_u64(q + TENSOR(offset), UINT64_MAX - 63, "leaves the segment");
    refuse_u64(q + TENSOR(offset), 65536, "leaves the segment");
    refuse_u64(q + TENSOR(bytes), UINT64_MAX, "attn_q: bytes");
    refuse_u64(q + TENSOR(reserved), 1, "reserved");
}

static void test_tied(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)tied.data)->tensors.offset;
    size_t output = at + 20 * sizeof(struct ingot_tensor);
    uint64_t offset = 64;
    uint32_t segment = 3, no = 0;

    refuse(&tied, output + TENSOR(offset), &offset, 8, ERR_BAD_HEADER, "tied");
    refuse(&tied, output + TENSOR(segment), &segment, 4, ERR_BAD_HEADER, "tied");
    refuse(&tied, PARAM(tied), &no, 4, ERR_BAD_HEADER, "output: segment is 0, must be 3");
}

static struct ingot_tokenizer *tokenizer(void)
{
    return (void *)(work + header()->tokenizer.offset);
}

/* After a change that the caller made to work. */
static void refuse_tokenizer(enum err expected, const char *words)
{
    struct image img;
    enum err e;

    seal(good.n);
    e = check(&img, good.n);
    OK(e == expected && strstr(img.error_message, words) != NULL, "the image is refused (%d): %s",
       (int)e, img.error_message);
    restore(&good);
}

#define SET(field, value, error, words) \
    do { \
        tokenizer()->field = (value); \
        refuse_tokenizer((error), (words)); \
    } while (0)

static void test_tokenizer_head(void)
{
    restore(&good);
    SET(kind, 0, ERR_UNSUPPORTED, "kind is 0");
    SET(kind, 5, ERR_UNSUPPORTED, "kind is 5");
    SET(kind, 2, ERR_UNSUPPORTED, "flags is 3, not known for kind 2");
    SET(flags, 2048, ERR_UNSUPPORTED, "flags is 2048");
    SET(n_tokens, 301, ERR_BAD_TOKENIZER, "n_tokens is 301");
    SET(n_sorted, 301, ERR_BAD_TOKENIZER, "n_sorted is 301");
    SET(bos, 300, ERR_BAD_TOKENIZER, "bos is 300");
    SET(bos, INGOT_NO_TOKEN, ERR_BAD_TOKENIZER, "flags ask for a bos");
    SET(eos, 300, ERR_BAD_TOKENIZER, "eos is 300");
    SET(unk, 4000000000u, ERR_BAD_TOKENIZER, "unk is 4000000000");
    SET(eot, 300, ERR_BAD_TOKENIZER, "eot is 300");
    SET(max_token_bytes, 3, ERR_BAD_TOKENIZER, "max_token_bytes is 3");
    SET(text_offsets, 62, ERR_BAD_TOKENIZER, "text_offsets is 62");
    SET(text_offsets, 60, ERR_BAD_TOKENIZER, "text_offsets is 60");
    SET(scores, 0xfffffffc, ERR_BAD_TOKENIZER, "scores is 4294967292");
    SET(types, 65, ERR_BAD_TOKENIZER, "types is 65");
    SET(sorted, 0x7ffffffc, ERR_BAD_TOKENIZER, "sorted is 2147483644");
    SET(byte_tokens, 8192, ERR_BAD_TOKENIZER, "byte_tokens is 8192");
    SET(text, 0x10000, ERR_BAD_TOKENIZER, "text is 65536");
    SET(text_bytes, 0xffffffff, ERR_BAD_TOKENIZER, "4294967295 bytes");
    SET(text_bytes, 10, ERR_BAD_TOKENIZER, "text_offsets do not run");
}

static uint32_t *tokenizer_array(uint32_t offset)
{
    return (void *)(work + header()->tokenizer.offset + offset);
}

static void test_tokenizer_arrays(void)
{
    uint32_t *sorted;

    restore(&good);
    tokenizer_array(tokenizer()->text_offsets)[0] = 1;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "text_offsets do not run");
    tokenizer_array(tokenizer()->text_offsets)[7] = 0xfffffff0;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "text_offsets descend after token 7");
    tokenizer_array(tokenizer()->scores)[299] = 0x7fc00000;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "score of token 299");
    ((uint8_t *)tokenizer_array(tokenizer()->types))[5] = 7;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "type of token 5 is 7");
    sorted = tokenizer_array(tokenizer()->sorted);
    sorted[3] = 300;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] is 300");
    sorted[3] = 1;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] is 1, empty or of type 3");
    sorted[3] = sorted[2];
    refuse_tokenizer(ERR_BAD_TOKENIZER, "sorted[3] does not come after");
    tokenizer_array(tokenizer()->byte_tokens)[65] = 299;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "byte_tokens[65] is 299");
    tokenizer_array(tokenizer()->byte_tokens)[255] = 300;
    refuse_tokenizer(ERR_BAD_TOKENIZER, "byte_tokens[255] is 300");
}

static void test_chat(void)
{
    size_t at = (size_t)((struct ingot_header *)(void *)good.data)->chat.offset;

    refuse_u32(at, 1, "chat: string 0 has 1 byte, 0 are left");
    refuse_u32(at + 40, 0xffffffff, "chat: string 10 has 4294967295 bytes");
    refuse_u32(at + 44, 1024, "chat: flags are 1024, this program knows 1023");
    refuse_u32(at + 48, 9, "chat: n_stops is 9, more than 8");
    refuse_u32(at + 52, 300, "chat: stops[0] is 300");
    refuse_u32(at + 80, 1, "chat: stops[7] is 1");
    refuse_u32(at + 84, 1, "chat: string 11 has 1 byte, 0 are left");
    refuse_u32(at + 88, 0xffffffff, "chat: string 12 has 4294967295 bytes");
    refuse_u32(at + 92, 1, "chat: reserved");
    refuse_u64(HEADER(chat.bytes), 97, "chat: there are bytes after the strings");
}

int main(void)
{
    if (!image_rig_open()) {
        return tap_done();
    }
    test_damaged();
    test_segments();
    test_segment_table();
    test_tensor_table();
    test_tied();
    test_tokenizer_head();
    test_tokenizer_arrays();
    test_chat();
    image_rig_close();
    return tap_done();
}
