// For LD_PRELOAD: what the environment has when MPI starts, in place of starting it. No part of rlgo.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  (void)argc, (void)argv, (void)required, (void)provided;
  const char* names[] = {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"};
  for (int i = 0; i < 2; ++i) {
    const char* value = getenv(names[i]);
    printf("%s=%s\n", names[i], value != NULL ? value : "");
  }
  fflush(stdout);
  _exit(42);
}
