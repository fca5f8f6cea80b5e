import { version } from './catalog/about.ts';
import { POLICY_COMMANDS } from './catalog/policy.ts';
import manifest from './package.json' with { type: 'json' };
import type { Catalog } from './program.ts';

/** Everything `sub` can do. */
const CATALOG: Catalog = {
  version: manifest.version,
  description: 'Subluminal: policy for the tool calls of AI agents.',
  groups: [
    {
      name: 'policy',
      summary: 'check, compile, compare and try policies',
      description: 'Everything that can be done with a policy without running an agent.',
    },
  ],
  commands: [...POLICY_COMMANDS, version],
};

export { CATALOG };
