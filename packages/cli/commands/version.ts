import { PACK_VERSION } from '@subluminal/contracts';
import { defineCommand, printout } from '../input/command.ts';
import manifest from '../package.json' with { type: 'json' };

export const command = defineCommand({
  description: 'Prints the version of sub, of the contracts it implements, and of Node.',
  examples: ['sub version', 'sub version --json'],
  exitCodes: { 0: 'the version is printed', 2: 'wrong flags' },
  run: async () => {
    const versions = {
      sub: manifest.version,
      contracts: PACK_VERSION,
      node: process.versions.node,
    };
    return printout(
      versions,
      `sub ${versions.sub} (contracts ${versions.contracts}, node ${versions.node})\n`,
    );
  },
});
