// A config as it would be without our edits.
import { lookBefore } from '../store/before.ts';
import { readConfigFile } from '../store/config-file.ts';
import { keyOf, type Store } from '../store/ports.ts';
import type { FoundConfig } from './configs.ts';
import { type AdoptProblem, adoptProblem, heldBy, withCode } from './problem.ts';

interface Base {
  readonly kind: 'base';
  readonly text: string;
}

export function baseOf({ target, file }: FoundConfig, store: Store): Base | AdoptProblem {
  const config = readConfigFile(file.path);
  if (config.kind === 'missing') {
    return adoptProblem('SUB_CLIENT_CONFIG', `${file.path} is gone.`, 'Try again.');
  }
  if (config.kind === 'problem') return withCode('SUB_CLIENT_CONFIG', config);
  const before = lookBefore(config, keyOf(target, store.ports), store);
  if (before.kind === 'held') return heldBy(file.path, before.by);
  if (before.kind === 'problem') return withCode('SUB_CLIENT_RESTORE', before);
  return { kind: 'base', text: before.text };
}
