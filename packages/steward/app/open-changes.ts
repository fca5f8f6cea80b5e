// Where proposed changes are kept, and the desks at which people decide about them.
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { type ConfigProposals, openConfigProposals, ProposalDesk } from '../proposals/index.ts';
import {
  ChangeDesk,
  type ChangeRecord,
  type ChangeSet,
  ChangeStore,
  type FileRoots,
  openStaging,
  type Staging,
} from '../staging/index.ts';
import type { ChangeDesks } from './change-handlers.ts';

export interface OpenChanges {
  readonly staging: Staging;
  readonly proposals: ConfigProposals;
  readonly desks: ChangeDesks;
}

interface ChangesOptions {
  /** The folder of Steward's state. */
  readonly state: string;
  readonly configFolder: string;
  readonly roots: FileRoots;
  readonly record: (record: ChangeRecord) => void;
  /** Called for each change that was proposed or has grown. */
  readonly proposed?: (set: ChangeSet) => void;
  readonly log: (line: string) => void;
}

export async function openChanges(options: ChangesOptions): Promise<OpenChanges> {
  const { state, configFolder: folder, roots, record, log } = options;
  const staged = new ChangeStore(state);
  const proposed = new ChangeStore(join(state, 'proposals'));
  const files = new ChangeDesk({ store: staged, roots, record });
  const proposals = new ProposalDesk({ folder, store: proposed, record });
  // A person has approved them before the process died.
  for (const desk of [files, proposals]) {
    const failures = [await desk.resume()].flat();
    for (const { message } of failures) log(`An approved change is not made: ${message}`);
  }
  const told = (set: ChangeSet | Failure) => {
    if (!isFailure(set) && set.state === 'open') options.proposed?.(set);
    return set;
  };
  const staging = openStaging(staged, roots);
  const configs = openConfigProposals({ folder, store: proposed });
  return {
    staging: { ...staging, stage: async (proposal) => told(await staging.stage(proposal)) },
    proposals: { ...configs, propose: async (proposal) => told(await configs.propose(proposal)) },
    desks: { files, proposals },
  };
}
