#include "runtime/image/image.h"

#include <string.h>

#include "runtime/image/image_check.h"
#include "runtime/base/crc32c.h"
#include "runtime/text/plural.h"

static enum err check_section_crc(struct image *img, const char *name,
                                  const struct ingot_section *s, const uint8_t *meta)
{
    const uint8_t *data = meta + (s->offset - INGOT_PAGE);
    size_t padding = (size_t)(image_round_up(s->bytes, INGOT_PAGE) - s->bytes);

    if (crc32c(0, data, (size_t)s->bytes) != s->crc32c) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "section %s is damaged: its CRC does not match", name);
    }
    if (!image_all_zero(data + s->bytes, padding)) {
        return REFUSE(img, ERR_BAD_CHECKSUM, "the zeros after section %s are damaged", name);
    }
    return ERR_OK;
}

/* Check that factors are positive and finite; a NaN fails both comparisons. */
static enum err check_factors(struct image *img)
{
    uint32_t n = img->header->rope.count;

    for (uint32_t i = 0; i < n; i++) {
        if (!(img->factors[i] >= 0.5f && img->factors[i] <= 1e32f)) {
            return REFUSE(img, ERR_BAD_HEADER, "rope: factor %u is not between 0.5 and 1e32", i);
        }
    }
    return ERR_OK;
}

static enum err check_chat_numbers(struct image *img)
{
    const struct ingot_chat *chat = img->chat;
    uint32_t n_tokens = img->header->params.vocab;

    if ((chat->flags & ~(uint32_t)INGOT_ALL_CHAT_FLAGS) != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: flags are %u, this program knows %u", chat->flags,
                      (unsigned)INGOT_ALL_CHAT_FLAGS);
    }
    if (chat->n_stops > INGOT_MAX_STOPS) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: n_stops is %u, more than %u", chat->n_stops,
                      (unsigned)INGOT_MAX_STOPS);
    }
    for (uint32_t i = 0; i < INGOT_MAX_STOPS; i++) {
        if ((i < chat->n_stops && chat->stops[i] >= n_tokens) ||
            (i >= chat->n_stops && chat->stops[i] != 0)) {
            return REFUSE(img, ERR_BAD_HEADER, "chat: stops[%u] is %u; n_stops is %u, n_tokens %u",
                          i, chat->stops[i], chat->n_stops, n_tokens);
        }
    }
    if (chat->reserved != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: reserved is not zero");
    }
    return ERR_OK;
}

static enum err check_chat(struct image *img)
{
    uint64_t left = img->header->chat.bytes - sizeof *img->chat;

    for (size_t i = 0; i < INGOT_CHAT_STRINGS; i++) {
        uint32_t bytes = *ingot_chat_bytes(img->chat, (enum ingot_chat_string)i);

        if (bytes > left) {
            return REFUSE(img, ERR_BAD_HEADER, "chat: string %u has %u %s, %llu are left",
                          (unsigned)i, bytes, plural(bytes, "byte", "bytes"),
                          (unsigned long long)left);
        }
        left -= bytes;
    }
    if (left != 0) {
        return REFUSE(img, ERR_BAD_HEADER, "chat: there are bytes after the strings");
    }
    return check_chat_numbers(img);
}

const char *image_chat_text(const struct ingot_chat *chat, enum ingot_chat_string which,
                            uint32_t *bytes)
{
    const char *text = (const char *)(chat + 1);

    for (unsigned i = 0; i < (unsigned)which; i++) {
        text += *ingot_chat_bytes(chat, (enum ingot_chat_string)i);
    }
    *bytes = *ingot_chat_bytes(chat, which);
    return text;
}

const char *image_chat_string(const struct image *img, enum ingot_chat_string which,
                              uint32_t *bytes)
{
    return image_chat_text(img->chat, which, bytes);
}

static enum err check_sections(struct image *img)
{
    const struct ingot_header *h = img->header;
    enum err e = image_check_layers(img, &h->params, h->ropes, img->layers);

    if (e == ERR_OK) {
        e = image_check_segments(img);
    }
    if (e == ERR_OK) {
        e = image_check_tensors(img);
    }
    if (e == ERR_OK) {
        e = image_check_tokenizer(img, img->tokenizer, h->tokenizer.bytes, h->params.vocab);
    }
    if (e == ERR_OK) {
        e = check_factors(img);
    }
    if (e != ERR_OK) {
        return e;
    }
    return check_chat(img);
}

enum err image_check_meta(struct image *img, const uint8_t *meta)
{
    const struct ingot_header *h = img->header;
    const struct {
        const char *name;
        const struct ingot_section *section;
    } sections[] = {
        { "tokenizer", &h->tokenizer }, { "chat", &h->chat },         { "rope", &h->rope },
        { "layers", &h->layers },       { "segments", &h->segments }, { "tensors", &h->tensors },
        { "experts", &h->experts },
    };

    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        enum err e = check_section_crc(img, sections[i].name, sections[i].section, meta);

        if (e != ERR_OK) {
            return e;
        }
    }
    img->tokenizer = meta + (h->tokenizer.offset - INGOT_PAGE);
    img->chat = (const void *)(meta + (h->chat.offset - INGOT_PAGE));
    img->factors = (const void *)(meta + (h->rope.offset - INGOT_PAGE));
    img->layers = (const void *)(meta + (h->layers.offset - INGOT_PAGE));
    img->segments = (const void *)(meta + (h->segments.offset - INGOT_PAGE));
    img->tensors = (const void *)(meta + (h->tensors.offset - INGOT_PAGE));
    img->expert_crcs = (const void *)(meta + (h->experts.offset - INGOT_PAGE));
    return check_sections(img);
}
