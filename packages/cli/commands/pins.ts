// `sub pins`: list, forget, sign and reset pins.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Pin, PinStore } from '@subluminal/core/surface';
import {
  openPins,
  openUntrustedPins,
  resetPins,
  savePins,
  signPins,
} from '@subluminal/plane/surface';
import {
  badUsage,
  defineCommand,
  optionalMany,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import { SERVER_DOC, YES_FLAG } from '../input/shared-options.ts';
import { type PinnedServers, pinsTable, timeOf } from '../surface/pins-report.ts';
import { openPinHome, surfaceHome } from '../surface/surface-home.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const list = defineCommand({
  description:
    'Lists every pinned tool: the hash of its definition, when it was first seen, and when a person accepted it. `sub pins` alone does the same.',
  options: { server: textOption('name', 'Only pins of this server') },
  examples: ['sub pins list', 'sub pins --server github', 'sub pins list --json'],
  exitCodes: { 0: 'the pins are listed', 2: 'wrong flags, or pins that cannot be read' },
  run: async ({ options }, io) => {
    const pins = await openPinHome();
    const wanted = options.server;
    const servers = [...pins.store.servers].filter(
      ([server]) => wanted === undefined || server === wanted,
    );
    const text = servers.length > 0 ? pinsTable(servers, io.out.columns) : nothingPinned(wanted);
    return printout(listDocument(servers), text);
  },
});

function nothingPinned(wanted: string | undefined): string {
  const of = wanted === undefined ? '' : ` of ${wanted}`;
  return harmlessLine(
    `Nothing${of} is pinned yet: tools are remembered when an agent first lists them.`,
  );
}

function listDocument(servers: PinnedServers) {
  const pinOf = ({ hash, seenAtMs, acceptedAtMs }: Pin) => ({
    hash,
    seen_at: timeOf(seenAtMs),
    accepted_at: acceptedAtMs === null ? null : timeOf(acceptedAtMs),
  });
  return {
    servers: servers.map(([server, { instructions, tools }]) => ({
      server,
      instructions: instructions === undefined ? null : pinOf(instructions),
      tools: [...tools].map(([name, pin]) => ({ name, ...pinOf(pin) })),
    })),
  };
}

export const forget = defineCommand({
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
    const pins = await openPinHome();
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

export const sign = defineCommand({
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
    const { home } = await surfaceHome();
    const opened = orThrow(openUntrustedPins(home));
    const { store } = opened;
    const count = [...store.servers.values()].reduce((sum, { tools }) => sum + tools.size, 0);
    if (store.servers.size === 0) {
      return printout({ signed: false, tools: 0 }, 'There are no pins.\n');
    }
    if (!isFailure(openPins(home))) {
      const said = `The pins are already signed: ${plural(count, 'tool')}.\n`;
      return printout({ signed: true, tools: count }, said);
    }
    orThrow(cannotAsk(io, options.yes));
    const output = options.json ? io.err : io.out;
    output.write(pinsTable([...store.servers], output.columns));
    const question = `Trust these ${plural(count, 'tool')} as they are pinned, and sign them?`;
    const answer = orThrow(await confirm(question, io, options.yes));
    if (answer) {
      const saved = await signPins(home, store);
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

export const reset = defineCommand({
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
    const { home } = await surfaceHome();
    const { backup } = orThrow(await resetPins(home, Date.now()));
    const said =
      backup === null ? 'There were no pins.' : `The pins start anew. The old ones: ${backup}`;
    return printout({ backup }, harmlessLine(said));
  },
});
