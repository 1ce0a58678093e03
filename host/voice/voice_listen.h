/* Finds speech in a stream of sound, by its loudness compared with that of the room. */
#ifndef INGOT_HOST_VOICE_LISTEN_H
#define INGOT_HOST_VOICE_LISTEN_H

#include "host/voice/voice_wav.h"

enum { VOICE_FRAME = VOICE_RATE / 50 /* samples that are processed together */ };

struct voice_listen {
    struct voice_sound said; /* the utterance at VOICE_RATE; it begins shortly before the first
                                word */
    double floor;            /* loudness of the room, squared; 0: not known yet */
    unsigned loud, quiet;    /* number of loud frames in a row, and of quiet ones */
    bool speaks;
    unsigned n_frames; /* frames since speech began */
};

/* Reset to silence; keep the loudness of the room. */
void voice_listen_begin(struct voice_listen *v);

/* Process the next VOICE_FRAME samples. True if a complete utterance is in v->said. */
bool voice_listen_take(struct voice_listen *v, const int16_t *frame);

/* Call at the end of the sound. True if a complete utterance is in v->said. */
bool voice_listen_end(struct voice_listen *v);

/* Return the milliseconds of quiet at the end of the utterance, after its last word. */
unsigned voice_listen_quiet_ms(const struct voice_listen *v);

#endif
