// Every check, in the order of the report: what other checks depend on comes first.

import { broken, type Check, codeOf, type Finding, type Machine, pathOf } from './check.ts';
import { clients } from './check-clients.ts';
import {
  build,
  disk,
  environment,
  files,
  home,
  node,
  runFiles,
  spool,
} from './check-installation.ts';
import { daemon, head, ledger, socket } from './check-ledger.ts';
import { cedar, config, manifests, pins, policy } from './check-policies.ts';
import { secrets } from './check-secrets.ts';

export const CHECKS: readonly Check[] = [
  node,
  build,
  environment,
  home,
  files,
  disk,
  config,
  policy,
  cedar,
  manifests,
  pins,
  secrets,
  ledger,
  head,
  daemon,
  socket,
  spool,
  runFiles,
  clients,
];

export interface Checked {
  readonly id: string;
  readonly finding: Finding;
}

/** All of them: one that cannot be made is a finding, too. */
export async function checkAll(
  machine: Machine,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Checked[]> {
  const found: Checked[] = [];
  for (const { id, run } of checks) {
    const finding = await run(machine).catch(unchecked);
    found.push({ id, finding });
  }
  return found;
}

/** What the system refuses says where; anything else is ours to mend. */
function unchecked(cause: unknown): Finding {
  const path = pathOf(cause);
  if (path === undefined) {
    const fix = 'This is a defect in sub: report it with these words.';
    return broken(`this could not be checked: ${codeOf(cause)}`, fix);
  }
  return broken(
    `this could not be checked: ${path} gives ${codeOf(cause)}`,
    `Look at ${path} and the folders above it: whose they are, and who may read them.`,
  );
}
