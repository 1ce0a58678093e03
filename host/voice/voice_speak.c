#include "host/voice/voice_speak.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/line/serial_line.h"
#include "runtime/text/utf8.h"

enum { LONG_TEXT = 400 /* length in bytes after which a comma or a blank also ends a piece */ };

struct voice_sentence {
    struct voice_sentence *next;
    size_t n;
    char text[];
};

/* ---- sentences ------------------------------------------------------------------------------- */

/* Return the bytes of the mark with which n bytes of text begin, if it ends a sentence; else 0. The
 * point in "3.5" does not end one, because no blank follows; in "e.g. " it does. Chinese and
 * Japanese marks are not followed by a blank. */
static size_t sentence_end(const char *text, size_t n)
{
    static const char wide[][4] = { "。", "！", "？" };

    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        if (n >= 3 && memcmp(text, wide[i], 3) == 0) {
            return 3;
        }
    }
    if (text[0] == '.' || text[0] == '!' || text[0] == '?') {
        return n > 1 && isspace((unsigned char)text[1]);
    }
    return text[0] == '\n';
}

size_t voice_sentences(const char *text, size_t n, bool ends)
{
    size_t whole = 0;

    for (size_t i = 0; i < n; i++) {
        size_t end = sentence_end(text + i, n - i);

        whole = end != 0 ? i + end : whole;
    }
    for (size_t i = n; whole == 0 && n > LONG_TEXT && i-- > 1;) {
        whole = text[i] == ' ' ? i : 0;
    }
    return ends ? n : whole;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Append a path in single quotes, which protect any text from the shell. */
static void add_quoted(struct api_text *out, const char *path)
{
    (void)serve_text_add(out, "'", 1);
    for (; *path != '\0'; path++) {
        (void)serve_text_add(out, *path == '\'' ? "'\\''" : path, *path == '\'' ? 4 : 1);
    }
    (void)serve_text_add(out, "'", 1);
}

static void fill_in(struct api_text *out, const char *command, const char *path)
{
    for (; *command != '\0'; command++) {
        if (command[0] == '{' && command[1] == '}') {
            add_quoted(out, path);
            command++;
        } else {
            (void)serve_text_add(out, command, 1);
        }
    }
}

/* Write the input to a file, so that this program and the command do not wait for each other. */
static FILE *input_of(const char *input, size_t bytes)
{
    FILE *f = tmpfile();

    if (f != NULL && (fwrite(input, 1, bytes, f) != bytes || fflush(f) != 0)) {
        fclose(f);
        return NULL;
    }
    if (f != NULL) {
        rewind(f);
    }
    return f;
}

void voice_become(const char *command, int in, int out)
{
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    }
    _exit(127);
}

bool voice_run(const char *command, const char *path, const char *input, size_t bytes,
               struct api_text *said)
{
    struct api_text words = { .n = 0 };
    FILE *in = input_of(input, bytes);
    int ways[2], status = 1;
    char some[4096];
    ssize_t n;
    pid_t child;

    fill_in(&words, command, path);
    if (in == NULL || words.failed || pipe(ways) != 0) {
        serve_text_free(&words);
        return false;
    }
    child = fork();
    if (child == 0) {
        voice_become(api_text_shown(&words), fileno(in), ways[1]);
    }
    close(ways[1]);
    while (child > 0 && (n = read(ways[0], some, sizeof some)) > 0) {
        if (said != NULL) {
            (void)serve_text_add(said, some, (size_t)n);
        }
    }
    close(ways[0]);
    fclose(in);
    serve_text_free(&words);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Report the first sentence that cannot be spoken; later ones fail for the same reason. */
static bool fail(struct voice_speak *s, const char *command, const char *why)
{
    if (!s->failed) {
        fprintf(stderr, "ingot: a sentence could not be spoken: `%s`: %s\n", command, why);
    }
    return false;
}

static bool keep_spoken(struct voice_speak *s, const char *path)
{
    struct voice_sound sound;
    const char *error_message;
    bool good = voice_wav_load(&sound, path, &error_message);

    if (!good) {
        return fail(s, s->tts, error_message != NULL ? error_message : "it writes no file {}");
    }
    if (s->spoken.rate == 0) {
        s->spoken.rate = sound.rate;
    }
    good = voice_sound_resample(&sound, s->spoken.rate) &&
           voice_sound_add(&s->spoken, sound.samples, sound.n);
    voice_sound_free(&sound);
    return good || fail(s, s->tts, "out of memory");
}

static bool play(struct voice_speak *s, const char *path)
{
    return s->play[0] == '\0' || voice_run(s->play, path, "", 0, NULL) ||
           fail(s, s->play, "does it run?");
}

static bool speak(struct voice_speak *s, const struct voice_sentence *one)
{
    char path[512];
    bool good;

    snprintf(path, sizeof path, "%.480s/spoken.wav", s->folder);
    good = voice_run(s->tts, path, one->text, one->n, NULL) || fail(s, s->tts, "does it run?");
    s->first_ms = s->first_ms != 0 ? s->first_ms : serial_millis();
    good = good && (!s->keeps || keep_spoken(s, path)) && play(s, path);
    unlink(path);
    return good;
}

static void *work(void *context)
{
    struct voice_speak *s = context;

    pthread_mutex_lock(&s->lock);
    while (!s->ends || s->first != NULL) {
        struct voice_sentence *one = s->first;
        bool good;

        if (one == NULL) {
            pthread_cond_wait(&s->more, &s->lock);
            continue;
        }
        s->first = one->next;
        s->busy = true;
        pthread_mutex_unlock(&s->lock);
        good = speak(s, one);
        free(one);
        pthread_mutex_lock(&s->lock);
        s->busy = false;
        s->failed = s->failed || !good;
        pthread_cond_broadcast(&s->more);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool voice_speak_open(struct voice_speak *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->more, NULL);
    return pthread_create(&s->thread, NULL, work, s) == 0;
}

static bool has_words(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isalnum((unsigned char)text[i]) || (unsigned char)text[i] >= 0x80) {
            return true;
        }
    }
    return false;
}

static void put(struct voice_speak *s, size_t n)
{
    struct voice_sentence *one;

    if (!has_words(s->text, n)) {
        return;
    }
    one = malloc(sizeof *one + n);
    if (one == NULL) {
        return;
    }
    *one = (struct voice_sentence){ .n = n };
    memcpy(one->text, s->text, n);
    pthread_mutex_lock(&s->lock);
    if (s->first == NULL) {
        s->first = one;
    } else {
        s->last->next = one;
    }
    s->last = one;
    pthread_cond_broadcast(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static void take_whole(struct voice_speak *s, bool ends)
{
    size_t n = voice_sentences(s->text, s->n, ends);

    if (n == 0 && s->n == sizeof s->text) {
        n = utf8_whole_bytes(s->text, s->n);
        n = n != 0 ? n : s->n; /* not UTF-8 */
    }
    if (n != 0) {
        put(s, n);
        s->n -= n;
        memmove(s->text, s->text + n, s->n);
    }
}

void voice_speak_add(struct voice_speak *s, const char *text, size_t n)
{
    while (n != 0) {
        size_t room = sizeof s->text - s->n, now = n < room ? n : room;

        memcpy(s->text + s->n, text, now);
        s->n += now;
        text += now;
        n -= now;
        take_whole(s, false);
    }
}

void voice_speak_end(struct voice_speak *s)
{
    take_whole(s, true);
}

void voice_speak_wait(struct voice_speak *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->first != NULL || s->busy) {
        pthread_cond_wait(&s->more, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

void voice_speak_close(struct voice_speak *s)
{
    pthread_mutex_lock(&s->lock);
    s->ends = true;
    pthread_cond_broadcast(&s->more);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    voice_sound_free(&s->spoken);
}
