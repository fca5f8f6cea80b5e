import { failure, isFailure, parseEventLine } from '@subluminal/contracts';
import type { StoreReader } from '@subluminal/plane/ledger';
import { defineCommand, done, EXIT, type Outcome, orThrow } from '../input/command.ts';
import {
  eventRows,
  findLedger,
  findRun,
  freshen,
  LAST,
  type LedgerHome,
  withReader,
} from '../ledger/user-ledger.ts';
import { type Beginning, beginningOf, NOTHING } from '../tail/begin.ts';
import {
  readTailOptions,
  TAIL_OPTIONS,
  type TailFilter,
  type TailRequest,
} from '../tail/filter.ts';
import { daemonOf, followOn } from '../tail/follow.ts';
import { Screen } from '../tail/screen.ts';
import { untilSignal } from '../terminal/until-signal.ts';

interface TailStart extends Beginning {
  readonly filter: TailFilter;
}

export const command = defineCommand({
  description:
    'Prints a line for each call when it ends, or at once when it is refused, and one when a run starts or ends, a policy is reloaded or a breaker trips. Starts the ledger daemon when none is running, and continues when it restarts. Ctrl-C ends it. With --server, --tool, --decision, --path or --arg it shows only calls.',
  options: TAIL_OPTIONS,
  examples: [
    'sub tail',
    'sub tail --decision REFUSED --backlog 50',
    'sub tail --path src --args',
    'sub tail --run last --no-follow --json',
  ],
  exitCodes: {
    0: 'ended by Ctrl-C or SIGTERM; with --no-follow: everything is printed',
    2: 'wrong flags, no such run, or a ledger that cannot be read or started',
  },
  run: async ({ options }, io) => {
    const request = readTailOptions(options, Date.now());
    const home = orThrow(await findLedger());
    const follows = !options['no-follow'];
    if (!follows) await freshen(home, io);
    const start = await startOf(home, request, follows);
    return untilSignal(async ({ signal }) => {
      const { filter } = start;
      const { backlog } = request;
      const screen = new Screen({
        filter,
        backlog,
        json: options.json,
        allArgs: options.args,
        io,
        signal,
      });
      if (start.tipSeq > 0) await showPast(home, start, screen);
      if (!follows) await screen.rest();
      await screen.endPast();
      const ended = follows ? await follow(home, start, screen) : done(EXIT.fine);
      if (follows && !isFailure(ended)) await screen.rest();
      return ended;
    });
  },
});

/** Without a ledger, a tail that follows begins at nothing, except for `--run last`. */
async function startOf(
  home: LedgerHome,
  request: TailRequest,
  follows: boolean,
): Promise<TailStart> {
  const start = await withReader(home, (reader) => lookUp(reader, request, follows));
  const isNew = isFailure(start) && start.code === 'SUB_LEDGER_MISSING' && follows;
  return isNew && request.filter.runId !== LAST
    ? { ...NOTHING, filter: request.filter }
    : orThrow(start);
}

async function lookUp(
  reader: StoreReader,
  { filter, backlog }: TailRequest,
  follows: boolean,
): Promise<TailStart> {
  const { runId } = filter;
  // A run that is followed may not have begun yet.
  const isKnown = runId !== undefined && (runId === LAST || !follows);
  const found = orThrow(isKnown ? await findRun(reader, runId) : runId);
  const own = found === undefined ? filter : { ...filter, runId: found };
  return { ...(await beginningOf(reader, { filter: own, backlog })), filter: own };
}

/** Shows what the ledger holds already. */
async function showPast(home: LedgerHome, start: TailStart, screen: Screen): Promise<void> {
  const { afterSeq, tipSeq } = start;
  orThrow(
    await withReader(home, async (reader) => {
      for await (const { seq, line } of eventRows(reader, { afterSeq })) {
        if (seq > tipSeq || screen.isEnded) break;
        const parsed = line === null ? undefined : parseEventLine(line);
        if (parsed?.ok === true) await screen.show(parsed.event);
      }
    }),
  );
}

/** Shows new events until a signal ends it. */
async function follow(home: LedgerHome, { tipSeq }: TailStart, screen: Screen): Promise<Outcome> {
  const daemon = daemonOf(home);
  const trouble = await daemon.ensure();
  if (trouble !== undefined) {
    return failure('SUB_LEDGER_IO', trouble, 'Run `sub doctor` to see what is wrong.');
  }
  screen.sayThatItWaits();
  const { signal } = screen;
  const onTrouble = (message: string) => screen.warn(message);
  for await (const { event } of followOn(daemon, { after: tipSeq, signal, onTrouble })) {
    await screen.show(event);
  }
  return done(EXIT.fine);
}
