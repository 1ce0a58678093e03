/* Signals that end the program, so that nothing of it is left and the reason is said. */
#ifndef INGOT_HOST_HOST_FAULTS_H
#define INGOT_HOST_HOST_FAULTS_H

/* Before anything else: signals that end a program (temporary.h) remove files that were made for a while, and end it as they
 * would. A byte that a mapped file has lost (SIGBUS) ends it with a message that names the file, and status 1. */
void host_faults_watch(void);

#endif
