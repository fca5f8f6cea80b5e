import {
  type Event,
  type Failure,
  failure,
  type ParsedEvent,
  parseEventLine,
} from '@subluminal/contracts';
import { formatReplay, type ReplayResult, replay } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { defineCommand, EXIT, type Outcome, orThrow, printout } from '../input/command.ts';
import { type FileBytes, readFileBytes, stdinTwice } from '../input/read-file.ts';
import { BAD_POLICY, COMPARE_OPTION } from '../input/shared-options.ts';
import { notEvents } from '../policy/file-kind.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { harmlessLine, paintedBySign } from '../terminal/text.ts';

/** What stopped the reading, if anything did. */
interface Reading {
  failure: Failure | undefined;
}

const EVENTS_BYTES_MAX = 268_435_456;
const NEWLINE = 0x0a;

export const command = defineCommand({
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
    const reading: Reading = { failure: undefined };
    const compare = options.compare ?? 'action';
    const result = replay(policy.snapshot, eventsOf(file, reading, io), { sha256, compare });
    return reading.failure ?? replayPrintout(result, io);
  },
});

/** The result, and whether any call is treated otherwise than it was. */
export function replayPrintout(result: ReplayResult, io: Io): Outcome {
  const { stricter, looser } = result.summary.verdicts;
  const text = `${paintedBySign(formatReplay(result), io.out.colors)}\n`;
  return printout(result, text, stricter + looser > 0 ? EXIT.findings : EXIT.fine);
}

/** The events of a file, line by line. A line that is none ends it: counters would be wrong. */
function* eventsOf(file: FileBytes, reading: Reading, io: Io): Generator<Event> {
  let number = 0;
  for (const { line, complete } of linesOf(file.bytes)) {
    number++;
    if (line.trim() === '') continue;
    const parsed = parseEventLine(line);
    if (parsed.ok) yield parsed.event;
    else if (parsed.kind === 'malformed') {
      if (complete) {
        reading.failure = malformed(`${file.name}:${number}`, parsed);
        return;
      }
      // The writer was stopped in the middle of a line; all before it counts.
      const note = `sub: ${file.name}:${number}: the last line is cut off and was left out.`;
      io.err.write(harmlessLine(note));
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
