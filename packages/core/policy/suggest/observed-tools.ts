// What recorded calls show of each tool: how often it was used, and which folders its arguments named.
import { type Event, type EventOf, isObject } from '@subluminal/contracts';
import { guessOf } from '../../surface/names/tool-verbs.ts';
import { programsIn } from './observed-programs.ts';
import { type ObservedSubjects, SubjectRecorder } from './observed-subjects.ts';
import { isAllowed, previewedArgs } from './recorded-call.ts';

export interface ObservedTool {
  readonly server: string;
  readonly tool: string;
  /** Calls that passed, and the runs that they were in. */
  calls: number;
  readonly runs: Set<string>;
  refused: number;
  /** Whether its name, its risk class or an earlier rule says that a person should be asked. */
  asks: boolean;
  readonly changes: boolean;
  /** The values of each argument that all calls have, where all of them are texts. */
  readonly texts: Map<string, Set<string> | null>;
  /** Calls whose arguments are not on record. */
  unseen: number;
  /** Of a tool that runs commands: the programs of those that are understood. */
  programs: Set<string> | undefined;
}

export interface Observed {
  readonly tools: readonly ObservedTool[];
  readonly calls: number;
  readonly refused: number;
  /** Tools beyond the limit, which are not in `tools`. */
  readonly leftOut: number;
  readonly runs: number;
  /** The most calls in one run, and the most that may change something. */
  readonly callsMax: number;
  readonly changesMax: number;
  /** The resources and prompts. */
  readonly others: ObservedSubjects;
  /** Turns of models, about which nothing is suggested. */
  readonly turns: number;
}

interface RecordedCall {
  readonly run: string;
  readonly tool: ObservedTool;
  readonly args: unknown;
  hasPassed: boolean;
}

/** A policy with more tools than this is read by nobody. */
export const TOOLS_MAX = 500;
const VALUES_MAX = 1_000;
const PROGRAMS_MAX = 200;
const DESTRUCTIVE = /destruct|delet/i;

export function observeTools(events: Iterable<Event>): Observed {
  const tools = new Map<string, ObservedTool>();
  const calls = new Map<string, RecordedCall>();
  const others = new SubjectRecorder();
  const leftOut = new Set<string>();
  let turns = 0;
  for (const event of events) {
    if (event.type === 'turn_start') turns += 1;
    if (event.type !== 'tool_call_start' && event.type !== 'tool_call_decision') continue;
    const key = JSON.stringify([event.run_id, event.call.call_id]);
    // Resources and prompts are no tools.
    if (others.add(key, event)) continue;
    const tool = toolOf(event, tools);
    if (tool === undefined) {
      leftOut.add(toolKey(event.call));
      continue;
    }
    if (event.type === 'tool_call_start') {
      const args = calls.has(key) ? undefined : previewedArgs(event);
      if (!calls.has(key)) calls.set(key, { run: event.run_id, tool, args, hasPassed: false });
      continue;
    }
    const call = calls.get(key) ?? { run: event.run_id, tool, args: undefined, hasPassed: false };
    calls.set(key, call);
    tool.asks ||= event.decision.approval !== undefined;
    tool.asks ||= (event.call.risk_class ?? []).some((name) => DESTRUCTIVE.test(name));
    // A person may have agreed after the first decision.
    call.hasPassed ||= isAllowed(event);
  }
  const found = summary([...calls.values()], [...tools.values()]);
  return { ...found, leftOut: leftOut.size, others: others.finish(), turns };
}

type ToolEvent = EventOf<'tool_call_start'> | EventOf<'tool_call_decision'>;

function toolKey({ server_name, tool_name }: ToolEvent['call']): string {
  return JSON.stringify([server_name, tool_name]);
}

/** Undefined beyond the limit. */
function toolOf({ call }: ToolEvent, tools: Map<string, ObservedTool>): ObservedTool | undefined {
  const { server_name: server, tool_name: tool } = call;
  const key = toolKey(call);
  const known = tools.get(key);
  if (known !== undefined || tools.size >= TOOLS_MAX) return known;
  const guess = guessOf(tool);
  const made: ObservedTool = {
    server,
    tool,
    calls: 0,
    runs: new Set(),
    refused: 0,
    asks: guess === 'destroy',
    changes: guess === 'destroy' || guess === 'write',
    texts: new Map(),
    unseen: 0,
    programs: undefined,
  };
  tools.set(key, made);
  return made;
}

function summary(
  calls: readonly RecordedCall[],
  tools: readonly ObservedTool[],
): Omit<Observed, 'leftOut' | 'others' | 'turns'> {
  const perRun = new Map<string, { calls: number; changes: number }>();
  for (const { run, tool, args, hasPassed } of calls) {
    const counts = perRun.get(run) ?? { calls: 0, changes: 0 };
    perRun.set(run, counts);
    counts.calls += 1;
    counts.changes += tool.changes ? 1 : 0;
    if (hasPassed) addCall(tool, run, args);
    else tool.refused += 1;
  }
  const most = (field: 'calls' | 'changes') =>
    [...perRun.values()].reduce((max, counts) => Math.max(max, counts[field]), 0);
  return {
    tools: tools.filter((tool) => tool.calls > 0),
    calls: calls.filter(({ hasPassed }) => hasPassed).length,
    refused: calls.filter(({ hasPassed }) => !hasPassed).length,
    runs: perRun.size,
    callsMax: most('calls'),
    changesMax: most('changes'),
  };
}

function addCall(tool: ObservedTool, run: string, args: unknown): void {
  tool.calls += 1;
  tool.runs.add(run);
  if (!isObject(args)) {
    tool.unseen += 1;
    return;
  }
  addPrograms(tool, programsIn(tool, args));
  const isFirst = tool.calls - tool.unseen === 1;
  if (isFirst) for (const name of Object.keys(args)) tool.texts.set(name, new Set());
  for (const [name, values] of tool.texts) {
    const value = args[name];
    if (values === null) continue;
    if (typeof value !== 'string' || values.size >= VALUES_MAX) tool.texts.set(name, null);
    else values.add(value);
  }
}

function addPrograms(tool: ObservedTool, programs: readonly string[] | undefined): void {
  if (programs === undefined) return;
  tool.programs ??= new Set();
  for (const program of programs) {
    if (tool.programs.size < PROGRAMS_MAX) tool.programs.add(program);
  }
}
