/* Catches signals that ask a program to end, for example when a window is closed, so that the other
 * end of a line can be reset first. */
#ifndef INGOT_HOST_ENDING_SIGNALS_H
#define INGOT_HOST_ENDING_SIGNALS_H

/* From now on SIGINT, SIGTERM and SIGHUP add 1 to *n and do not end the program; signals that the
 * caller ignores (nohup) stay ignored. After three signals, a fourth one ends the process at
 * once. */
void ending_signals_note(volatile int *n);

/* As ending_signals_note, with a handler of the caller. */
void ending_signals_take(void (*handler)(int number));

#endif
