#include "host/voice/voice_listen.h"

#include <string.h>

enum {
    PER_SECOND = VOICE_RATE / VOICE_FRAME,
    BEFORE = PER_SECOND / 2, /* frames that are kept before the first loud frame, because Whisper
                                    mishears a word without silence before it */
    LOUD = 3,                /* consecutive loud frames that begin speech: longer than a click */
    QUIET = PER_SECOND * 7 / 10, /* quiet frames that end speech: longer than a breath */
    MOST = PER_SECOND * 20,      /* limit for the frames of an utterance */
    LEAST = PER_SECOND / 4,      /* least length of an utterance: a cough is shorter */
};
#define ABOVE 9.0             /* ratio of a voice's squared loudness to that of the room */
#define SILENCE (60.0 * 60.0) /* least loudness of a room, squared: the microphone's own noise */
#define FOLLOWS 0.05

void voice_listen_begin(struct voice_listen *v)
{
    v->said.n = 0;
    v->said.rate = VOICE_RATE;
    v->loud = v->quiet = v->n_frames = 0;
    v->speaks = false;
}

static double loudness(const int16_t *frame)
{
    double sum = 0;

    for (size_t i = 0; i < VOICE_FRAME; i++) {
        sum += (double)frame[i] * frame[i];
    }
    return sum / VOICE_FRAME;
}

/* Drop old frames: until somebody speaks, only the latest frames are kept. */
static void forget_old(struct voice_listen *v)
{
    size_t most = (size_t)BEFORE * VOICE_FRAME;

    if (!v->speaks && v->said.n > most) {
        memmove(v->said.samples, v->said.samples + (v->said.n - most),
                most * sizeof *v->said.samples);
        v->said.n = most;
    }
}

/* Measure the loudness of the room while nobody speaks; the estimate falls quickly and rises
 * slowly. */
static void follow_room(struct voice_listen *v, double now)
{
    if (v->floor <= 0 || now < v->floor) {
        v->floor = now;
    } else if (!v->speaks) {
        v->floor += (now - v->floor) * FOLLOWS;
    }
    if (v->floor < SILENCE) {
        v->floor = SILENCE;
    }
}

bool voice_listen_take(struct voice_listen *v, const int16_t *frame)
{
    double now = loudness(frame);
    bool is_loud = v->floor > 0 && now > v->floor * ABOVE;

    if (!voice_sound_add(&v->said, frame, VOICE_FRAME)) {
        return voice_listen_end(v);
    }
    if (!is_loud) {
        follow_room(v, now);
    }
    v->loud = is_loud ? v->loud + 1 : 0;
    v->quiet = is_loud ? 0 : v->quiet + 1;
    v->speaks = v->speaks || v->loud >= LOUD;
    v->n_frames += v->speaks;
    forget_old(v);
    return v->speaks && (v->quiet >= QUIET || v->n_frames >= MOST) && voice_listen_end(v);
}

bool voice_listen_end(struct voice_listen *v)
{
    bool long_enough = v->speaks && v->n_frames - v->quiet >= LEAST;

    if (!long_enough) {
        voice_listen_begin(v);
    }
    return long_enough;
}

unsigned voice_listen_quiet_ms(const struct voice_listen *v)
{
    return v->quiet * 1000 / PER_SECOND;
}
