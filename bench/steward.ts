// `npm run bench -- steward`: what a step of Steward costs without the model's time, searches of its memory, and what it
// takes while nothing happens: memory, and the money of a day of heartbeats.
import { readBenchOptions } from './measure.ts';
import { measureIdle } from './steward/idle.ts';
import { measureMemory } from './steward/memory.ts';
import { measureSteps } from './steward/steps.ts';

const SAMPLES = 100;

export async function run(args: readonly string[]): Promise<void> {
  const options = readBenchOptions(args, SAMPLES);
  await measureSteps(options);
  await measureIdle(options);
  await measureMemory(options);
}
