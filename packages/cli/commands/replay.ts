import {
  type Event,
  type Failure,
  failure,
  isFailure,
  parseEventLine,
} from '@subluminal/contracts';
import { replay } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import type { ChainReader, StoreReader } from '@subluminal/plane/ledger';
import type { RunReplayInput } from '../catalog/observe.ts';
import type { Outcome } from '../input/command.ts';
import { findRun } from '../ledger/find-run.ts';
import { freshen } from '../ledger/fresh.ts';
import { findLedger, withReader } from '../ledger/home.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Io } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import { printReplay } from './policy-replay.ts';

/** What of a run can be replayed, and what of it was pruned. */
interface Recording {
  readonly events: readonly Event[];
  readonly prunedCount: number;
}

const PAGE_EVENTS = 1_000;
/** As much as `sub policy replay` takes from a file. */
const RECORDING_LENGTH_MAX = 268_435_456;

export async function run({ args, options }: RunReplayInput, io: Io): Promise<Outcome> {
  const { policy: path, json, compare = 'action' } = options;
  if (path === undefined || path === '') {
    return failure('SUB_USAGE', 'no policy is given.', 'Name one with --policy.');
  }
  const policy = await loadPolicy(path, { io });
  if (isFailure(policy)) return policy;
  const home = await findLedger();
  if (isFailure(home)) return home;
  await freshen(home, io);
  const recording = await withReader(home, (reader) => recordingOf(reader, args.run));
  if (isFailure(recording)) return recording;
  if (recording.prunedCount > 0) {
    const what = plural(recording.prunedCount, 'event');
    io.err.write(`sub: ${what} of this run were pruned, so counters may stand too low.\n`);
  }
  return printReplay(replay(policy.snapshot, recording.events, { sha256, compare }), json, io);
}

async function recordingOf(reader: StoreReader, name: string): Promise<Recording | Failure> {
  const runId = await findRun(reader, name);
  if (isFailure(runId)) return runId;
  return reader.snapshot((view) => readRun(view, runId));
}

async function readRun(reader: ChainReader, runId: string): Promise<Recording | Failure> {
  const events: Event[] = [];
  let prunedCount = 0;
  let length = 0;
  for (let afterSeq = 0; ; ) {
    const rows = await reader.events({ afterSeq, limit: PAGE_EVENTS, runId });
    for (const { line } of rows) {
      if (line === null) prunedCount++;
      else {
        length += line.length;
        const parsed = parseEventLine(line);
        // The ledger takes in what is an event only; an unknown type is one of a later version.
        if (parsed.ok) events.push(parsed.event);
      }
    }
    if (length > RECORDING_LENGTH_MAX) return tooLarge();
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_EVENTS) return { events, prunedCount };
    afterSeq = last.seq;
  }
}

function tooLarge(): Failure {
  const message = `the run holds more than ${RECORDING_LENGTH_MAX} characters of events.`;
  return failure('SUB_LEDGER_QUERY', message, 'Export it, and replay a part of events.jsonl.');
}
