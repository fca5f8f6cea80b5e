// Every check, in the order of the report: what other checks depend on comes first.

import { broken, type Check, codeOf, type Finding, type Machine, pathOf } from './check.ts';
import { checkClients } from './check-clients.ts';
import { checkGateway, checkProxy } from './check-gateway.ts';
import { checkHooks } from './check-hooks.ts';
import * as installation from './check-installation.ts';
import { checkDaemon, checkHead, checkLedger, checkRuns, checkSocket } from './check-ledger.ts';
import * as policies from './check-policies.ts';
import { checkSecrets } from './check-secrets.ts';

export const CHECKS: { readonly [id: string]: Check } = {
  node: installation.checkNode,
  build: installation.checkBuild,
  environment: installation.checkEnvironment,
  home: installation.checkHome,
  files: installation.checkFiles,
  disk: installation.checkDisk,
  config: policies.checkConfig,
  policy: policies.checkPolicy,
  cedar: policies.checkCedar,
  manifests: policies.checkManifests,
  pins: policies.checkPins,
  secrets: checkSecrets,
  ledger: checkLedger,
  head: checkHead,
  runs: checkRuns,
  daemon: checkDaemon,
  socket: checkSocket,
  spool: installation.checkSpool,
  'run-files': installation.checkRunFiles,
  clients: checkClients,
  hooks: checkHooks,
  gateway: checkGateway,
  proxy: checkProxy,
};

export interface Checked {
  readonly id: string;
  readonly finding: Finding;
}

/** The findings of all checks; a check that throws is a finding, too. */
export async function checkAll(machine: Machine, checks = CHECKS): Promise<readonly Checked[]> {
  const found: Checked[] = [];
  for (const [id, check] of Object.entries(checks)) {
    found.push({ id, finding: await check(machine).catch(unchecked) });
  }
  return found;
}

/** An error of the system names a file that the user can look at; any other is a defect of sub. */
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
