import { isFailure } from '@subluminal/contracts';
import { resetPins } from '@subluminal/plane/surface';
import { badUsage, defineCommand, flag, printout } from '../input/command.ts';
import { JSON_FLAG } from '../input/shared-options.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'For pins that cannot be read any more. Moves the file to `backups/` in the home; every tool is then pinned again when it is first seen.',
  options: { yes: flag('Reset the pins; without this flag nothing changes'), json: JSON_FLAG },
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
    const home = await surfaceHome();
    if (isFailure(home)) return home;
    const reset = await resetPins(home.paths.home, Date.now());
    if (isFailure(reset)) return reset;
    const { backup } = reset;
    const said =
      backup === null ? 'There were no pins.' : `The pins start anew. The old ones: ${backup}`;
    return printout({ backup }, harmlessLine(said));
  },
});
