import { once } from 'node:events';
import { harmlessJson } from '@subluminal/core/visible';
import type { Desk, Ended, Entry } from '@subluminal/plane/approvals';
import { isAskerGone, openOwnDesk, ownVerdict, undecidedFailure } from '../approvals/desk.ts';
import { endedText, entryJson, requestText } from '../approvals/render-approval.ts';
import { WatchView } from '../approvals/watch-view.ts';
import { defineCommand, done, EXIT } from '../input/command.ts';
import { mayAct } from '../input/require-person.ts';
import type { Io } from '../terminal/io.ts';
import { untilSignal } from '../terminal/until-signal.ts';

/** Shows requests as they arrive and end. */
interface Watcher {
  onRequest(entry: Entry): void;
  onEnd(ended: Ended): void;
}

export const command = defineCommand({
  description:
    'Shows each pending call in full, one after the other. On a terminal a key decides: a approves, r rejects, g grants for longer, q quits. Elsewhere, and with --json, it only prints. Ctrl-C ends it.',
  options: { json: 'Print one JSON object per line: one per request, and one per end' },
  examples: ['sub approvals watch', 'sub approvals watch --json'],
  exitCodes: {
    0: 'ended by q, Ctrl-C or SIGTERM',
    2: 'wrong flags, or approvals that cannot be read',
  },
  run: async ({ options }, io) => {
    const desk = openOwnDesk(io);
    const isPerson = io.stdinIsTerminal && io.out.isTerminal && !options.json;
    await untilSignal(async (stop) => {
      const ended = once(stop.signal, 'abort');
      const terminal = isPerson ? withKeys(desk, io, () => stop.abort()) : undefined;
      const watcher = terminal?.view ?? (options.json ? jsonLines(io) : textLines(desk, io));
      const following = desk.queue.follow(watcher);
      await ended;
      following.stop();
      terminal?.close();
    });
    return done(EXIT.fine);
  },
});

function rendered(desk: Desk, io: Io): (entry: Entry) => string {
  const { colors } = io.out;
  return (entry) =>
    requestText(entry, { nowMs: desk.ports.nowMs(), isAskerGone: isAskerGone(entry), colors });
}

function withKeys(desk: Desk, io: Io, end: () => void) {
  const { colors, write } = io.out;
  const view = new WatchView({
    write,
    colors,
    end,
    nowMs: () => desk.ports.nowMs(),
    render: rendered(desk, io),
    forbidden: mayAct('terminal', io)?.message,
    decide: ({ request, sha256 }, verdict) => {
      const decided = desk.decide(request.id, { ...ownVerdict(), ...verdict, sha256 });
      if (decided.kind === 'already') return undefined;
      if (decided.kind !== 'ended') return undecidedFailure(decided).message;
      return decided.lost === null
        ? undefined
        : `It is approved, but nothing lasts: ${decided.lost}`;
    },
  });
  const { stdin } = process;
  const onData = (bytes: Buffer) => view.key(bytes.toString('utf8'));
  stdin.setRawMode(true);
  stdin.on('data', onData);
  stdin.resume();
  view.begin();
  const close = () => {
    stdin.off('data', onData);
    stdin.setRawMode(false);
    // An input that is still read would keep the process.
    stdin.pause();
  };
  return { view, close };
}

function textLines(desk: Desk, io: Io): Watcher {
  const render = rendered(desk, io);
  return {
    onRequest: (entry) => io.out.write(render(entry)),
    onEnd: (ended) => io.out.write(endedText(ended)),
  };
}

function jsonLines(io: Io): Watcher {
  const line = (value: object) => io.out.write(`${harmlessJson(JSON.stringify(value))}\n`);
  return {
    onRequest: (entry) => line({ event: 'request', ...entryJson(entry, isAskerGone(entry)) }),
    onEnd: (ended) => {
      if (ended.kind === 'request') line({ event: 'end', ...entryJson(ended, isAskerGone(ended)) });
      else line({ event: 'end', id: ended.id, state: ended.kind });
    },
  };
}
