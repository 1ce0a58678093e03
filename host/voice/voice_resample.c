/* Converts sound to another rate. libsamplerate first removes frequencies that the lower rate
 * cannot carry. Static programs are built without it and interpolate linearly between samples. */
#include <stdlib.h>
#include <string.h>

#include "host/voice/voice_wav.h"

#ifdef INGOT_SAMPLERATE
#include <samplerate.h>

enum { MARGIN = 16 /* samples that the library may return beyond the requested length */ };

/* Write n samples to out. If the filter returns fewer, the end of out is silent. Returns false
 * if memory runs out or the library refuses the ratio. */
static bool convert(const struct voice_sound *in, int16_t *out, size_t n, uint32_t rate)
{
    float *from = malloc((in->n + 1) * sizeof *from), *to = calloc(n + MARGIN, sizeof *to);
    SRC_DATA data = { .data_in = from,
                      .data_out = to,
                      .input_frames = (long)in->n,
                      .output_frames = (long)(n + MARGIN),
                      .src_ratio = (double)rate / in->rate };
    bool good = from != NULL && to != NULL;

    if (good) {
        src_short_to_float_array(in->samples, from, (int)in->n);
        good = src_simple(&data, SRC_SINC_MEDIUM_QUALITY, 1) == 0;
    }
    if (good) {
        src_float_to_short_array(to, out, (int)n);
    }
    free(from);
    free(to);
    return good;
}
#else
static bool convert(const struct voice_sound *in, int16_t *out, size_t n, uint32_t rate)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)i * in->rate;
        size_t before = (size_t)(at / rate), after = before + 1 < in->n ? before + 1 : before;
        int64_t part = (int64_t)(at % rate);

        out[i] =
            (int16_t)((in->samples[before] * ((int64_t)rate - part) + in->samples[after] * part) /
                      (int64_t)rate);
    }
    return true;
}
#endif

bool voice_sound_resample(struct voice_sound *s, uint32_t rate)
{
    size_t n = (size_t)((uint64_t)s->n * rate / s->rate);
    struct voice_sound out = { .rate = rate, .n = n, .room = n };

    if (s->rate == rate) {
        return true;
    }
    out.samples = n != 0 ? calloc(n, sizeof *out.samples) : NULL;
    if (n != 0 && (out.samples == NULL || !convert(s, out.samples, n, rate))) {
        free(out.samples);
        return false;
    }
    voice_sound_free(s);
    *s = out;
    return true;
}
