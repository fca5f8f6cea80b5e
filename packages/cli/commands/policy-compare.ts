// `sub policy diff` and `sub policy replay`: what another policy does differently.
import {
  type Event,
  type Failure,
  failure,
  type ParsedEvent,
  parseEventLine,
} from '@subluminal/contracts';
import {
  diffBundles,
  formatDiff,
  formatReplay,
  type PolicyDiff,
  type ReplayResult,
  replay as replayEvents,
} from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { choice, defineCommand, EXIT, type Outcome, orThrow, printout } from '../input/command.ts';
import { type FileBytes, readFileBytes, stdinTwice } from '../input/read-file.ts';
import { BAD_POLICY, COMPARE_OPTION } from '../input/shared-options.ts';
import { notEvents } from '../policy/file-kind.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { paintedBySign } from '../terminal/text.ts';

export const diff = defineCommand({
  description:
    'Compares what two policies do, not how they are written. Critical: a call that was stopped may now pass.',
  args: {
    old: 'The old bundle or snapshot',
    new: 'The new bundle or snapshot',
  },
  options: {
    'fail-on': choice(['critical', 'warn', 'any'], 'The least change that fails (default: warn)'),
  },
  examples: [
    'sub policy diff main.yaml branch.yaml',
    'git show main:policy.yaml | sub policy diff - policy.yaml --fail-on any',
  ],
  exitCodes: {
    0: 'no change reaches the threshold',
    1: 'a change reaches the threshold of --fail-on',
    2: BAD_POLICY,
  },
  run: async ({ args, options }, io) => {
    orThrow(stdinTwice([args.old, args.new]));
    const before = orThrow(await loadPolicy(args.old, { io }));
    const after = orThrow(await loadPolicy(args.new, { io }));
    const result = diffBundles(before.snapshot.document, after.snapshot.document);
    const text = `${paintedBySign(formatDiff(result), io.out.colors)}\n`;
    const isReached = reaches(result, options['fail-on'] ?? 'warn');
    return printout(result, text, isReached ? EXIT.findings : EXIT.fine);
  },
});

/** A change that may loosen fails too: an attacker would write one that cannot be judged. */
function reaches({ summary, same }: PolicyDiff, threshold: 'critical' | 'warn' | 'any'): boolean {
  if (threshold === 'any') return !same;
  return summary.critical > 0 || (threshold === 'warn' && summary.warn > 0);
}

const EVENTS_BYTES_MAX = 268_435_456;
const NEWLINE = 0x0a;

export const replay = defineCommand({
  description:
    'Decides the calls of recorded runs by this policy and compares the result with the recorded decisions.',
  args: {
    file: 'The bundle or snapshot to decide by',
    events: 'Recorded events, one JSON object per line; - reads standard input',
  },
  options: { compare: COMPARE_OPTION },
  examples: ['sub policy replay new-policy.yaml events.jsonl'],
  exitCodes: {
    0: 'every call is treated as it was',
    1: 'at least one call is treated more strictly or more loosely',
    2: BAD_POLICY,
  },
  run: async ({ args, options }, io) => {
    orThrow(stdinTwice([args.file, args.events]));
    const policy = orThrow(await loadPolicy(args.file, { io }));
    const file = orThrow(await readFileBytes(args.events, { io, bytesMax: EVENTS_BYTES_MAX }));
    orThrow(notEvents(file));
    const compare = options.compare ?? 'action';
    const result = replayEvents(policy.snapshot, eventsOf(file, io), { sha256, compare });
    return replayPrintout(result, io);
  },
});

/** The result, and whether any call is treated otherwise than it was. */
export function replayPrintout(result: ReplayResult, io: Io): Outcome {
  const { stricter, looser } = result.summary.verdicts;
  const text = `${paintedBySign(formatReplay(result), io.out.colors)}\n`;
  return printout(result, text, stricter + looser > 0 ? EXIT.findings : EXIT.fine);
}

/** The events of a file. Throws at a line that is none, because counters would be wrong. */
function* eventsOf(file: FileBytes, io: Io): Generator<Event> {
  let number = 0;
  for (const { line, complete } of linesOf(file.bytes)) {
    number++;
    if (line.trim() === '') continue;
    const parsed = parseEventLine(line);
    const place = `${file.name}:${number}`;
    if (parsed.ok) yield parsed.event;
    else if (parsed.kind === 'malformed') {
      if (complete) orThrow(malformed(place, parsed));
      // The writer was stopped in the middle of a line; all before it counts.
      warn(io, `${place}: the last line is cut off and was left out.`);
    }
  }
}

function* linesOf(bytes: Uint8Array): Generator<{ line: string; complete: boolean }> {
  const decoder = new TextDecoder();
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    yield { line: decoder.decode(bytes.subarray(start, end)), complete: newline !== -1 };
    start = end + 1;
  }
}

function malformed(
  place: string,
  { code, mismatches }: Extract<ParsedEvent, { readonly kind: 'malformed' }>,
): Failure {
  const [first] = mismatches;
  const path = first === undefined || first.path.length === 0 ? '' : ` at ${first.path.join('.')}`;
  const what = `expected ${first?.expected ?? 'an event'}, got ${first?.got ?? 'something else'}`;
  return failure(code, `${place}:${path} ${what}.`, 'Give events as contract A has them.');
}
