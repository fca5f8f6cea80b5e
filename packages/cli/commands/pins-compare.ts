// `sub pins diff` and `sub pins accept`: a running server against its pins.
import { type Failure, failure } from '@subluminal/contracts';
import { acceptPins, type PinStore, type ServerPins, writePins } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { listingOf } from '@subluminal/plane/probe';
import { savePins } from '@subluminal/plane/surface';
import {
  badUsage,
  defineCommand,
  EXIT,
  type OptionValues,
  type Outcome,
  optional,
  optionalMany,
  orThrow,
  printout,
} from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  NO_PROBE,
  SERVER_DOC,
  TIMEOUT_OPTION,
  YES_FLAG,
} from '../input/shared-options.ts';
import {
  comparisonLines,
  documentOf,
  hashOf,
  type PinsView,
  pinCounts,
  type ServerListing,
  type ToolChange,
  viewPins,
} from '../surface/pins-report.ts';
import { commandBehind, probeLive, splitWords } from '../surface/probe-live.ts';
import { openPinHome } from '../surface/surface-home.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import type { Colors, Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const diff = defineCommand({
  description:
    'Starts the server as its client would, and compares its tools and instructions with the pins: what is new, gone, renamed or changed, field by field. It accepts nothing.',
  args: {
    server: optional('The name of the server (default: every pinned server)'),
    'command-line': optionalMany(COMMAND_LINE_DOC),
  },
  options: { client: CLIENT_OPTION, timeout: TIMEOUT_OPTION },
  examples: ['sub pins diff', 'sub pins diff github', 'sub pins diff files -- node server.js'],
  exitCodes: {
    0: 'everything is as pinned, or nothing is pinned yet',
    1: 'something has changed',
    2: NO_PROBE,
  },
  run: async ({ args, options }, io) => {
    const words = orThrow(commandBehind(args.server, args['command-line']));
    const pins = await openPinHome();
    const { store } = pins;
    const { command: commandLine } = words;
    const servers = words.server === '' ? [...store.servers.keys()] : [words.server];
    const views: ProbedServer[] = [];
    const unseen: string[] = [];
    for (const server of servers) {
      const { client, timeout } = options;
      const live = await probeLive({ server, client, timeout, command: commandLine }, io);
      if (live.kind === 'seen') {
        const { seen } = live;
        views.push({ server, seen, view: viewPins(store, server, seen) });
        continue;
      }
      // Of one server it is the outcome; of several, the others are still compared.
      if (servers.length === 1 || live.kind !== 'failure') return live;
      reportFailure(live, io);
      unseen.push(server);
    }
    const hasChanged = views.some(({ view }) => view.hasChanged);
    const document = {
      servers: views.map(({ server, view, seen }) => documentOf(server, view, seen)),
      unseen,
    };
    const text = views.map((one) => diffText(one, commandLine, io.out.colors)).join('');
    const exitCode = hasChanged ? EXIT.findings : EXIT.fine;
    return printout(
      document,
      servers.length === 0 ? 'Nothing is pinned yet.\n' : text,
      unseen.length > 0 ? EXIT.usage : exitCode,
    );
  },
});

interface ProbedServer {
  readonly server: string;
  readonly seen: ServerListing;
  readonly view: PinsView;
}

/** `commandLine` stood behind `--`: the next command needs it as well. */
function diffText(
  { server, seen, view }: ProbedServer,
  commandLine: readonly string[],
  colors: Colors,
): string {
  const name = harmless(server);
  const tools = plural(seen.tools.length, 'tool');
  if (view.isFirstSight) {
    return `${name}: nothing is pinned yet; its ${tools} would be remembered on first sight.\n`;
  }
  if (!view.hasChanged) return `${name}: ${tools}, all as pinned.\n`;
  const lines = comparisonLines(view.comparison, { seen, colors, isFull: false });
  const isOther = typeof view.comparison.instructions !== 'string';
  const behind = commandLine.length === 0 ? [] : ['--', ...commandLine];
  const words = [server, '--all', ...(isOther ? ['--instructions'] : []), ...behind];
  const next = `Accept it, if it is meant: sub pins accept ${words.map(shellWord).join(' ')}`;
  return `${[`${name}: ${pinCounts(view.comparison)}`, ...lines, next].join('\n')}\n`;
}

/** As a shell takes it for one word. */
function shellWord(word: string): string {
  const shown = harmless(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

const ACCEPT_OPTIONS = {
  all: 'Accept every tool that is new, gone or changed',
  instructions: 'Accept the instructions of the server as well',
  client: CLIENT_OPTION,
  timeout: TIMEOUT_OPTION,
  yes: YES_FLAG,
};
type AcceptOptions = OptionValues<typeof ACCEPT_OPTIONS>;

export const accept = defineCommand({
  description:
    'Starts the server, shows what has changed, asks, and pins exactly what it showed; it does not start the server again in between. It cannot be used inside a governed run: an agent may not accept for itself.',
  args: {
    server: SERVER_DOC,
    tool: optionalMany('Names of tools; behind `--`, the command that starts the server'),
  },
  options: ACCEPT_OPTIONS,
  examples: [
    'sub pins accept github search_code',
    'sub pins accept github --all --instructions',
    'sub pins accept files --all --yes -- node server.js',
  ],
  exitCodes: {
    0: 'the change is accepted, there was nothing to accept, or you declined',
    1: 'a tool is listed twice or is too large, and cannot be accepted',
    2: NO_PROBE,
  },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const words = orThrow(splitWords(args.server, args.tool));
    const { server, before: tools } = words;
    orThrow(unclear(tools, options) ?? cannotAsk(io, options.yes));
    const pins = await openPinHome();
    const { client, timeout } = options;
    const live = await probeLive({ server, client, timeout, command: words.command }, io);
    if (live.kind !== 'seen') return live;
    const { seen } = live;
    const view = viewPins(pins.store, server, seen);
    const chosen = orThrow(chosenIn(view, tools, options));
    return acceptChosen(chosen, { server, seen, view, options, io, home: pins.home });
  },
});

function unclear(
  tools: readonly string[],
  { all, instructions }: AcceptOptions,
): Failure | undefined {
  if (all && tools.length > 0) {
    return badUsage('--all is every tool already.', 'Leave the names out.');
  }
  if (all || instructions || tools.length > 0) return undefined;
  const fix =
    'Name tools, or give --all or --instructions; `sub pins diff` shows what has changed.';
  return badUsage('no tool was named.', fix);
}

interface ChosenChanges {
  readonly kind: 'chosen';
  readonly changes: readonly ToolChange[];
  /** There twice, or too large: nobody can say what would be accepted. */
  readonly unusable: readonly ToolChange[];
  readonly instructions: boolean;
}

function chosenIn(
  { comparison }: PinsView,
  tools: readonly string[],
  options: AcceptOptions,
): ChosenChanges | Failure {
  const names = comparison.tools.map(({ name }) => name);
  const unknown = tools.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const fix = didYouMean(unknown, names, 'See `sub pins diff`.');
    return badUsage(`the server has no tool \`${unknown}\`, and none is pinned.`, fix);
  }
  const wanted = comparison.tools.filter(({ name }) => options.all || tools.includes(name));
  const isUnusable = ({ kind }: ToolChange) => kind === 'ambiguous' || kind === 'unpinnable';
  const said = comparison.instructions;
  if (options.instructions && (said === 'unknown' || said === 'unpinnable')) {
    const message = 'the instructions of the server are not known, or too large to be.';
    return badUsage(message, 'Leave --instructions out.');
  }
  return {
    kind: 'chosen',
    changes: wanted.filter((change) => change.kind !== 'same' && !isUnusable(change)),
    unusable: wanted.filter(isUnusable),
    instructions: options.instructions && said !== 'same',
  };
}

interface Accepting {
  readonly server: string;
  readonly seen: ServerListing;
  readonly view: PinsView;
  readonly options: AcceptOptions;
  readonly io: Io;
  readonly home: string;
}

async function acceptChosen(chosen: ChosenChanges, accepting: Accepting): Promise<Outcome> {
  const { server, seen, io, options } = accepting;
  const { changes, unusable } = chosen;
  const exitCode = unusable.length > 0 ? EXIT.findings : EXIT.fine;
  const lines = shownLines(chosen, accepting);
  if (lines.length > 0) (options.json ? io.err : io.out).write(`${lines.join('\n')}\n`);
  const none = { server, accepted: [], instructions: false };
  const count = changes.length + Number(chosen.instructions);
  if (count === 0) {
    return printout(none, 'Nothing was accepted: nothing of it has changed.\n', exitCode);
  }
  const question = `Accept ${plural(count, 'change')} of ${harmless(server)}?`;
  const answer = orThrow(await confirm(question, io, options.yes));
  if (!answer) return printout(none, 'Nothing was accepted.\n');
  orThrow(await pin(chosen, accepting));
  const accepted = changes.map(({ name, kind }) => ({ name, kind, hash: hashOf(seen, name) }));
  const document = { server, accepted, instructions: options.instructions };
  const text = harmlessLine(`Accepted ${plural(count, 'change')} of ${server}.`);
  return printout(document, text, exitCode);
}

function shownLines({ changes, unusable, instructions }: ChosenChanges, accepting: Accepting) {
  const { seen, view, options, io } = accepting;
  const { colors } = options.json ? io.err : io.out;
  const tools = [...changes, ...unusable];
  const names = new Set(tools.map(({ name }) => name));
  const { renamed, instructions: said } = view.comparison;
  const shown = {
    tools,
    renamed: renamed.filter(({ from, to }) => names.has(from) || names.has(to)),
    instructions: instructions ? said : ('same' as const),
  };
  return comparisonLines(shown, { seen, colors, isFull: true });
}

/** Pins what was shown: the very listing, and only while the pins are still those it was held against. */
async function pin(
  { changes, instructions }: ChosenChanges,
  { server, seen, view, home }: Accepting,
): Promise<Failure | undefined> {
  const tools = changes.map(({ name }) => name);
  let isOther = false;
  orThrow(
    await savePins(home, (store: PinStore) => {
      isOther = pinsText(store.servers.get(server)) !== pinsText(view.known);
      if (isOther) return store;
      const accepting = { server, tools, instructions, sha256, nowMs: Date.now() };
      return acceptPins(store, listingOf(seen), accepting);
    }),
  );
  if (!isOther) return undefined;
  const message = `the pins of ${server} have changed since they were shown; nothing was accepted.`;
  return failure('SUB_PINS_CHANGED', message, 'Run it again, and look at what it shows now.');
}

function pinsText(pins: ServerPins | undefined): string {
  return pins === undefined ? '' : writePins({ servers: new Map([['', pins]]) });
}
