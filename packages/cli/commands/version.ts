import { PACK_VERSION } from '@subluminal/contracts';
import { defineCommand, done, EXIT } from '../input/command.ts';
import { JSON_FLAG } from '../input/shared-options.ts';
import manifest from '../package.json' with { type: 'json' };
import { jsonText } from '../terminal/text.ts';

export const command = defineCommand({
  description: 'Prints the version of sub, of the contracts it implements, and of Node.',
  options: { json: JSON_FLAG },
  examples: ['sub version', 'sub version --json'],
  exitCodes: { 0: 'the version is printed', 2: 'wrong flags' },
  run: async ({ options }, io) => {
    const versions = {
      sub: manifest.version,
      contracts: PACK_VERSION,
      node: process.versions.node,
    };
    io.out.write(
      options.json
        ? jsonText(versions)
        : `sub ${versions.sub} (contracts ${versions.contracts}, node ${versions.node})\n`,
    );
    return done(EXIT.fine);
  },
});
