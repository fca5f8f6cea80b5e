import { resetPins } from '@subluminal/plane/surface';
import { badUsage, defineCommand, orThrow, printout } from '../input/command.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'For pins that cannot be read any more. Moves the file to `backups/` in the home; every tool is then pinned again when it is first seen.',
  options: { yes: 'Reset the pins; without this flag nothing changes' },
  examples: ['sub pins reset --yes'],
  exitCodes: {
    0: 'there are no pins any more',
    2: 'wrong flags, files that cannot be written, or started by an agent',
  },
  requires: 'person',
  run: async ({ options }) => {
    if (!options.yes) {
      const message = 'every tool of every server would be taken as it is listed next.';
      return badUsage(message, 'Add --yes if that is meant.');
    }
    const home = orThrow(await surfaceHome());
    const reset = orThrow(await resetPins(home.paths.home, Date.now()));
    const { backup } = reset;
    const said =
      backup === null ? 'There were no pins.' : `The pins start anew. The old ones: ${backup}`;
    return printout({ backup }, harmlessLine(said));
  },
});
