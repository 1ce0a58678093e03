#include "flash_image/hf/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_json.h"

#include "runtime/text/plural.h"

#define MOST_OFFSET 9007199254740992.0 /* 2^53: JSON's numbers are exact up to here */

static const struct {
    const char *name;
    uint32_t bytes;
} dtypes[] = {
    { "F32", 4 },  { "F16", 2 },     { "BF16", 2 },    { "F64", 8 },     { "I64", 8 }, { "I32", 4 },
    { "I16", 2 },  { "I8", 1 },      { "U64", 8 },     { "U32", 4 },     { "U16", 2 }, { "U8", 1 },
    { "BOOL", 1 }, { "F8_E4M3", 1 }, { "F8_E5M2", 1 }, { "F8_E8M0", 1 },
};

static uint32_t dtype_bytes(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            return dtypes[i].bytes;
        }
    }
    return 0;
}

/* Refuse with ERR_BAD_MODEL and "the tensor NAME ...". */
static enum err refuse(struct source *s, const char *name, const char *what)
{
    return source_refuse(s, ERR_BAD_MODEL, "the tensor %.120s %s", name, what);
}

/* Read the dimensions, and set *bytes to the size that they and the type require. */
static enum err read_shape(struct source *s, const cJSON *entry, uint32_t width,
                           struct safetensors_tensor *t, uint64_t *bytes)
{
    const cJSON *shape = hf_json_get(entry, "shape");
    const cJSON *n;

    *bytes = width;
    if (!cJSON_IsArray(shape)) {
        return refuse(s, t->name, "has no \"shape\"");
    }
    cJSON_ArrayForEach(n, shape)
    {
        if (!hf_json_whole(n, MOST_OFFSET) || n->valuedouble == 0.0 ||
            t->n_dims == SAFETENSORS_MOST_DIMS) {
            return refuse(s, t->name, "has impossible dimensions in \"shape\"");
        }
        t->dims[t->n_dims] = (uint64_t)n->valuedouble;
        if (__builtin_mul_overflow(*bytes, t->dims[t->n_dims++], bytes)) {
            return refuse(s, t->name, "has impossible dimensions in \"shape\"");
        }
    }
    return ERR_OK;
}

/* Read the offsets [first, end]. */
static bool read_offsets(const cJSON *pair, struct safetensors_tensor *t)
{
    const cJSON *first, *end;

    if (cJSON_GetArraySize(pair) != 2) {
        return false;
    }
    first = pair->child;
    end = first->next;
    if (!hf_json_whole(first, MOST_OFFSET) || !hf_json_whole(end, MOST_OFFSET) ||
        first->valuedouble > end->valuedouble) {
        return false;
    }
    t->first = (uint64_t)first->valuedouble;
    t->end = (uint64_t)end->valuedouble;
    return true;
}

static enum err read_entry(struct source *s, const cJSON *entry, const uint8_t *data,
                           uint64_t data_bytes, struct safetensors_tensor *t)
{
    uint64_t bytes;
    enum err e;

    t->name = entry->string;
    t->dtype = hf_json_string(hf_json_get(entry, "dtype"));
    if (t->dtype == NULL) {
        t->dtype = "";
    }
    if (dtype_bytes(t->dtype) == 0) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the tensor %.120s is of the dtype \"%.20s\", "
                             "which is not known",
                             t->name, t->dtype);
    }
    e = read_shape(s, entry, dtype_bytes(t->dtype), t, &bytes);
    if (e != ERR_OK) {
        return e;
    }
    if (!read_offsets(hf_json_list(hf_json_get(entry, "data_offsets")), t)) {
        return refuse(s, t->name, "does not have two offsets in \"data_offsets\"");
    }
    if (t->end > data_bytes) {
        return refuse(s, t->name,
                      "has \"data_offsets\" beyond the end of the file: it is cut short or "
                      "damaged; fetch it again");
    }
    if (t->end - t->first != bytes) {
        return refuse(s, t->name, "has \"data_offsets\" that contradict its \"shape\"");
    }
    t->data = data + t->first;
    return ERR_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct safetensors_tensor *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

static enum err check_overlaps(struct source *s, struct safetensors *f)
{
    qsort(f->tensors, f->n_tensors, sizeof *f->tensors, by_place);
    for (size_t i = 1; i < f->n_tensors; i++) {
        if (f->tensors[i].first < f->tensors[i - 1].end) {
            return source_refuse(s, ERR_BAD_MODEL,
                                 "the tensors %.100s and %.100s overlap in "
                                 "\"data_offsets\"",
                                 f->tensors[i - 1].name, f->tensors[i].name);
        }
    }
    return ERR_OK;
}

static enum err read_entries(struct source *s, struct safetensors *f, const uint8_t *data,
                             uint64_t data_bytes)
{
    size_t most = (size_t)cJSON_GetArraySize(f->header);
    const cJSON *entry;

    f->tensors = calloc(max_size(most, 1), sizeof *f->tensors);
    if (f->tensors == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    cJSON_ArrayForEach(entry, f->header)
    {
        enum err e;

        if (strcmp(entry->string, "__metadata__") == 0) {
            continue;
        }
        e = read_entry(s, entry, data, data_bytes, &f->tensors[f->n_tensors++]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return check_overlaps(s, f);
}

enum err safetensors_parse(struct source *s, const uint8_t *data, size_t bytes,
                           struct safetensors *out)
{
    uint64_t header_bytes;
    enum err e;

    *out = (struct safetensors){ NULL, NULL, 0 };
    if (bytes < 8) {
        return source_refuse(s, ERR_BAD_MODEL, "not a safetensors file: %zu %s", bytes,
                             plural(bytes, "byte", "bytes"));
    }
    header_bytes = load_u64(data);
    if (header_bytes > bytes - 8) {
        return source_refuse(
            s, ERR_BAD_MODEL,
            "its header needs %llu %s, but the file has %zu: not a safetensors file, or cut short",
            (unsigned long long)header_bytes,
            plural((unsigned long long)header_bytes, "byte", "bytes"), bytes);
    }
    out->header = hf_json_parse(s, data + 8, (size_t)header_bytes, &e);
    if (out->header == NULL) {
        return e;
    }
    return read_entries(s, out, data + 8 + header_bytes, bytes - 8 - header_bytes);
}

void safetensors_free(struct safetensors *f)
{
    cJSON_Delete(f->header);
    free(f->tensors);
    *f = (struct safetensors){ NULL, NULL, 0 };
}

static bool source_type_of(const char *dtype, enum source_type *type)
{
    static const enum source_type readable[] = { SOURCE_F32, SOURCE_F16, SOURCE_BF16, SOURCE_F8 };

    for (size_t i = 0; i < sizeof readable / sizeof readable[0]; i++) {
        if (strcmp(dtype, source_type_name(readable[i])) == 0) {
            *type = readable[i];
            return true;
        }
    }
    return false;
}

enum err safetensors_as_source(struct source *s, const struct safetensors_tensor *from,
                               struct source_tensor *t)
{
    uint64_t rows = 1, cols = 1;
    enum source_type type;

    if (from->n_dims >= 1) {
        cols = from->dims[from->n_dims - 1];
    }
    if (from->n_dims == 2) {
        rows = from->dims[0];
    }
    if (!source_type_of(from->dtype, &type)) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "the tensor %.120s is %s; only F32, F16 and BF16 can be packed%s: %s",
                             from->name, from->dtype,
                             strncmp(from->dtype, "F8_", 3) == 0 ? ", and matrices of F8_E4M3" : "",
                             strcmp(from->dtype, "F64") == 0
                                 ? "save the model again as F32"
                                 : "take the original model, which is not quantized");
    }
    if (from->n_dims > 2 || rows > INGOT_MAX_VOCAB || cols > INGOT_MAX_VOCAB) {
        return refuse(s, from->name, "has impossible dimensions in \"shape\"");
    }
    *t = (struct source_tensor){
        .data = from->data,
        .rows = (uint32_t)rows,
        .cols = (uint32_t)cols,
        .type = type,
    };
    return ERR_OK;
}
