/* Signals that end the program: remove temporary files, and report the reason. */
#ifndef INGOT_HOST_HOST_FAULTS_H
#define INGOT_HOST_HOST_FAULTS_H

/* Call this first: signals that end a program (temporary.h) then remove temporary files before they
 * end it as usual. If a mapped file loses a byte (SIGBUS), the program ends with a message that
 * names the file, and status 1. */
void host_faults_watch(void);

#endif
