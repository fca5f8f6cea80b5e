import { isFailure } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import {
  defineCommand,
  done,
  EXIT,
  type Outcome,
  optional,
  optionalMany,
} from '../input/command.ts';
import {
  CLIENT_OPTION,
  COMMAND_LINE_DOC,
  JSON_FLAG,
  NO_PROBE,
  TIMEOUT_OPTION,
} from '../input/shared-options.ts';
import {
  comparisonLines,
  countWords,
  documentOf,
  type PinsView,
  type ServerListing,
  viewPins,
} from '../surface/pins-report.ts';
import { commandBehind, probeLive } from '../surface/probe-live.ts';
import { readPins, surfaceHome } from '../surface/surface-home.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Starts the server as its client would, and compares its tools and instructions with the pins: what is new, gone, renamed or changed, field by field. It accepts nothing.',
  args: {
    server: optional('The name of the server (default: every pinned server)'),
    'command-line': optionalMany(COMMAND_LINE_DOC),
  },
  options: { client: CLIENT_OPTION, timeout: TIMEOUT_OPTION, json: JSON_FLAG },
  examples: ['sub pins diff', 'sub pins diff github', 'sub pins diff files -- node server.js'],
  exitCodes: {
    0: 'everything is as pinned, or nothing is pinned yet',
    1: 'something has changed',
    2: NO_PROBE,
  },
  run: async ({ args, options }, io) => {
    const words = commandBehind(args.server, args['command-line']);
    if (isFailure(words)) return words;
    const home = await surfaceHome();
    if (isFailure(home)) return home;
    const pins = readPins(home.paths);
    if (isFailure(pins)) return pins;
    const { store } = pins;
    const servers = words.server === '' ? [...store.servers.keys()] : [words.server];
    const looks: ProbedServer[] = [];
    for (const server of servers) {
      const { client, timeout } = options;
      const live = await probeLive({ server, client, timeout, command: words.command }, io);
      if (live.kind === 'ended') {
        // Of one server it is the answer; of several, the others are still looked at.
        const isOnly = servers.length === 1 || live.outcome.kind === 'done';
        if (isOnly) return live.outcome;
        if (live.outcome.kind === 'failure') reportFailure(live.outcome, io, false);
        looks.push({ server, seen: undefined });
      } else looks.push({ server, seen: live.seen });
    }
    return printDiffs(looks, { store, io, isJson: options.json, commandLine: words.command });
  },
});

interface ProbedServer {
  readonly server: string;
  /** Undefined when it could not be looked at. */
  readonly seen: ServerListing | undefined;
}

interface DiffContext {
  readonly store: PinStore;
  readonly io: Io;
  readonly isJson: boolean;
  /** What stood behind `--`: the next command needs it as well. */
  readonly commandLine: readonly string[];
}

function printDiffs(
  looks: readonly ProbedServer[],
  { store, io, isJson, commandLine }: DiffContext,
): Outcome {
  const views = looks.flatMap(({ server, seen }) =>
    seen === undefined ? [] : [{ server, seen, view: viewPins(store, server, seen) }],
  );
  if (isJson) {
    const unseen = looks.filter(({ seen }) => seen === undefined).map(({ server }) => server);
    const servers = views.map(({ server, view, seen }) => documentOf(server, view, seen));
    io.out.write(jsonText({ servers, unseen }));
  } else if (looks.length === 0) io.out.write('Nothing is pinned yet.\n');
  else {
    for (const { server, seen, view } of views) {
      io.out.write(textOf(server, seen, { view, io, commandLine }));
    }
  }
  if (views.length < looks.length) return done(EXIT.usage);
  return done(views.some(({ view }) => view.hasChanged) ? EXIT.findings : EXIT.fine);
}

interface DiffView {
  readonly view: PinsView;
  readonly io: Io;
  readonly commandLine: readonly string[];
}

function textOf(server: string, seen: ServerListing, { view, io, commandLine }: DiffView): string {
  const name = harmless(server);
  const tools = plural(seen.tools.length, 'tool');
  if (view.isFirstSight) {
    return `${name}: nothing is pinned yet; its ${tools} would be remembered on first sight.\n`;
  }
  if (!view.hasChanged) return `${name}: ${tools}, all as pinned.\n`;
  const { colors } = io.out;
  const lines = comparisonLines(view.comparison, { seen, colors, isFull: false });
  const isOther = typeof view.comparison.instructions !== 'string';
  const behind = commandLine.length === 0 ? [] : ['--', ...commandLine];
  const words = [server, '--all', ...(isOther ? ['--instructions'] : []), ...behind];
  const next = `Accept it, if it is meant: sub pins accept ${words.map(shellWord).join(' ')}`;
  return `${[`${name}: ${countWords(view.comparison)}`, ...lines, next].join('\n')}\n`;
}

/** As a shell takes it for one word. */
function shellWord(word: string): string {
  const shown = harmless(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
