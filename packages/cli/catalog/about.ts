// What `sub` says about itself.
import { createCommand, flag, type Input } from '../command.ts';

const VERSION_ARGS = {};
const VERSION_OPTIONS = { json: flag('print one JSON document instead of text') };

const version = createCommand({
  path: ['version'],
  summary: 'print the version',
  description: 'Prints the version of sub, of the contracts it speaks, and of Node.',
  args: VERSION_ARGS,
  options: VERSION_OPTIONS,
  examples: ['sub version', 'sub version --json'],
  exitCodes: { 0: 'the version was printed', 2: 'wrong flags', 70: 'a defect in sub itself' },
  load: () => import('../commands/version.ts'),
});

type VersionInput = Input<typeof VERSION_ARGS, typeof VERSION_OPTIONS>;

export type { VersionInput };
export { version };
