// Every check, in the order in which they are told: what others need comes first.
import type { Check, Finding, Machine } from './check.ts';
import { broken } from './check.ts';
import { clients } from './clients.ts';
import { daemon, socket } from './daemon.ts';
import { disk, files, home } from './home.ts';
import { head, ledger } from './ledger.ts';
import { runFiles, spool } from './leftovers.ts';
import { config, policy } from './policy.ts';
import { build, environment, node } from './runtime.ts';
import { codeOf } from './words.ts';

const CHECKS: readonly Check[] = [
  node,
  build,
  environment,
  home,
  files,
  disk,
  config,
  policy,
  ledger,
  head,
  daemon,
  socket,
  spool,
  runFiles,
  clients,
];

interface Checked {
  readonly id: string;
  readonly finding: Finding;
}

/** All of them: one that cannot be made is a finding, too. */
async function checkAll(
  machine: Machine,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Checked[]> {
  const found: Checked[] = [];
  for (const { id, run } of checks) {
    const finding = await run(machine).catch((cause: unknown) =>
      broken(`this could not be checked: ${codeOf(cause)}`, 'Look at what it names.'),
    );
    found.push({ id, finding });
  }
  return found;
}

export type { Checked };
export { CHECKS, checkAll };
