// Every check, in the order in which they are told: what others need comes first.

import { cedar } from './cedar.ts';
import type { Check, Finding, Machine } from './check.ts';
import { broken } from './check.ts';
import { clients } from './clients.ts';
import { daemon, socket } from './daemon.ts';
import { disk, files, home } from './home.ts';
import { head, ledger } from './ledger.ts';
import { runFiles, spool } from './leftovers.ts';
import { config, policy } from './policy.ts';
import { build, environment, node } from './runtime.ts';
import { secrets } from './secrets.ts';
import { manifests, pins } from './surface.ts';
import { codeOf, pathOf } from './words.ts';

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
