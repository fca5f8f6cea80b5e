// One process of a test: imports or restores, and kills itself where it is told to.

import type { MoveStep } from '../../secrets/move-secrets.ts';
import type { ChangeStep } from '../../store/config-file.ts';
import { importMoving, optionsIn, restoreAll } from './machine.ts';

export interface Task {
  readonly does: 'import' | 'restore';
  readonly folder: string;
  readonly script: string;
  readonly killAt: ChangeStep | MoveStep;
}

async function run({ does, folder, script, killAt }: Task): Promise<void> {
  const onStep = (step: ChangeStep | MoveStep): void => {
    if (step === killAt) process.kill(process.pid, 'SIGKILL');
  };
  const options = optionsIn(folder, { script, onStep });
  if (does === 'import') await importMoving(options, onStep);
  else await restoreAll(options);
}

await run(JSON.parse(process.argv[2] ?? '{}') as Task);
