/* `ingot voice`: a spoken conversation with a board, or with a model on this computer. One program
 * turns speech into text, another turns a reply into sound. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flash_image/output/temporary.h"
#include "host/line/board_talk.h"
#include "host/cli/commands.h"
#include "host/cli/ending_signals.h"
#include "host/boards/serve_boards.h"
#include "host/args/shown_streams.h"
#include "host/voice/voice_hear.h"
#include "host/voice/voice_listen.h"
#include "host/voice/voice_speak.h"

enum {
    PATH_BYTES = 480,
    ERROR_MESSAGE_BYTES = 512,
    RECORDER_WAIT_MS = 100, /* after this time without sound, signals and the board are looked at */
};

static const char tts[] = "espeak-ng --stdin -w {}", player[] = "aplay -q {}",
                  recorder[] = "arecord -q -t raw -f S16_LE -r 16000 -c 1";

struct arguments {
    const char *with; /* a board's line, or a model */
    const char *input, *output, *stt, *tts, *play, *record, *system;
    uint32_t baud, n;
};

static struct voice {
    struct arguments a;
    struct serial_line line;
    struct board_talk talk;
    struct voice_listen listen;
    struct voice_speak speak;
    struct voice_hearer hearer;
    pid_t model; /* process with the model; 0 if the other end is a board */
    char folder[PATH_BYTES];
} voice;

static volatile int stopped;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "ingot: %s: %s\n", what, why);
    return false;
}

/* ---- the other end --------------------------------------------------------------------------- */

/* Start a model on this computer, in a second process of this program that behaves like a board. */
static bool start_model(struct voice *v)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail(v->a.with, "the program could not be started");
    }
    v->model = fork();
    if (v->model == 0) {
        char *words[] = { (char *)"ingot",  (char *)"chat", (char *)v->a.with,
                          (char *)"--json", (char *)"-q",   NULL };

        if (dup2(ends[0], 0) >= 0 && dup2(ends[0], 1) >= 0) {
            execv("/proc/self/exe", words);
        }
        _exit(127);
    }
    close(ends[0]);
    v->line = (struct serial_line){ .path = v->a.with, .fd = ends[1], .heard_ms = serial_millis() };
    return v->model > 0 || fail(v->a.with, "the program could not be started");
}

static bool connect_to(struct voice *v)
{
    if (!serve_boards_is_line(v->a.with)) {
        return start_model(v);
    }
    if (!serial_open(&v->line, v->a.with, v->a.baud)) {
        fprintf(stderr, "ingot: %s\n", v->line.error_message);
        return false;
    }
    return true;
}

static void take_event(void *context, const struct board_event *e)
{
    struct voice *v = context;

    if (e->kind == BOARD_TOKEN && e->text != NULL) {
        fputs(e->text, stdout);
        fflush(stdout);
        voice_speak_add(&v->speak, e->text, strlen(e->text));
    }
}

static bool greet(struct voice *v)
{
    char n[64];

    v->talk = (struct board_talk){ .line = &v->line,
                                   .name = v->a.with,
                                   .is_program = v->model != 0,
                                   .needs_model = true,
                                   .silence_s = SERIAL_SILENCE_S,
                                   .stopped = &stopped,
                                   .take = take_event,
                                   .context = v };
    snprintf(n, sizeof n, "{\"n\":%u}\n", (unsigned)v->a.n);
    if (!board_talk_greet(&v->talk)) {
        return false;
    }
    if (v->a.system != NULL &&
        (!board_talk_ask(&v->talk, "system", v->a.system, strlen(v->a.system)) || v->talk.failed)) {
        return false;
    }
    return board_talk_send(&v->talk, n) && !v->talk.failed;
}

/* ---- what is heard --------------------------------------------------------------------------- */

static void trim(struct api_text *t)
{
    while (t->n != 0 && strchr(" \t\r\n", t->bytes[t->n - 1]) != NULL) {
        t->bytes[--t->n] = '\0';
    }
    for (size_t i = 0; i < t->n; i++) {
        t->bytes[i] = t->bytes[i] == '\n' || t->bytes[i] == '\r' ? ' ' : t->bytes[i];
    }
}

/* Answer what was said. False: the conversation cannot continue. */
static bool answer(struct voice *v)
{
    struct api_text text = { .n = 0 };
    char path[PATH_BYTES + 16], error_message[ERROR_MESSAGE_BYTES];
    /* The delay counts from the last word, so it includes the silence that ends a question. */
    uint64_t ended = serial_millis() - voice_listen_quiet_ms(&v->listen), understood;
    bool good;

    snprintf(path, sizeof path, "%s/heard.wav", v->folder);
    if (!voice_wav_save(&v->listen.said, path, NULL, error_message, sizeof error_message)) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    good = voice_hear(&v->hearer, path, &text);
    understood = serial_millis();
    unlink(path);
    if (!good) {
        serve_text_free(&text);
        return fail(v->hearer.name != NULL ? v->hearer.name : v->hearer.command,
                    "the recognizer failed: try it without Ingot");
    }
    trim(&text);
    if (text.n == 0) {
        fprintf(stderr, "(nothing was understood)\n");
        return true;
    }
    printf("> %s\n", name_shown(text.bytes));
    fflush(stdout);
    good = board_talk_ask(&v->talk, "prompt", text.bytes, text.n);
    serve_text_free(&text);
    printf("\n");
    voice_speak_end(&v->speak);
    voice_speak_wait(&v->speak);
    if (v->speak.first_ms != 0) {
        fprintf(stderr, "(understood after %.1f s, the first sound after %.1f s)\n",
                (double)(understood - ended) / 1000.0,
                (double)(v->speak.first_ms - ended) / 1000.0);
    }
    v->speak.first_ms = 0;
    return good;
}

static bool listen_to_file(struct voice *v)
{
    struct voice_sound in;
    const char *error_message;
    bool good = voice_wav_load(&in, v->a.input, &error_message), heard = false;

    if (!good) {
        return fail(v->a.input, error_message != NULL ? error_message : "it cannot be read");
    }
    good = voice_sound_resample(&in, VOICE_RATE);
    for (size_t at = 0; good && stopped == 0 && in.n - at >= VOICE_FRAME; at += VOICE_FRAME) {
        if (voice_listen_take(&v->listen, in.samples + at)) {
            heard = true;
            good = answer(v);
            voice_listen_begin(&v->listen);
        }
    }
    if (good && voice_listen_end(&v->listen)) {
        heard = true;
        good = answer(v);
    }
    voice_sound_free(&in);
    if (good && !heard && stopped == 0) {
        return fail(v->a.input, "no speech was found: it has to follow some quiet, and to last a "
                                "quarter of a second");
    }
    return good;
}

/* Start the recorder. Returns 0 if it could not start; otherwise *in is its output. The recorder
 * stays in this process group, so that one like `ssh HOST arecord` may ask for a password. */
static pid_t start_recorder(const char *command, int *in)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0) {
        return 0;
    }
    child = fork();
    if (child == 0) {
        close(ends[0]);
        voice_become(command, 0, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return 0;
    }
    *in = ends[0];
    return child;
}

static void stop_recorder(pid_t child, int in)
{
    close(in);
    (void)kill(child, SIGTERM);
    (void)waitpid(child, NULL, 0);
}

/* Read VOICE_FRAME samples. The board is kept in its mode while none come. False: the recorder
 * ended, or a signal ends the program. */
static bool read_frame(struct voice *v, int in, int16_t *frame)
{
    struct pollfd wait = { .fd = in, .events = POLLIN };
    size_t bytes = VOICE_FRAME * sizeof *frame, have = 0;
    ssize_t n = 1;

    while (have < bytes && n > 0 && stopped == 0) {
        board_talk_stay(&v->talk);
        if (poll(&wait, 1, RECORDER_WAIT_MS) > 0) {
            n = read(in, (char *)frame + have, bytes - have);
            have += n > 0 ? (size_t)n : 0;
        }
    }
    return have == bytes;
}

/* Listen for one utterance from the microphone; sound that arrives while a reply is spoken is
 * ignored. */
static bool listen_once(struct voice *v, bool *more)
{
    int16_t frame[VOICE_FRAME];
    bool heard = false;
    int in;
    pid_t child = start_recorder(v->a.record, &in);

    if (child == 0) {
        return fail(v->a.record, strerror(errno));
    }
    while (!heard && read_frame(v, in, frame)) {
        heard = voice_listen_take(&v->listen, frame);
    }
    *more = heard;
    stop_recorder(child, in);
    if (stopped != 0) {
        return false;
    }
    if (!heard) {
        return fail(v->a.record, "no speech was recorded: is a microphone connected?");
    }
    return answer(v);
}

static bool listen_to_microphone(struct voice *v)
{
    bool more = true, good = true;

    fprintf(stderr, "(listening; Ctrl-C ends)\n");
    while (good && more) {
        voice_listen_begin(&v->listen);
        good = listen_once(v, &more);
    }
    return good;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* True if the program of a command exists, or if only the shell can tell: its name is quoted, or
 * the command begins with an assignment or a group. */
static bool has_program(const char *command, const char *option, const char *package)
{
    char test[300];

    if (strcspn(command, "'\"\\`=(){}<>|&;") < strcspn(command, " ")) {
        return true;
    }
    snprintf(test, sizeof test, "command -v %.*s >/dev/null", (int)strcspn(command, " "), command);
    if (voice_run(test, "", "", 0, NULL)) {
        return true;
    }
    fprintf(stderr, "ingot: %.*s is not installed: install %s, or name another program with %s\n",
            (int)strcspn(command, " "), command, package, option);
    return false;
}

static bool find_hearer(struct voice *v)
{
    const char *error_message = NULL;

    if (!voice_hear_find(&v->hearer, v->a.stt, &error_message)) {
        return fail(v->a.stt != NULL ? v->a.stt : "voice", error_message);
    }
    if (v->a.stt == NULL) {
        fprintf(stderr, "(%s recognizes speech; --stt names another)\n", v->hearer.name);
    }
    return v->hearer.name != NULL ||
           has_program(v->hearer.command, "--stt",
                       "faster-whisper, or pocketsphinx and pocketsphinx-en-us");
}

static bool has_programs(struct voice *v)
{
    const struct arguments *a = &v->a;

    return find_hearer(v) && has_program(a->tts, "--tts", "espeak-ng") &&
           (a->play[0] == '\0' || has_program(a->play, "--play", "alsa-utils")) &&
           (a->input != NULL || has_program(a->record, "--record", "alsa-utils"));
}

static bool talk(struct voice *v)
{
    voice_listen_begin(&v->listen);
    return greet(v) && (v->a.input != NULL ? listen_to_file(v) : listen_to_microphone(v));
}

static bool save_spoken(struct voice *v)
{
    char error_message[ERROR_MESSAGE_BYTES];

    if (v->a.output == NULL) {
        return true;
    }
    if (v->speak.spoken.rate == 0) {
        v->speak.spoken.rate = VOICE_RATE;
    }
    if (!voice_wav_save(&v->speak.spoken, v->a.output, v->a.input, error_message,
                        sizeof error_message)) {
        fprintf(stderr, "ingot: %s\n", error_message);
        return false;
    }
    return true;
}

/* Make the folder for the files of sound that other programs read or write. The folder is removed
 * at the end. Returns false after printing the error. */
static bool make_folder(struct voice *v)
{
    static const char *const names[] = { "heard.wav", "spoken.wav" };
    char path[PATH_BYTES + 16];

    if (!temporary_folder(v->folder, sizeof v->folder)) {
        return fail("no temporary folder for sound can be made (TMPDIR says where)",
                    strerror(errno));
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", v->folder, names[i]);
        if (!temporary_expect(path)) {
            return fail("voice", "out of memory");
        }
    }
    return true;
}

static int run(int argc, char **argv)
{
    struct voice *v = &voice;
    bool good;
    int status;

    v->a = (struct arguments){ .tts = tts, .record = recorder, .n = 200 };
    if (!command_line_read(&cmd_voice, &v->a, argc, argv, &status)) {
        return status;
    }
    if (v->a.play == NULL) {
        v->a.play = v->a.output != NULL ? "" : player;
    }
    if (!has_programs(v) || !make_folder(v) || !connect_to(v)) {
        temporary_remove(v->folder);
        return EXIT_FAILED;
    }
    v->speak.tts = v->a.tts;
    v->speak.play = v->a.play;
    v->speak.folder = v->folder;
    v->speak.keeps = v->a.output != NULL;
    good = voice_hear_open(&v->hearer) || fail(v->hearer.name, "the program could not be started");
    good = voice_speak_open(&v->speak) && good;
    ending_signals_note(&stopped);
    good = good && talk(v);
    good = (v->model != 0 || board_talk_leave(&v->talk)) && good;
    voice_speak_wait(&v->speak);
    good = save_spoken(v) && good && !v->speak.failed;
    voice_speak_close(&v->speak);
    voice_sound_free(&v->listen.said);
    voice_hear_close(&v->hearer);
    close(v->line.fd);
    if (v->model > 0) {
        (void)waitpid(v->model, NULL, 0);
    }
    temporary_remove(v->folder);
    return exit_status(good);
}

/* Take a number of tokens; -1 means no limit, as 0 does. */
static enum option_result set_tokens(void *arguments, const struct command_option *o,
                                     const char *value)
{
    return command_take_number(arguments, o, strcmp(value, "-1") == 0 ? "0" : value);
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct command_option rows[] = {
    { .name = "--input",
      .value = "FILE",
      .help = "listen to a WAV file instead of the microphone",
      .field = FIELD(input) },
    { .name = "--output",
      .value = "FILE",
      .help = "write speech to a WAV file instead of playing it",
      .field = FIELD(output) },
    { .name = "--stt",
      .value = "WHO",
      .help = "recognizer: the address of a server with /v1/audio/transcriptions; whisper, "
              "whisper.cpp,\n"
              "moonshine or pocketsphinx (default: the first that is installed); or a command that "
              "prints what was said\n"
              "in the WAV file {}",
      .field = FIELD(stt) },
    { .name = "--tts",
      .value = "COMMAND",
      .help = "command that writes the WAV file {} from its standard input (default: espeak-ng)",
      .field = FIELD(tts) },
    { .name = "--play",
      .value = "COMMAND",
      .help = "command that plays the WAV file {} (default: aplay)",
      .field = FIELD(play) },
    { .name = "--record",
      .value = "COMMAND",
      .help = "command that writes 16-bit samples, 16000 a second, one channel (default: arecord)",
      .field = FIELD(record) },
    { .name = "--system",
      .value = "TEXT",
      .help = "begin a new conversation with this system prompt",
      .field = FIELD(system) },
    { .name = "--predict",
      .letter = "-n",
      .value = "N",
      .takes = "a count of tokens",
      .help = "longest reply in tokens (default 200; 0 or -1: until the model ends)",
      .set = set_tokens,
      .field = FIELD(n) },
    { .name = "--baud",
      .value = "RATE",
      .takes = "a rate",
      .help = "rate of the line (default 115200)",
      .set = command_take_number,
      .field = FIELD(baud) },
};
static const struct command_option *const voice_options[] = {
    &rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], &rows[6], &rows[7], &rows[8], NULL,
};

const struct command cmd_voice = {
    .name = "voice",
    .operands = "DEVICE|MODEL",
    .missing = "which device or model? such as /dev/ttyUSB0, or model.ingot;",
    .summary = "talk to a board or a model by voice",
    .about =
        "Listens to the microphone, turns speech into text by another program, and asks a board (a serial\n"
        "device, unix:PATH or tcp:HOST:PORT) or a model on this computer. Each sentence of the reply is\n"
        "spoken while the rest is still computed (docs/VOICE.md).",
    .example = "ingot voice /dev/ttyUSB0",
    .options = voice_options,
    .operand_field = offsetof(struct arguments, with),
    .run = run,
};
