// A text tried on recorded runs, and a policy made from them.
import {
  API_REPLAY_LIMIT,
  type ApiPolicyReplay,
  type ApiPolicyReplayInput,
  type ApiPolicySuggested,
  type ApiPolicySuggestInput,
  type Event,
  type Failure,
  failure,
  isFailure,
} from '@subluminal/contracts';
import { type ReplayedCall, startReplay } from '@subluminal/core/policy';
import { suggestPolicy } from '@subluminal/core/suggest';
import { sha256 } from '@subluminal/plane/crypto';
import { type PolicyPlace, policyFolder, rulePaths } from './known-policies.ts';
import { chosenRuns, type RunReader, readRuns } from './recorded-runs.ts';
import { folderOfRun } from './run-folder.ts';
import type { Slices } from './slices.ts';
import { compiledText, findKnown } from './try-policy.ts';

const REPLAY_EVENTS_MAX = 500_000;
/** They are looked at in one go in the end. */
const SUGGEST_EVENTS_MAX = 30_000;

interface RecordedWork {
  readonly place: PolicyPlace;
  readonly reader: RunReader;
  readonly slices: Slices;
}

export async function replayText(
  { text, path, limit = API_REPLAY_LIMIT.fallback, would = false, ...wanted }: ApiPolicyReplayInput,
  { place, reader, slices }: RecordedWork,
): Promise<ApiPolicyReplay | Failure> {
  const known = await findKnown(path, place);
  if (isFailure(known)) return known;
  const runs = await chosenRuns(reader, wanted);
  if (isFailure(runs)) return runs;
  const folder = await commonFolder(reader, runs);
  const snapshot = await compiledText(text, rulePaths(known, place, folder));
  if (isFailure(snapshot)) return snapshot;
  const replay = startReplay(snapshot, { sha256, compare: would ? 'would' : 'action' });
  const take = (event: Event) => {
    replay.take(event);
    return true;
  };
  const { pruned, cut } = await readRuns(reader, runs, {
    slices,
    eventsMax: REPLAY_EVENTS_MAX,
    take,
  });
  const { calls, ...result } = replay.result();
  const changed = calls.filter(isChanged);
  const { verdicts } = result.summary;
  const all = result.summary.calls - verdicts.same - verdicts.unrecorded;
  const listed = changed.slice(0, limit);
  return { ...result, calls: listed, calls_left_out: all - listed.length, pruned, cut };
}

/** Of runs that were all in one project; `${project}` of a policy means it then. */
async function commonFolder(
  reader: RunReader,
  runIds: readonly string[],
): Promise<string | undefined> {
  const folders = new Set<string | undefined>();
  for (const id of runIds) {
    const run = await reader.run(id);
    folders.add(run && folderOfRun(run));
  }
  const [only] = folders;
  return folders.size === 1 ? only : undefined;
}

function isChanged({ verdict }: ReplayedCall): boolean {
  return verdict !== 'same' && verdict !== 'unrecorded';
}

export async function suggestFromRuns(
  { run_id, since_ms, path }: ApiPolicySuggestInput,
  { place, reader, slices }: RecordedWork,
): Promise<ApiPolicySuggested | Failure> {
  const known = await findKnown(path, place);
  if (isFailure(known)) return known;
  const run_ids = run_id === undefined ? undefined : [run_id];
  const runs = await chosenRuns(reader, { run_ids, since_ms });
  if (isFailure(runs)) return runs;
  const events: Event[] = [];
  const take = (event: Event) => events.push(event) > 0;
  const { pruned, cut } = await readRuns(reader, runs, {
    slices,
    eventsMax: SUGGEST_EVENTS_MAX,
    take,
  });
  const version = new Date().toISOString().slice(0, 10);
  const project = policyFolder(known, place);
  const { calls, text: policy } = suggestPolicy(events, { project, version });
  if (calls === 0) {
    const fix = 'Use an agent with `sub run` or after `sub import`, or start with `sub init`.';
    return failure('SUB_API_NOT_FOUND', 'no call that passed is on record there.', fix);
  }
  return { calls, policy, pruned, cut };
}
