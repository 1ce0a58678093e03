/* Sound as samples, and as WAV files: for `ingot voice`. */
#ifndef INGOT_HOST_VOICE_WAV_H
#define INGOT_HOST_VOICE_WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOICE_RATE = 16000 /* samples per second, one channel: the rate of recognizers */ };

/* Zeroed: no samples. */
struct voice_sound {
    int16_t *samples; /* (n) */
    size_t n, room;
    uint32_t rate;
};

/* Append n samples. False: no memory. */
bool voice_sound_add(struct voice_sound *s, const int16_t *samples, size_t n);
void voice_sound_free(struct voice_sound *s);

/* Read a WAV file (`bytes` bytes) of 16-bit PCM with up to 8 channels, which are averaged, into *s.
 * Returns NULL on success, else the reason. */
const char *voice_wav_read(struct voice_sound *s, const uint8_t *file, size_t bytes);

/* As voice_wav_read, for the file at path. False: *error_message or, if that is NULL, errno. */
bool voice_wav_load(struct voice_sound *s, const char *path, const char **error_message);

/* Write a WAV file, which must not be the file `input` (NULL: no input file). If it returns false,
 * error_message (bytes) says why. */
bool voice_wav_save(const struct voice_sound *s, const char *path, const char *input,
                    char *error_message, size_t error_message_bytes);

/* Convert to another rate (n < 2^31 samples; rates of 4000 to 192000), and remove frequencies that
 * the lower rate cannot carry (voice_resample.c). False: out of memory. */
bool voice_sound_resample(struct voice_sound *s, uint32_t rate);

#endif
