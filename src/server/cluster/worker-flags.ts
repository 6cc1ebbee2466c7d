/** Half of V8's young generation. With the default of 16 MiB the objects of a batch survive collections and are copied. */
const YOUNG_MIB = 32;
/** No helper threads for young garbage: they would run on the cores of other workers. */
const COLLECTS_ALONE = ['--no-parallel-scavenge', '--no-concurrent-array-buffer-sweeping'];

/** The flags for V8 that a worker process runs with. The build makes a code cache for them (docs/adr/0069). */
export const WORKER_FLAGS: readonly string[] = [`--max-semi-space-size=${YOUNG_MIB}`, ...COLLECTS_ALONE];
