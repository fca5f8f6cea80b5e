import {
  defineCommand,
  EXIT,
  optional,
  optionalMany,
  orThrow,
  printout,
} from '../input/command.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  NO_PROBE,
  TIMEOUT_OPTION,
} from '../input/shared-options.ts';
import {
  comparisonLines,
  documentOf,
  type PinsView,
  pinCounts,
  type ServerListing,
  viewPins,
} from '../surface/pins-report.ts';
import { commandBehind, probeLive } from '../surface/probe-live.ts';
import { openPinHome } from '../surface/surface-home.ts';
import type { Colors } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, plural } from '../terminal/text.ts';

export const command = defineCommand({
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
    const pins = orThrow(await openPinHome());
    const { store } = pins;
    const { command: commandLine } = words;
    const servers = words.server === '' ? [...store.servers.keys()] : [words.server];
    const views: ProbedServer[] = [];
    const unseen: string[] = [];
    for (const server of servers) {
      const { client, timeout } = options;
      const live = await probeLive({ server, client, timeout, command: commandLine }, io);
      if (live.kind === 'live') {
        const { seen } = live;
        views.push({ server, seen, view: viewPins(store, server, seen) });
        continue;
      }
      // Of one server it is the answer; of several, the others are still looked at.
      const { outcome } = live;
      if (servers.length === 1 || outcome.kind !== 'failure') return outcome;
      reportFailure(outcome, io);
      unseen.push(server);
    }
    const hasChanged = views.some(({ view }) => view.hasChanged);
    const document = {
      servers: views.map(({ server, view, seen }) => documentOf(server, view, seen)),
      unseen,
    };
    const text = views.map((one) => textOf(one, commandLine, io.out.colors)).join('');
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
function textOf(
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
