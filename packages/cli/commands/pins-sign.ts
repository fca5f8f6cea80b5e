import { failure, isFailure } from '@subluminal/contracts';
import { openPins, openUntrustedPins, signPins } from '@subluminal/plane/surface';
import { defineCommand, orThrow, printout } from '../input/command.ts';
import { YES_FLAG } from '../input/shared-options.ts';
import { pinsTable } from '../surface/pins-report.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import { plural } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'For pins of an earlier version, which did not sign them, or pins whose key was replaced. Lists what is pinned, asks, and signs it with the key of the home, so that it is trusted from then on.',
  options: { yes: YES_FLAG },
  examples: ['sub pins sign'],
  exitCodes: {
    0: 'the pins are signed, there are none, or you declined',
    2: 'wrong flags, no terminal to ask on, pins that cannot be read or written, or started by an agent',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const home = orThrow(await surfaceHome());
    const opened = orThrow(openUntrustedPins(home.paths.home));
    const { store } = opened;
    const count = [...store.servers.values()].reduce((sum, { tools }) => sum + tools.size, 0);
    if (store.servers.size === 0) {
      return printout({ signed: false, tools: 0 }, 'There are no pins.\n');
    }
    if (!isFailure(openPins(home.paths.home))) {
      const said = `The pins are already signed: ${plural(count, 'tool')}.\n`;
      return printout({ signed: true, tools: count }, said);
    }
    orThrow(cannotAsk(io, options.yes));
    (options.json ? io.err : io.out).write(pinsTable([...store.servers]));
    const question = `Trust these ${plural(count, 'tool')} as they are pinned, and sign them?`;
    const answer = orThrow(await confirm(question, io, options.yes));
    if (answer) {
      const saved = await signPins(home.paths.home, store);
      if (saved === undefined) {
        const message = 'the pins have changed since they were shown; nothing was signed.';
        return failure('SUB_PINS_CHANGED', message, 'Run it again, and look at what it shows now.');
      }
      if (isFailure(saved)) return saved;
    }
    const said = answer ? 'The pins are signed.' : 'Nothing was signed.';
    return printout({ signed: answer, tools: count }, `${said}\n`);
  },
});
