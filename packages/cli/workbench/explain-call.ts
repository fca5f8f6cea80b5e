// "What if" for one recorded call: another policy decides it, with the calls of its run before it counted.
import {
  type ApiPolicyExplained,
  type ApiPolicyExplainInput,
  type Event,
  type EventOf,
  type Failure,
  failure,
  isFailure,
  isJsonObject,
} from '@subluminal/contracts';
import {
  type ReplayQuestion,
  type Snapshot,
  startReplay,
  verdictOf,
} from '@subluminal/core/policy';
import { type Config, loadConfig } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import { loadRedactor } from '@subluminal/plane/vault';
import type { PlannedCall } from '../policy/call-file.ts';
import { explainCalls, explainedReport } from '../policy/explain-calls.ts';
import { openExplainGates } from '../policy/explain-gates.ts';
import { type KnownPolicy, type PolicyPlace, policyFolder, rulePaths } from './known-policies.ts';
import { missingRun, type RunReader, readRuns } from './recorded-runs.ts';
import { folderOfRun } from './run-folder.ts';
import type { Slices } from './slices.ts';
import { compiledFile, compiledText, findKnown } from './try-policy.ts';

const EVENTS_MAX = 200_000;

interface ExplainWork {
  readonly place: PolicyPlace;
  readonly reader: RunReader;
  readonly slices: Slices;
}

export async function explainRecorded(
  { text, path, run_id, call_id }: ApiPolicyExplainInput,
  { place, reader, slices }: ExplainWork,
): Promise<ApiPolicyExplained | Failure> {
  const known = await findKnown(path, place);
  if (isFailure(known)) return known;
  const run = await reader.run(run_id);
  if (run === undefined) return missingRun(run_id);
  const folder = folderOfRun(run) ?? policyFolder(known, place);
  const snapshot =
    text === undefined
      ? await compiledFile(known, place, folder)
      : await compiledText(text, rulePaths(known, place, folder));
  if (isFailure(snapshot)) return snapshot;
  const found = await findQuestion({ run_id, call_id }, snapshot, { reader, slices });
  if (isFailure(found)) return found;
  const { question, callsBefore, recorded, isUndetermined } = found;
  const isKnown = question.args === 'known';
  const report = await explained(question, { snapshot, known, place, folder });
  if (isFailure(report)) return report;
  const { decision, call, ...rest } = report;
  const was =
    recorded === undefined ? null : { action: recorded.action, rule_id: recorded.rule_id };
  const replayed = isUndetermined ? null : decision;
  return {
    run_id,
    call_id,
    args: question.args,
    calls_before: callsBefore,
    recorded: was,
    verdict: verdictOf({ recorded: was, replayed }),
    ...rest,
    decision: replayed,
    call: { ...call, args: isKnown && isJsonObject(call.args) ? call.args : null },
  };
}

type RecordedDecision = EventOf<'tool_call_decision'>['decision'];

interface FoundQuestion {
  readonly kind: 'found';
  readonly question: ReplayQuestion;
  readonly callsBefore: number;
  readonly recorded: RecordedDecision | undefined;
  /** The outcome depends on arguments that are not on record. */
  readonly isUndetermined: boolean;
}

/** Replays the run up to the call. */
async function findQuestion(
  { run_id, call_id }: Pick<ApiPolicyExplainInput, 'run_id' | 'call_id'>,
  snapshot: Snapshot,
  { reader, slices }: Pick<ExplainWork, 'reader' | 'slices'>,
): Promise<FoundQuestion | Failure> {
  let question: ReplayQuestion | undefined;
  let recorded: RecordedDecision | undefined;
  let isTurn = false;
  let calls = 0;
  const onCall = (asked: ReplayQuestion) => {
    if (asked.callId === call_id) question = asked;
    else if (question === undefined) calls += 1;
  };
  const replay = startReplay(snapshot, { sha256, onCall });
  const take = (event: Event): boolean => {
    replay.take(event);
    isTurn ||= event.type === 'turn_start' && event.call.call_id === call_id;
    if (isDecisionOf(event, call_id)) recorded = event.decision;
    return recorded === undefined && !isTurn;
  };
  const { cut } = await readRuns(reader, [run_id], { slices, eventsMax: EVENTS_MAX, take });
  if (question === undefined) return notFound(call_id, { isTurn, isCut: cut !== null });
  const { calls: replayed } = replay.result();
  const own = replayed.findLast((one) => one.call_id === call_id);
  return {
    kind: 'found',
    question,
    callsBefore: calls,
    recorded,
    // What a gate beside the rules decided then is asked of the gates again.
    isUndetermined: own !== undefined && own.replayed === null,
  };
}

function isDecisionOf(event: Event, callId: string): event is EventOf<'tool_call_decision'> {
  return event.type === 'tool_call_decision' && event.call.call_id === callId;
}

function notFound(callId: string, { isTurn, isCut }: { isTurn: boolean; isCut: boolean }): Failure {
  if (isTurn) {
    const message = 'a call of a model cannot be decided again: its text is not on record.';
    return failure('SUB_API_REQUEST', message, 'Explain one with `sub policy explain --model`.');
  }
  if (isCut) {
    const message = 'the run has too many events before this call.';
    return failure('SUB_API_LIMIT', message, 'Replay it with `sub replay`.');
  }
  const message = `the run has no call \`${callId}\` on record.`;
  return failure('SUB_API_NOT_FOUND', message, 'Check the ids; what was pruned is gone.');
}

interface Explaining {
  readonly snapshot: Snapshot;
  readonly known: KnownPolicy;
  readonly place: PolicyPlace;
  readonly folder: string;
}

/** Every rule for the call, and the gates where its arguments are on record. */
async function explained(question: ReplayQuestion, explaining: Explaining) {
  const { snapshot, known, place, folder: cwd } = explaining;
  const { call, state, nowMs: startMs, args } = question;
  const loaded = await loadConfig({ env: place.env, cwd: place.paths.home });
  if (!loaded.ok) return configFailure(loaded.problems[0]);
  const redactor = await loadRedactor(patternsOf(loaded.config), []);
  if (isFailure(redactor)) return redactor;
  const { plain: redact } = redactor;
  const argsText = JSON.stringify(call.args ?? {});
  const planned: PlannedCall = { call, argsText, repeat: 1, result: 'ok' };
  const setup = { loaded, snapshot, policyFile: known.path, redact, startMs, env: place.env, cwd };
  const gates = args === 'known' ? await openExplainGates([planned], setup) : undefined;
  if (isFailure(gates)) return gates;
  const [one] = explainCalls(snapshot, [planned], { startMs, gates, redact, state });
  if (one === undefined) throw new Error('one call was explained');
  return explainedReport(one);
}

function patternsOf(config: Config) {
  return config['redact.extra_patterns'];
}

function configFailure(
  problem: { code: Failure['code']; message: string; fix: string } | undefined,
) {
  if (problem === undefined) throw new Error('a configuration that failed has a problem');
  return failure(problem.code, `${problem.message}.`, problem.fix);
}
