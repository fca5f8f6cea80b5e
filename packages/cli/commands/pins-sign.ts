import { failure, isFailure } from '@subluminal/contracts';
import { openPins, openUntrustedPins, signPins } from '@subluminal/plane/surface';
import type { PinsSignInput } from '../catalog/surface.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { agrees, cannotAsk, pinsFailure, surfaceHome } from '../surface/home.ts';
import { pinsTable } from '../surface/pins-table.ts';
import type { Io } from '../terminal/io.ts';
import { jsonText, plural } from '../terminal/text.ts';

export async function run({ options }: PinsSignInput, io: Io): Promise<Outcome> {
  const home = await surfaceHome();
  if (isFailure(home)) return home;
  const opened = openUntrustedPins(home.paths.home);
  if (!opened.ok) return pinsFailure(opened);
  const { store } = opened;
  const count = [...store.servers.values()].reduce((sum, { tools }) => sum + tools.size, 0);
  const out = options.json ? io.err : io.out;
  if (store.servers.size === 0) {
    io.out.write(options.json ? jsonText({ signed: false, tools: 0 }) : 'There are no pins.\n');
    return done(EXIT.fine);
  }
  if (openPins(home.paths.home).ok) {
    const said = `The pins are already signed: ${plural(count, 'tool')}.\n`;
    io.out.write(options.json ? jsonText({ signed: true, tools: count }) : said);
    return done(EXIT.fine);
  }
  const refused = cannotAsk(io, options.yes);
  if (refused !== undefined) return refused;
  out.write(pinsTable([...store.servers]));
  const question = `Trust these ${plural(count, 'tool')} as they are pinned, and sign them?`;
  const answer = await agrees(question, io, options.yes);
  if (isFailure(answer)) return answer;
  if (answer) {
    const saved = await signPins(home.paths.home, store);
    if (saved === undefined) {
      const message = 'the pins have changed since they were shown; nothing was signed.';
      return failure('SUB_PINS_CHANGED', message, 'Run it again, and look at what it shows now.');
    }
    if (!saved.ok) return pinsFailure(saved);
  }
  const said = answer ? 'The pins are signed.' : 'Nothing was signed.';
  io.out.write(options.json ? jsonText({ signed: answer, tools: count }) : `${said}\n`);
  return done(EXIT.fine);
}
