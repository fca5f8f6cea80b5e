// `sub pins diff` and `sub pins accept`: a running server against its pins.
import type { Failure } from '@subluminal/contracts';
import { shellWord } from '@subluminal/core/visible';
import {
  badUsage,
  defineCommand,
  EXIT,
  type OptionValues,
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
  REMOTE_OPTIONS,
  SERVER_DOC,
  TIMEOUT_OPTION,
  YES_FLAG,
} from '../input/shared-options.ts';
import { isAcceptable, pinListing } from '../surface/pin-listing.ts';
import {
  type Comparison,
  comparisonLines,
  documentOf,
  hashOf,
  type PinsView,
  pinCounts,
  type ServerListing,
  viewPins,
} from '../surface/pins-report.ts';
import { commandBehind, probeLive, splitWords } from '../surface/probe-live.ts';
import { openPinHome } from '../surface/surface-home.ts';
import { cannotAsk, confirm } from '../terminal/confirm.ts';
import type { Colors } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const diff = defineCommand({
  description:
    'Starts the server as its client would, or reaches it by its address, and compares its tools and instructions with the pins: what is new, gone, renamed or changed, field by field. It accepts nothing.',
  args: {
    server: optional('The name of the server (default: every pinned server)'),
    'command-line': optionalMany(COMMAND_LINE_DOC),
  },
  options: { client: CLIENT_OPTION, ...REMOTE_OPTIONS, timeout: TIMEOUT_OPTION },
  examples: [
    'sub pins diff',
    'sub pins diff github',
    'sub pins diff files -- node server.js',
    'sub pins diff linear --url https://mcp.linear.app/mcp',
  ],
  exitCodes: {
    0: 'everything is as pinned, or nothing is pinned yet',
    1: 'something has changed',
    2: NO_PROBE,
  },
  run: async ({ args, options }, io) => {
    const given = { server: args.server, words: args['command-line'], options };
    const words = orThrow(commandBehind(given));
    const { start, again } = words;
    const { client, timeout } = options;
    const { store } = await openPinHome();
    const servers = words.server === '' ? [...store.servers.keys()] : [words.server];
    const views: ProbedServer[] = [];
    const unseen: string[] = [];
    for (const server of servers) {
      const live = await probeLive({ server, client, timeout, start }, io);
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
    const exitCode = hasChanged ? EXIT.findings : EXIT.fine;
    const text = diffsText(views, again, io.out.colors);
    const shown = servers.length === 0 ? 'Nothing is pinned yet.\n' : text;
    return printout(document, shown, unseen.length > 0 ? EXIT.usage : exitCode);
  },
});

interface ProbedServer {
  readonly server: string;
  readonly seen: ServerListing;
  readonly view: PinsView;
}

/** Servers that are all as pinned share one line. */
function diffsText(
  views: readonly ProbedServer[],
  again: readonly string[],
  colors: Colors,
): string {
  const same = views.filter(({ view }) => !view.hasChanged && !view.isFirstSight);
  if (same.length < 2) return views.map((one) => diffText(one, again, colors)).join('');
  const others = views.filter((one) => !same.includes(one));
  const tools = same.reduce((sum, { seen }) => sum + seen.tools.length, 0);
  const names = same.map(({ server }) => server).join(', ');
  const rest = harmlessLine(`${names}: ${plural(tools, 'tool')}, all as pinned.`);
  return `${others.map((one) => diffText(one, again, colors)).join('')}${rest}`;
}

/** `again` says how the server is reached: the next command needs it as well. */
function diffText(
  { server, seen, view }: ProbedServer,
  again: readonly string[],
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
  const words = [server, '--all', ...(isOther ? ['--instructions'] : []), ...again];
  const next = `Accept it, if it is meant: sub pins accept ${words.map(shellWord).join(' ')}`;
  return `${[`${name}: ${pinCounts(view.comparison)}`, ...lines, next].join('\n')}\n`;
}

const ACCEPT_OPTIONS = {
  all: 'Accept every tool that is new, gone or changed',
  instructions: 'Accept the instructions of the server as well',
  client: CLIENT_OPTION,
  ...REMOTE_OPTIONS,
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
    const { client, timeout, json } = options;
    const given = { server: args.server, words: args.tool, options };
    const { server, before, start } = orThrow(splitWords(given));
    orThrow(unclear(before, options) ?? cannotAsk(io, options.yes));
    const { home, store } = await openPinHome();
    const live = await probeLive({ server, client, timeout, start }, io);
    if (live.kind !== 'seen') return live;
    const { seen } = live;
    const { known, comparison } = viewPins(store, server, seen);
    const chosen = orThrow(chosenIn(comparison, before, options));
    const { colors, write } = json ? io.err : io.out;
    const lines = comparisonLines(chosen, { seen, colors, isFull: true });
    if (lines.length > 0) write(`${lines.join('\n')}\n`);
    const changes = chosen.tools.filter(isAcceptable);
    const exitCode = changes.length < chosen.tools.length ? EXIT.findings : EXIT.fine;
    const instructions = chosen.instructions !== 'same';
    const count = changes.length + Number(instructions);
    const none = { server, accepted: [], instructions: false };
    const same = comparison.tools.filter(
      ({ name, kind }) => kind === 'same' && (options.all || before.includes(name)),
    );
    const tools = [...changes, ...same].map(({ name }) => name);
    const request = { home, server, tools, instructions: options.instructions, known, seen };
    if (count === 0) {
      // A change that the server has taken back is on record until a person has looked.
      if (tools.length > 0 || options.instructions) orThrow(await pinListing(request));
      return printout(none, 'Nothing of it has changed: it stays pinned as it is.\n', exitCode);
    }
    const words = `${plural(count, 'change')} of ${server}`;
    const question = `Accept ${harmless(words)}?`;
    if (!orThrow(await confirm(question, io, options.yes))) {
      return printout(none, 'Nothing was accepted.\n');
    }
    orThrow(await pinListing(request));
    const accepted = changes.map(({ name, kind }) => ({ name, kind, hash: hashOf(seen, name) }));
    const document = { server, accepted, instructions: options.instructions };
    return printout(document, harmlessLine(`Accepted ${words}.`), exitCode);
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

/** The changes that the arguments name, those that cannot be accepted last. */
function chosenIn(
  { tools, renamed, instructions }: Comparison,
  names: readonly string[],
  options: AcceptOptions,
): Comparison | Failure {
  const known = tools.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const fix = didYouMean(unknown, known, 'See `sub pins diff`.');
    return badUsage(`the server has no tool \`${unknown}\`, and none is pinned.`, fix);
  }
  if (options.instructions && (instructions === 'unknown' || instructions === 'unpinnable')) {
    const message = 'the instructions of the server are not known, or too large to be.';
    return badUsage(message, 'Leave --instructions out.');
  }
  const isNamed = (name: string) => options.all || names.includes(name);
  const changed = tools.filter(({ name, kind }) => isNamed(name) && kind !== 'same');
  const isShown = (name: string) => changed.some((one) => one.name === name);
  return {
    tools: [...changed.filter(isAcceptable), ...changed.filter((one) => !isAcceptable(one))],
    renamed: renamed.filter(({ from, to }) => isShown(from) || isShown(to)),
    instructions: options.instructions ? instructions : 'same',
  };
}
