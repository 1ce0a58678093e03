/* Reads the tensor table of a GGUF, finds slots by names, and checks that all data are inside the
 * file. */
#include "flash_image/gguf/gguf_private.h"
#include "runtime/image/image.h"

enum { DEFAULT_ALIGNMENT = 32 };

/* The names of all types of GGML by number; types without a row are refused. */
static const char *const ggml_types[] = {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, gguf) [gguf] = #NAME,
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, gguf) \
    [gguf] = #NAME,
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, name, bytes, gguf) [gguf] = #NAME,
#define TYPE_READ(NAME, name, of, bytes, gguf) [gguf] = #NAME,
#include "flash_image/format/types.def"
    [4] = "Q4_2",        [5] = "Q4_3",        [15] = "Q8_K",     [24] = "I8",
    [25] = "I16",        [26] = "I32",        [27] = "I64",      [28] = "F64",
    [31] = "Q4_0_4_4",   [32] = "Q4_0_4_8",   [33] = "Q4_0_8_8", [36] = "IQ4_NL_4_4",
    [37] = "IQ4_NL_4_8", [38] = "IQ4_NL_8_8",
};

enum { FIRST_OF_FORKS = 97 /* ik_llama.cpp numbers its own types from here */ };

/* Advice about a file with a type that cannot be read, by the first letters of the type's
 * name. */
static const char *cure_of_type(const char *name)
{
    static const struct {
        const char *start, *cure;
    } cures[] = {
        { "IQ4_NL_", "take the IQ4_NL file of the same model: Ingot interleaves rows itself" },
        { "Q4_0_", "take the Q4_0 file of the same model: Ingot interleaves rows itself" },
        { "Q4_", "take the Q4_0 or Q4_K_M file of the same model" },
        { "Q8_", "take the Q8_0 file of the same model" },
        { "F64", "convert the model again, with --outtype f32" },
        { "I", "weights are not whole numbers: convert the model again" },
    };

    for (size_t i = 0; name != NULL && i < sizeof cures / sizeof cures[0]; i++) {
        if (strncmp(name, cures[i].start, strlen(cures[i].start)) == 0) {
            return cures[i].cure;
        }
    }
    return "take the Q8_0 or Q4_K_M file of the same model, or its F16 file and `ingot pack --type`";
}

static const char supported[] =
#define TYPE_FLOATS(NAME, ...) ", " #NAME
#define TYPE_WEIGHTS(NAME, ...) ", " #NAME
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, ...) ", " #NAME
#define TYPE_READ(NAME, ...) ", " #NAME
#include "flash_image/format/types.def"
    ;

static enum err refuse_type(struct gguf *g, struct source_text tensor, uint32_t type)
{
    const char *name = type < sizeof ggml_types / sizeof ggml_types[0] ? ggml_types[type] : NULL;
    const char *what = name;

    if (name == NULL) {
        what = type >= FIRST_OF_FORKS ? "a type of a fork of llama.cpp"
                                      : "a type newer than this program";
    }
    return source_refuse(
        g->s, ERR_UNSUPPORTED,
        "the tensor %.*s is %s (type %u), which is not supported: %s; supported are %s",
        SOURCE_SHOW(tensor), what, type, cure_of_type(name), supported + strlen(", "));
}

static enum err source_type_of(struct gguf *g, struct source_text name, uint32_t type,
                               enum source_type *out)
{
    static const struct {
        uint32_t type;
        enum source_type to;
    } readable[] = {
#define TYPE_FLOATS(NAME, id, name, cols, bytes, gguf) { gguf, SOURCE_##NAME },
#define TYPE_WEIGHTS(NAME, id, name, layout, cols, act, halves, fit, of, bytes, d, m, gguf) \
    { gguf, SOURCE_##NAME },
#define TYPE_TABLED_OWN(...)
#define TYPE_TABLED_AGAIN(...)
#define TYPE_READ_FLOATS(NAME, name, bytes, gguf) { gguf, SOURCE_##NAME },
#define TYPE_READ(NAME, name, of, bytes, gguf) { gguf, SOURCE_##NAME },
#include "flash_image/format/types.def"
    };

    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        if (readable[i].type == type) {
            *out = readable[i].to;
            return ERR_OK;
        }
    }
    return refuse_type(g, name, type);
}

/* Return the place for a tensor of rotation factors; NULL for any other tensor. */
static struct source_tensor *find_factors(struct gguf *g, struct source_text name)
{
    static const char *const names[N_FACTORS] = {
        "rope_freqs.weight",
        "rope_factors_short.weight",
        "rope_factors_long.weight",
    };

    for (size_t i = 0; i < N_FACTORS; i++) {
        if (source_text_is(name, names[i])) {
            return &g->factors[i];
        }
    }
    return NULL;
}

/* One entry of the file's tensor table. */
struct tensor_info {
    struct source_text name;
    uint64_t dims[4];
    uint32_t n_dims, type;
    uint64_t offset;
};

static bool take_info(struct gguf_reader *r, struct tensor_info *info)
{
    info->name = gguf_take_text(r);
    info->n_dims = gguf_take_u32(r);
    if (info->n_dims > 4) {
        return false;
    }
    for (uint32_t i = 0; i < 4; i++) {
        info->dims[i] = i < info->n_dims ? gguf_take_u64(r) : 1;
    }
    info->type = gguf_take_u32(r);
    info->offset = gguf_take_u64(r);
    return !r->bad;
}

/* True for "blk.0.attn_q.scale" and "blk.0.attn_q.input_scale", which files of NVFP4 have. */
static bool is_scale(struct source_text name)
{
    static const char ending[] = "scale";
    size_t n = sizeof ending - 1;

    return name.bytes > n && memcmp(name.data + name.bytes - n, ending, n) == 0;
}

static enum err refuse_name(struct gguf *g, struct source_text name)
{
    if (is_scale(name)) {
        return source_refuse(g->s, ERR_UNSUPPORTED,
                             "the tensor %.*s scales another tensor, which is not supported: take "
                             "the Q8_0 or Q4_K_M file of the same model",
                             SOURCE_SHOW(name));
    }
    return source_refuse(g->s, ERR_UNSUPPORTED,
                         "the tensor %.*s is not known in the architecture '%.*s'",
                         SOURCE_SHOW(name), SOURCE_SHOW(g->architecture));
}

static enum err put_tensor(struct gguf *g, void *context, struct source_text name,
                           const struct source_tensor *all, uint32_t n)
{
    struct source_tensor *factors = find_factors(g, name);
    struct gguf_slot slot;

    (void)context;
    if (factors == NULL && !gguf_find_slot(g, name, &slot)) {
        return refuse_name(g, name);
    }
    if (factors == NULL) {
        return gguf_place(g, name, all, n, &slot);
    }
    if (factors->data != NULL) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the tensor %.*s appears twice",
                             SOURCE_SHOW(name));
    }
    *factors = *all;
    return ERR_OK;
}

static enum err check_dimensions(struct gguf *g, const struct tensor_info *info,
                                 enum source_type type)
{
    if (info->n_dims < 1 || info->dims[0] < 1 || info->dims[0] > INGOT_MAX_HIDDEN ||
        info->dims[1] < 1 || info->dims[1] > INGOT_MAX_VOCAB || info->dims[2] < 1 ||
        info->dims[2] > INGOT_MAX_EXPERTS || info->dims[3] != 1) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the tensor %.*s has an impossible shape: %u dimensions of %llu x "
                             "%llu x %llu x %llu",
                             SOURCE_SHOW(info->name), info->n_dims,
                             (unsigned long long)info->dims[0], (unsigned long long)info->dims[1],
                             (unsigned long long)info->dims[2], (unsigned long long)info->dims[3]);
    }
    if (info->dims[0] % source_type_block(type) != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the tensor %.*s has %llu columns, not a multiple of %u",
                             SOURCE_SHOW(info->name), (unsigned long long)info->dims[0],
                             source_type_block(type));
    }
    return ERR_OK;
}

/* The area of the tensors' data. Positions are in the table's order and do not overlap, as ggml's
 * reader requires. */
struct data_area {
    const uint8_t *data;
    uint64_t bytes, alignment;
    uint64_t used; /* end of the previous tensor */
    bool wide_q2;  /* Q2_0 has 128 elements per scale, as one fork of llama.cpp writes it */
    gguf_visit_fn *visit;
    void *context; /* of visit */
};

static enum err place_tensor(struct gguf *g, const struct tensor_info *info, struct data_area *area)
{
    struct source_tensor all = { .data = NULL };
    uint64_t size;
    enum err e = source_type_of(g, info->name, info->type, &all.type);

    if (e == ERR_OK && all.type == SOURCE_Q2_0 && area->wide_q2) {
        all.type = SOURCE_Q2_0_128;
    }
    if (e == ERR_OK) {
        e = check_dimensions(g, info, all.type);
    }
    if (e != ERR_OK) {
        return e;
    }
    size = source_type_bytes(all.type, info->dims[0] * info->dims[1] * info->dims[2]);
    if (info->offset % area->alignment != 0) {
        return source_refuse(
            g->s, ERR_BAD_MODEL,
            "the tensor %.*s has offset %llu, not a multiple of the alignment %llu",
            SOURCE_SHOW(info->name), (unsigned long long)info->offset,
            (unsigned long long)area->alignment);
    }
    if (info->offset > area->bytes || size > area->bytes - info->offset) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "the tensor %.*s ends beyond the file: it is cut short or "
                             "damaged",
                             SOURCE_SHOW(info->name));
    }
    if (info->offset < area->used) {
        return source_refuse(
            g->s, ERR_BAD_MODEL,
            "the tensor %.*s has offset %llu, but the tensor before it ends at %llu: they overlap or are out of order",
            SOURCE_SHOW(info->name), (unsigned long long)info->offset,
            (unsigned long long)area->used);
    }
    area->used = info->offset + size;
    all.cols = (uint32_t)info->dims[0];
    all.rows = (uint32_t)info->dims[1];
    all.data = area->data + info->offset;
    return area->visit(g, area->context, info->name, &all, (uint32_t)info->dims[2]);
}

static enum err read_alignment(struct gguf *g, uint64_t *alignment)
{
    *alignment = g->has_number[N_ALIGNMENT] ? g->number[N_ALIGNMENT] : DEFAULT_ALIGNMENT;
    if (*alignment == 0 || *alignment > 1 << 20 || (*alignment & (*alignment - 1)) != 0) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "general.alignment is %llu, not a power of two up to 2^20",
                             (unsigned long long)*alignment);
    }
    return ERR_OK;
}

/* True if a Q2_0 tensor has less space than it needs with 64 elements per scale. `end`: the next
 * tensor's offset, or the end of the data. */
static bool is_wide_q2(const struct tensor_info *info, uint64_t end)
{
    return info->type == 42 && end > info->offset && /* a product that overflows is refused later */
           end - info->offset < source_type_bytes(SOURCE_Q2_0, info->dims[0] * info->dims[1]);
}

/* The infos are read twice, because the data begin after the last info. */
enum err gguf_visit_tensors(struct gguf *g, gguf_visit_fn *visit, void *context)
{
    struct gguf_reader walk = g->r;
    struct tensor_info info, before = { .type = 0 };
    struct data_area area = { .visit = visit, .context = context };
    uint64_t start;
    enum err e = read_alignment(g, &area.alignment);

    for (uint64_t i = 0; e == ERR_OK && i < g->n_tensors; i++) {
        if (!take_info(&walk, &info)) {
            e = source_refuse(g->s, ERR_BAD_MODEL,
                              "the GGUF is cut short or damaged in its tensor %llu (%.*s)",
                              (unsigned long long)i, SOURCE_SHOW(info.name));
        }
        area.wide_q2 = area.wide_q2 || is_wide_q2(&before, info.offset);
        before = info;
    }
    if (e != ERR_OK) {
        return e;
    }
    start = ((uint64_t)(walk.at - g->file) + area.alignment - 1) / area.alignment * area.alignment;
    if (start > g->bytes) {
        return source_refuse(g->s, ERR_BAD_MODEL, "the GGUF ends before its tensors begin");
    }
    area.data = g->file + start;
    area.bytes = g->bytes - start;
    area.wide_q2 = area.wide_q2 || is_wide_q2(&before, area.bytes);
    for (uint64_t i = 0; e == ERR_OK && i < g->n_tensors; i++) {
        take_info(&g->r, &info);
        e = place_tensor(g, &info, &area);
    }
    return e;
}

enum err gguf_read_tensors(struct gguf *g)
{
    return gguf_visit_tensors(g, put_tensor, NULL);
}
