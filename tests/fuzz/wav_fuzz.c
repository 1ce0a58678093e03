/* Any bytes as a WAV file: refused with an error message, or sound whose samples are in the file. */
#include <stdlib.h>

#include "host/voice/voice_wav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct voice_sound s;
    const char *why = voice_wav_read(&s, data, size);

    must(why != NULL || (s.rate >= 4000 && s.n * 2 <= size));
    if (why == NULL && s.n < 4096) {
        must(voice_sound_resample(&s, VOICE_RATE) && s.rate == VOICE_RATE);
    }
    voice_sound_free(&s);
    return 0;
}
