#include "runtime/api/api_vectors.h"

#include <string.h>

#include "runtime/text/base64.h"
#include "runtime/text/format_float.h"

enum { PIECE_BYTES = 192 /* a multiple of 3, so that only the end needs base64's padding */ };

bool api_vectors_check(const struct api_request *q, size_t width, struct api_error *e)
{
    return q->dimensions <= width || api_refuse(e, 400, "dimensions", NULL,
                                                "dimensions is %u: the model's embeddings have %zu",
                                                (unsigned)q->dimensions, width);
}

static void put_base64(struct api_text *out, const uint8_t *bytes, size_t n)
{
    char text[PIECE_BYTES / 3 * 4 + 4];

    api_text_put(out, "\"", 1);
    for (size_t at = 0; at < n; at += PIECE_BYTES) {
        size_t piece = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;

        base64_put(text, bytes + at, piece);
        api_text_put(out, text, base64_length(piece));
    }
    api_text_put(out, "\"", 1);
}

static void put_numbers(struct api_text *out, const float *vector, size_t n)
{
    char number[FORMAT_NUMBER_BYTES];

    api_text_put(out, "[", 1);
    for (size_t i = 0; i < n; i++) {
        api_text_print(out, "%s%s", i != 0 ? "," : "", format_float(number, vector[i]));
    }
    api_text_put(out, "]", 1);
}

static void to_length_one(float *vector, size_t n)
{
    double sum = 0, length;

    for (size_t i = 0; i < n; i++) {
        sum += (double)vector[i] * (double)vector[i];
    }
    length = __builtin_sqrt(sum);
    for (size_t i = 0; i < n && sum > 0; i++) {
        vector[i] = (float)((double)vector[i] / length);
    }
}

void api_vectors_begin(struct api_text *out)
{
    api_text_print(out, "{'object':'list','data':[");
}

void api_vectors_put(struct api_text *out, const struct api_request *q, uint32_t i, float *vector,
                     size_t width)
{
    size_t n = q->dimensions != 0 && q->dimensions < width ? q->dimensions : width;

    to_length_one(vector, n);
    api_text_print(out, "%s{'object':'embedding','index':%u,'embedding':", i != 0 ? "," : "",
                   (unsigned)i);
    if (q->base64) {
        put_base64(out, (const uint8_t *)vector, n * sizeof *vector);
    } else {
        put_numbers(out, vector, n);
    }
    api_text_put(out, "}", 1);
}

void api_vectors_end(struct api_text *out, const char *model, uint32_t tokens)
{
    api_text_print(out, "],'model':");
    api_text_quoted(out, model, strlen(model));
    api_text_print(out, ",'usage':{'prompt_tokens':%u,'total_tokens':%u}}\n", (unsigned)tokens,
                   (unsigned)tokens);
}
