#include "host/voice/voice_wav.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/output/output_file.h"

enum {
    HEADER = 44, /* bytes of the header of a file that is written here */
    CHUNK = 8,   /* size of name and length before a chunk's bytes */
    PCM = 1,     /* formats */
    EXTENSIBLE = 0xfffe,
    FORMAT_BYTES = 16, /* smallest size of the fmt chunk */
    MOST_CHANNELS = 8,
    LEAST_RATE = 4000,
    MOST_RATE = 192000,
};
#define MOST_BYTES ((size_t)1 << 28) /* limit for a file: 2.3 hours at VOICE_RATE */

/* ---- samples --------------------------------------------------------------------------------- */

bool voice_sound_add(struct voice_sound *s, const int16_t *samples, size_t n)
{
    if (s->room - s->n < n) {
        size_t room = (s->n + n) * 2;
        int16_t *more = realloc(s->samples, room * sizeof *more);

        if (more == NULL) {
            return false;
        }
        s->samples = more;
        s->room = room;
    }
    if (n != 0) {
        memcpy(s->samples + s->n, samples, n * sizeof *samples);
    }
    s->n += n;
    return true;
}

void voice_sound_free(struct voice_sound *s)
{
    free(s->samples);
    memset(s, 0, sizeof *s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
    return get16(p) | get16(p + 2) << 16;
}

/* Find the chunk `name` with its *n bytes; NULL if there is none. If the writer could not return to
 * the header, the chunk has all remaining bytes: its length exceeds the file, or is 0 where the
 * file itself ends by its header. */
static const uint8_t *find(const uint8_t *file, size_t bytes, const char *name, size_t *n)
{
    for (size_t at = 12; bytes - at >= CHUNK;) {
        uint32_t length = get32(file + at + 4);
        size_t left = bytes - at - CHUNK;

        if (length == 0 && get32(file + 4) <= at && memcmp(file + at, "data", 4) == 0) {
            length = UINT32_MAX;
        }
        *n = length < left ? length : left;
        if (memcmp(file + at, name, 4) == 0) {
            return file + at + CHUNK;
        }
        at += CHUNK + *n + (length % 2 != 0 && *n < left);
    }
    return NULL;
}

static bool take(struct voice_sound *s, const uint8_t *data, size_t n_frames, uint32_t channels)
{
    for (size_t i = 0; i < n_frames; i++) {
        int32_t sum = 0;
        int16_t mean;

        for (uint32_t c = 0; c < channels; c++) {
            sum += (int16_t)get16(data + (i * channels + c) * 2);
        }
        mean = (int16_t)(sum / (int32_t)channels);
        if (!voice_sound_add(s, &mean, 1)) {
            return false;
        }
    }
    return true;
}

const char *voice_wav_read(struct voice_sound *s, const uint8_t *file, size_t bytes)
{
    const uint8_t *format, *data;
    size_t n_format, n_data;
    uint32_t kind, channels, rate;

    memset(s, 0, sizeof *s);
    if (bytes < 12 || memcmp(file, "RIFF", 4) != 0 || memcmp(file + 8, "WAVE", 4) != 0) {
        return "it is not a WAV file";
    }
    format = find(file, bytes, "fmt ", &n_format);
    data = find(file, bytes, "data", &n_data);
    if (format == NULL || n_format < FORMAT_BYTES || data == NULL) {
        return "the WAV file has no sound, or does not give its format";
    }
    kind = get16(format);
    channels = get16(format + 2);
    rate = get32(format + 4);
    if ((kind != PCM && kind != EXTENSIBLE) || get16(format + 14) != 16 || channels == 0 ||
        channels > MOST_CHANNELS || rate < LEAST_RATE || rate > MOST_RATE) {
        return "the WAV file has to have 16-bit PCM of 1 to 8 channels, and 4000 to 192000 samples "
               "a second";
    }
    s->rate = rate;
    if (!take(s, data, n_data / (2 * channels), channels)) {
        voice_sound_free(s);
        return "out of memory";
    }
    return NULL;
}

bool voice_wav_load(struct voice_sound *s, const char *path, const char **error_message)
{
    FILE *in = fopen(path, "rb");
    uint8_t *file = NULL;
    size_t n = 0, room = 0;

    *error_message = NULL;
    while (in != NULL && !feof(in) && !ferror(in) && n < MOST_BYTES) {
        if (room - n < 65536) {
            uint8_t *more = realloc(file, room * 2 + 65536);

            if (more == NULL) {
                *error_message = "out of memory";
                break;
            }
            file = more;
            room = room * 2 + 65536;
        }
        n += fread(file + n, 1, room - n, in);
    }
    if (in == NULL || ferror(in)) {
        n = 0;
    } else if (n >= MOST_BYTES) {
        *error_message = "the WAV file has 256 MiB or more: cut it into shorter files";
    } else if (*error_message == NULL) {
        *error_message = voice_wav_read(s, file, n);
    }
    if (in != NULL) {
        fclose(in);
    }
    free(file);
    return n != 0 && *error_message == NULL;
}

static void put32(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

bool voice_wav_save(const struct voice_sound *s, const char *path, const char *input,
                    char *error_message, size_t error_message_bytes)
{
    const struct output_wish wish = { .path = path, .input = input };
    uint8_t header[HEADER] = { 'R', 'I', 'F', 'F', 0, 0, 0,   0, 'W', 'A', 'V', 'E', 'f', 'm',
                               't', ' ', 16,  0,   0, 0, PCM, 0, 1,   0,   0,   0,   0,   0,
                               0,   0,   0,   0,   2, 0, 16,  0, 'd', 'a', 't', 'a' };
    uint32_t bytes = (uint32_t)(s->n * 2);
    uint8_t *file = malloc(HEADER + (size_t)bytes);
    enum err e;

    if (file == NULL) {
        snprintf(error_message, error_message_bytes, "out of memory");
        return false;
    }
    put32(header + 4, bytes + HEADER - CHUNK);
    put32(header + 24, s->rate);
    put32(header + 28, s->rate * 2);
    put32(header + 40, bytes);
    memcpy(file, header, HEADER);
    for (size_t i = 0; i < s->n; i++) {
        file[HEADER + 2 * i] = (uint8_t)s->samples[i];
        file[HEADER + 2 * i + 1] = (uint8_t)((uint16_t)s->samples[i] >> 8);
    }
    e = output_write(&wish, file, HEADER + (size_t)bytes, error_message, error_message_bytes);
    free(file);
    return e == ERR_OK;
}
