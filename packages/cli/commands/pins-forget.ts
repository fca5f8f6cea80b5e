import type { Failure } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import { savePins } from '@subluminal/plane/surface';
import { badUsage, defineCommand, optionalMany, orThrow, printout } from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import { SERVER_DOC, YES_FLAG } from '../input/shared-options.ts';
import { openPinHome } from '../surface/surface-home.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Removes pins. A forgotten tool is pinned again, as it is then, when an agent next lists the tools of the server.',
  args: {
    server: SERVER_DOC,
    tool: optionalMany('Names of tools (default: the whole server)'),
  },
  options: { yes: YES_FLAG },
  examples: ['sub pins forget github', 'sub pins forget github search_code --yes'],
  exitCodes: {
    0: 'the pins are removed, or you declined',
    2: 'wrong flags, no such pin, no terminal to ask on, pins that cannot be read or written, or started by an agent',
  },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const { server, tool: names } = args;
    orThrow(cannotAsk(io, options.yes));
    const pins = orThrow(await openPinHome());
    orThrow(unknownIn(pins.store, server, names));
    const count = pins.store.servers.get(server)?.tools.size ?? 0;
    const which = names.length === 0 ? `all of ${server} (${plural(count, 'tool')})` : undefined;
    const what = which ?? `${names.join(', ')} of ${server}`;
    const question = `Forget ${harmless(what)}? What is listed next is then taken as known.`;
    const answer = orThrow(await confirm(question, io, options.yes));
    if (answer) {
      orThrow(await savePins(pins.home, (store) => without(store, server, names)));
    }
    const said = answer ? `Forgot ${what}.` : 'Nothing was forgotten.';
    const tools = names.length === 0 ? null : names;
    return printout({ server, tools, forgotten: answer }, harmlessLine(said));
  },
});

function unknownIn(store: PinStore, server: string, names: readonly string[]): Failure | undefined {
  const known = store.servers.get(server);
  if (known === undefined)
    return noPin(`of the server \`${server}\``, server, [...store.servers.keys()]);
  const unknown = names.find((name) => !known.tools.has(name));
  if (unknown === undefined) return undefined;
  return noPin(`of a tool \`${unknown}\``, unknown, [...known.tools.keys()]);
}

function noPin(of: string, word: string, known: readonly string[]): Failure {
  return badUsage(`there is no pin ${of}.`, didYouMean(word, known, 'See `sub pins list`.'));
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
