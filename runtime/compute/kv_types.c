/* Read and write the types of keys and values that kv= names. */
#include <string.h>

#include "runtime/compute/kv_format.h"
#include "runtime/text/format_text.h"

enum { MOST_TILES = 16384 }; /* digits of the longest context */

static const struct {
    const char *name;
    struct kv_types types;
} presets[] = {
    { "ruv", { KV_F16, KV_F16, KV_Q8, KV_KIVI, 256 / KV_TILE, 1792 / KV_TILE } },
    { "tiers", { KV_F16, KV_F16, KV_Q8, KV_KIVI, 256 / KV_TILE, 1792 / KV_TILE } },
    { "flat16", { KV_F16, KV_F16, 0, 0, 0, 0 } },
    { "flat8", { KV_Q8, KV_Q8, 0, 0, 0, 0 } },
};

static bool is_there(uint8_t type)
{
    return type < KV_N_NUMBERS && kv_formats[type].name != NULL;
}

static bool all_there(struct kv_types t)
{
    return is_there(t.keys) && is_there(t.values) && is_there(t.warm) && is_there(t.cold);
}

const char *kv_types_name(struct kv_types t, char name[KV_TYPES_NAME_BYTES])
{
    if (!all_there(t)) {
        return "unknown";
    }
    if (t.hot_tiles != 0) {
        format_text(name, KV_TYPES_NAME_BYTES, "tiers:%u,%u,%s,%s,%s",
                    (unsigned)t.hot_tiles * KV_TILE, (unsigned)t.warm_tiles * KV_TILE,
                    kv_formats[t.keys].name, kv_formats[t.warm].name, kv_formats[t.cold].name);
        return name;
    }
    if (t.keys == t.values) {
        return kv_formats[t.keys].name;
    }
    format_text(name, KV_TYPES_NAME_BYTES, "%s,%s", kv_formats[t.keys].name,
                kv_formats[t.values].name);
    return name;
}

/* Read the name of a type, which ends at a comma or at the end of the text; advances past it. */
static bool read_type(const char **text, uint8_t *type)
{
    const char *comma = memchr(*text, ',', strlen(*text));
    size_t bytes = comma != NULL ? (size_t)(comma - *text) : strlen(*text);

    for (uint8_t i = 0; i < KV_N_NUMBERS; i++) {
        const char *name = kv_formats[i].name;

        if (name != NULL && strlen(name) == bytes && memcmp(name, *text, bytes) == 0) {
            *text += bytes + ((*text)[bytes] == ',');
            *type = i;
            return true;
        }
    }
    return false;
}

/* Read a number of positions and a comma, and advance past both; returns the number in tiles. */
static bool read_tiles(const char **text, uint16_t *tiles)
{
    uint32_t n = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && n <= MOST_TILES * KV_TILE; at++) {
        n = n * 10 + (uint32_t)(*at - '0');
    }
    if (at == *text || *at != ',' || n % KV_TILE != 0 || n > MOST_TILES * KV_TILE) {
        return false;
    }
    *tiles = (uint16_t)(n / KV_TILE);
    *text = at + 1;
    return true;
}

/* Read "HOT,WARM,COLD" or "HOT,WARM,TYPE,TYPE,TYPE". */
static bool parse_tiers(const char *text, struct kv_types *t)
{
    uint8_t list[3];
    uint32_t n = 0;

    if (!read_tiles(&text, &t->hot_tiles) || !read_tiles(&text, &t->warm_tiles) ||
        t->hot_tiles == 0) {
        return false;
    }
    while (n < 3 && *text != '\0') {
        if (!read_type(&text, &list[n++])) {
            return false;
        }
    }
    if (*text != '\0' || text[-1] == ',' || (n != 1 && n != 3)) {
        return false;
    }
    t->keys = n == 3 ? list[0] : KV_F16;
    t->values = t->keys;
    t->warm = n == 3 ? list[1] : KV_Q8;
    t->cold = list[n - 1];
    return true;
}

static bool parse(const char *text, struct kv_types *t)
{
    const size_t n_tiers = strlen("tiers:");

    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, text) == 0) {
            *t = presets[i].types;
            return true;
        }
    }
    if (strlen(text) > n_tiers && memcmp(text, "tiers:", n_tiers) == 0) {
        return parse_tiers(text + n_tiers, t);
    }
    if (!read_type(&text, &t->keys)) {
        return false;
    }
    t->values = t->keys;
    if (text[-1] == ',' && !read_type(&text, &t->values)) {
        return false;
    }
    return *text == '\0' && kv_formats[t->values].put_key != NULL;
}

bool kv_types_parse(const char *text, struct kv_types *types)
{
    struct kv_types t = { 0 };

    if (!parse(text, &t) || !all_there(t) || kv_formats[t.keys].put_key == NULL) {
        return false;
    }
    *types = t;
    return true;
}
