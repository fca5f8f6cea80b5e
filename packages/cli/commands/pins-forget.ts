import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { nearest } from '@subluminal/core/policy';
import type { PinStore } from '@subluminal/core/surface';
import { savePins } from '@subluminal/plane/surface';
import type { PinsForgetInput } from '../catalog/surface.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import { agrees, cannotAsk, pinsFailure, readPins, surfaceHome } from '../surface/home.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

export async function run({ args, options }: PinsForgetInput, io: Io): Promise<Outcome> {
  const { server, tool: names } = args;
  const refused = cannotAsk(io, options.yes);
  if (refused !== undefined) return refused;
  const home = await surfaceHome();
  if (isFailure(home)) return home;
  const pins = readPins(home.paths);
  if (isFailure(pins)) return pins;
  const unknown = unknownIn(pins.store, server, names);
  if (unknown !== undefined) return unknown;
  const count = pins.store.servers.get(server)?.tools.size ?? 0;
  const what =
    names.length === 0
      ? `all of ${server} (${plural(count, 'tool')})`
      : `${names.join(', ')} of ${server}`;
  const question = `Forget ${harmless(what)}? What is listed next is then taken as known.`;
  const answer = await agrees(question, io, options.yes);
  if (isFailure(answer)) return answer;
  if (answer) {
    const saved = await savePins(home.paths.home, (store) => without(store, server, names));
    if (!saved.ok) return pinsFailure(saved);
  }
  const said = answer ? `Forgot ${what}.` : 'Nothing was forgotten.';
  const tools = names.length === 0 ? null : names;
  io.out.write(
    options.json ? jsonText({ server, tools, forgotten: answer }) : `${harmless(said)}\n`,
  );
  return done(EXIT.fine);
}

function unknownIn(store: PinStore, server: string, names: readonly string[]): Failure | undefined {
  const known = store.servers.get(server);
  if (known === undefined)
    return noPin(`of the server \`${server}\``, server, [...store.servers.keys()]);
  const unknown = names.find((name) => !known.tools.has(name));
  if (unknown === undefined) return undefined;
  return noPin(`of a tool \`${unknown}\``, unknown, [...known.tools.keys()]);
}

function noPin(of: string, word: string, known: readonly string[]): Failure {
  const guess = nearest(word, known);
  const fix = guess === undefined ? 'See `sub pins list`.' : `Did you mean ${guess}?`;
  return failure('SUB_USAGE', `there is no pin ${of}.`, fix);
}

function without(store: PinStore, server: string, names: readonly string[]): PinStore {
  const servers = new Map(store.servers);
  const known = servers.get(server);
  if (known === undefined) return store;
  const tools = new Map([...known.tools].filter(([name]) => !names.includes(name)));
  if (names.length === 0) servers.delete(server);
  else servers.set(server, { ...known, tools });
  return { servers };
}
