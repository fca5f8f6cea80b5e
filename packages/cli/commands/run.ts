import { isFailure } from '@subluminal/contracts';
import { startRun } from '@subluminal/plane/apps/run';
import type { RunInput } from '../catalog/run.ts';
import type { Outcome } from '../input/command.ts';
import { hostRun, prepareRun } from '../run/host.ts';
import type { Io } from '../terminal/io.ts';

export async function run(input: RunInput, io: Io): Promise<Outcome> {
  const prepared = await prepareRun('run', input, io);
  if (isFailure(prepared)) return prepared;
  return hostRun(() => startRun(prepared.options), input.options, io);
}
