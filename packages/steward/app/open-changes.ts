// Where proposed changes are kept, and the desks at which people decide about them.
import { join } from 'node:path';
import { type ConfigProposals, openConfigProposals, ProposalDesk } from '../proposals/index.ts';
import {
  ChangeDesk,
  type ChangeRecord,
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
  return {
    staging: openStaging(staged, roots),
    proposals: openConfigProposals({ folder, store: proposed }),
    desks: { files, proposals },
  };
}
