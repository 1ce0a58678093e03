/* A GGUF with a byte-level vocabulary and merges, damaged in any way: if the parser and the packer
 * accept it, the reader accepts its section, and text comes back through it without a control token
 * other than the one for unknown characters, which is then neither BOS nor EOS. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/source/source.h"
#include "flash_image/tokenizer/tokenizer_section.h"
#include "runtime/image/image.h"
#include "runtime/text/nfc.h"
#include "runtime/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_TEXT = 300, MOST_IDS = 2 * MOST_TEXT + 3 };

static struct source source;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Collects every byte of the text that has a token, in order. */
static bool comes_back(const struct tokenizer *t, const char *text, size_t bytes,
                       const uint32_t *ids, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        size_t piece_bytes;
        const char *piece = tokenizer_piece(t, ids[i], INGOT_NO_TOKEN, &piece_bytes);

        for (size_t j = 0; j < piece_bytes; j++) {
            while (at < bytes && t->byte_tokens[(uint8_t)text[at]] == INGOT_NO_TOKEN &&
                   text[at] != piece[j]) {
                at++;
            }
            if (at == bytes || text[at++] != piece[j]) {
                return false;
            }
        }
    }
    return true;
}

static void encode(const struct tokenizer *t, const char *text, size_t bytes, bool trusted)
{
    static _Alignas(8) uint8_t scratch[1 << 16];
    struct tokenizer_part part = { text, bytes, trusted };
    uint32_t ids[MOST_IDS];
    size_t n = 0;
    bool normalized = (t->head->flags & INGOT_NFC) != 0 &&
                      nfc_may_change((const uint8_t *)text, bytes);
    enum err e;

    must(tokenizer_scratch_bytes(bytes) <= sizeof scratch);
    e = tokenizer_encode_parts(t, &part, 1, TOKENIZER_BOS | TOKENIZER_EOS, ids, MOST_IDS, &n,
                               scratch, sizeof scratch);
    must(e == ERR_OK || e == ERR_BAD_TOKENIZER || (normalized && e == ERR_NO_SPACE));
    for (size_t i = 0; i < n; i++) {
        must(ids[i] < t->head->n_tokens);
        must(trusted || tokenizer_type(t, ids[i]) != INGOT_TOKEN_CONTROL ||
             (ids[i] == t->head->unk && ids[i] != t->head->bos && ids[i] != t->head->eos) ||
             (i == 0 && ids[i] == t->head->bos) || (i == n - 1 && ids[i] == t->head->eos));
    }
    if (t->head->kind == INGOT_TOKENIZER_BPE && e == ERR_OK && !trusted && !normalized) {
        must(comes_back(t, text, bytes, ids, n));
    }
}

static void use_vocab(const uint8_t *data, size_t size)
{
    struct tokenizer_size measure;
    struct tokenizer t;
    struct image image;
    uint64_t bytes = 0;
    uint8_t *section;
    size_t length = size < MOST_TEXT ? size : MOST_TEXT;

    if (tokenizer_section_measure(&source, &measure) != ERR_OK) {
        return;
    }
    section = calloc(1, (size_t)measure.bytes);
    must(section != NULL);
    if (tokenizer_section_build(&source, &measure, section, &bytes) == ERR_OK) {
        must(bytes <= measure.bytes);
        must(image_check_tokenizer(&image, section, bytes, source.vocab.n_tokens) == ERR_OK);
        tokenizer_open(&t, section);
        encode(&t, (const char *)data + size - length, length, false);
        encode(&t, (const char *)data + size - length, length, true);
    } else {
        must(source.error_message[0] != '\0');
    }
    free(section);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(&source, 0, sizeof source);
    source.path = "fuzz";
    if (gguf_parse(&source, data, size, true) == ERR_OK) {
        use_vocab(data, size);
    } else {
        must(source.error_message[0] != '\0');
    }
    return 0;
}
