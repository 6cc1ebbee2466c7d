import type { EntityManager } from 'typeorm';
import type { JobOptions, JobPayload, Jobs } from './jobs';

/** A stop waits for a job for six seconds; steps of this long together leave the process to others in between. */
const WORK_MS_MAX = 2_000;

export interface StepwiseJob {
  readonly name: string;
  readonly cron: string;
  /** Does a bounded piece, of some milliseconds; answers whether there may be more. */
  readonly step: () => Promise<boolean>;
}

/** Does work in steps, each a transaction of its own; what is left after a while is a further job. */
export function handleInSteps(jobs: Jobs, manager: EntityManager, { name, cron, step }: StepwiseJob): void {
  const work = async (): Promise<void> => {
    const began = performance.now();
    while (await step()) {
      if (performance.now() - began < WORK_MS_MAX) continue;
      await jobs.add(manager, name, {}, { key: 'rest' });
      return;
    }
  };
  jobs.handle(name, work, { cron });
}

/** From the payload of a job on; each step gives where another call goes on. */
export type StepsOfJob = (from: JobPayload) => AsyncIterable<JobPayload>;

/** Does work in steps, each a transaction of its own; what is left after a while is a further job, which begins there. */
export function handleInParts(
  jobs: Jobs,
  manager: EntityManager,
  name: string,
  steps: StepsOfJob,
  options?: JobOptions,
): void {
  const work = async (from: JobPayload): Promise<void> => {
    const began = performance.now();
    for await (const position of steps(from)) {
      if (performance.now() - began < WORK_MS_MAX) continue;
      await addAt(jobs, manager, name, position);
      return;
    }
  };
  jobs.handle(name, work, options);
}

/** Adds a job that begins at a position, by which it has its key: it does not replace one that is somewhere else. */
export function addAt(jobs: Jobs, manager: EntityManager, name: string, position: JobPayload): Promise<void> {
  return jobs.add(manager, name, position, { key: Object.values(position).join('/') });
}
