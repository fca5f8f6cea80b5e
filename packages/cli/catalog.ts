import { ABOUT_COMMANDS } from './catalog/about.ts';
import { ADOPT_COMMANDS } from './catalog/adopt.ts';
import { APPROVAL_COMMANDS, APPROVAL_GROUPS } from './catalog/approvals.ts';
import { HINT_COMMANDS, HINT_GROUPS } from './catalog/hints.ts';
import { LEDGER_COMMANDS } from './catalog/ledger.ts';
import { OBSERVE_COMMANDS } from './catalog/observe.ts';
import { POLICY_COMMANDS } from './catalog/policy.ts';
import { RUN_COMMANDS } from './catalog/run.ts';
import { scan } from './catalog/scan.ts';
import { SECRETS_COMMANDS } from './catalog/secrets.ts';
import { shim } from './catalog/shim.ts';
import { SURFACE_COMMANDS, SURFACE_GROUPS } from './catalog/surface.ts';
import { TRUST_COMMANDS, TRUST_GROUPS } from './catalog/trust.ts';
import manifest from './package.json' with { type: 'json' };
import type { Catalog } from './program.ts';

/** Everything `sub` can do. */
export const CATALOG: Catalog = {
  version: manifest.version,
  description: 'Subluminal: policy for the tool calls of AI agents.',
  groups: [
    {
      name: 'policy',
      summary: 'check, compile, compare and try policies',
      description: 'Everything that can be done with a policy without running an agent.',
    },
    {
      name: 'ledger',
      summary: 'check the ledger and thin it out',
      description: 'What can be done with the ledger as a whole.',
    },
    {
      name: 'export',
      summary: 'take runs out of the ledger as files',
      description: 'What the ledger holds, as files.',
    },
    {
      name: 'secrets',
      summary: 'keep the secrets of servers in an encrypted store',
      description:
        'The encrypted store of secrets, for bindings with `source = "vault"`. `sub secrets list` says what protects its key.',
    },
    ...APPROVAL_GROUPS,
    ...HINT_GROUPS,
    ...SURFACE_GROUPS,
    ...TRUST_GROUPS,
  ],
  commands: [
    shim,
    ...RUN_COMMANDS,
    ...ADOPT_COMMANDS,
    ...LEDGER_COMMANDS,
    ...OBSERVE_COMMANDS,
    ...POLICY_COMMANDS,
    scan,
    ...SECRETS_COMMANDS,
    ...APPROVAL_COMMANDS,
    ...HINT_COMMANDS,
    ...SURFACE_COMMANDS,
    ...TRUST_COMMANDS,
    ...ABOUT_COMMANDS,
  ],
};
