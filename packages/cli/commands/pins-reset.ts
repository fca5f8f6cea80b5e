import { failure, isFailure } from '@subluminal/contracts';
import { resetPins } from '@subluminal/plane/surface';
import type { PinsResetInput } from '../catalog/surface.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { pinsFailure, surfaceHome } from '../surface/home.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export async function run({ options }: PinsResetInput, io: Io): Promise<Outcome> {
  if (!options.yes) {
    const message = 'every tool of every server would be taken as it is listed next.';
    return failure('SUB_USAGE', message, 'Add --yes if that is meant.');
  }
  const home = await surfaceHome();
  if (isFailure(home)) return home;
  const reset = await resetPins(home.paths.home, Date.now());
  if (!reset.ok) return pinsFailure(reset);
  const { backup } = reset;
  const said =
    backup === null ? 'There were no pins.' : `The pins start anew. The old ones: ${backup}`;
  io.out.write(options.json ? jsonText({ backup }) : `${harmless(said)}\n`);
  return done(EXIT.fine);
}
