#include "lib/shm/process.h"

const char *const shm_process_names[SHM_PROCESS_COUNT] = {
	[SHM_DATAPLANE] = "dataplane",
	[SHM_CONTROLPLANE] = "controlplane",
};
