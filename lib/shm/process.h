/* process: the two processes that share the segment. */
#ifndef LIB_SHM_PROCESS_H
#define LIB_SHM_PROCESS_H

enum shm_process { SHM_DATAPLANE, SHM_CONTROLPLANE, SHM_PROCESS_COUNT };

extern const char *const shm_process_names[SHM_PROCESS_COUNT]; /* "dataplane" "controlplane" */

#endif
