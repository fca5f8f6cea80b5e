// Rows of the journal as what they stand for. Its cells are read as strangers' data.
import { isJsonObject, isObject, type JsonObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import type { SqlRow } from '@subluminal/plane/sqlite';
import { integerCell, integerOrNull, textCell, textOrNull } from '@subluminal/plane/sqlite/rows';
import type { ModelUse, Purpose } from '../models/types.ts';
import type {
  AskedBy,
  Conversation,
  ForwardedCall,
  JournalMessage,
  JournalSchedule,
  JournalStep,
  JournalTask,
  JournalTurn,
  MessageRole,
  StepState,
  TaskState,
} from './types.ts';

const PURPOSES = ['agent', 'guardian', 'background', 'worker'] as const;
const ASKERS: readonly AskedBy[] = ['user', 'agent'];
const ROLES: readonly MessageRole[] = ['user', 'assistant', 'notice'];
const TASK_STATES: readonly TaskState[] = ['waiting', 'running', 'done', 'stopped', 'failed'];
const STEP_STATES: readonly StepState[] = [
  'proposed',
  'judged',
  'sent',
  'forwarded',
  'done',
  'refused',
  'failed',
  'unknown',
];

export function conversationIn(row: SqlRow): Conversation {
  return {
    id: textCell(row, 'id'),
    channel: textCell(row, 'channel'),
    person: textCell(row, 'person'),
    address: textCell(row, 'address'),
    runId: textOrNull(row, 'run_id'),
    parentId: textOrNull(row, 'parent'),
    createdAtMs: integerCell(row, 'created_at'),
  };
}

export function messageIn(row: SqlRow): JournalMessage {
  return {
    n: integerCell(row, 'n'),
    conversationId: textCell(row, 'conversation'),
    role: oneOf(ROLES, row, 'role'),
    text: textCell(row, 'text'),
    taskId: textOrNull(row, 'task'),
    atMs: integerCell(row, 'at'),
  };
}

export function taskIn(row: SqlRow): JournalTask {
  return {
    id: textCell(row, 'id'),
    conversationId: textCell(row, 'conversation'),
    purpose: purposeIn(row),
    askedBy: oneOf(ASKERS, row, 'asked_by'),
    request: textCell(row, 'request'),
    parentId: textOrNull(row, 'parent'),
    state: oneOf(TASK_STATES, row, 'state'),
    reason: textOrNull(row, 'reason'),
    steps: integerCell(row, 'steps'),
    costMicros: integerCell(row, 'cost_micros'),
    createdAtMs: integerCell(row, 'created_at'),
    startedAtMs: integerOrNull(row, 'started_at'),
    endedAtMs: integerOrNull(row, 'ended_at'),
  };
}

export function purposeIn(row: SqlRow): Purpose {
  return oneOf(PURPOSES, row, 'purpose');
}

export function turnIn(row: SqlRow): JournalTurn {
  return {
    taskId: textCell(row, 'task'),
    n: integerCell(row, 'n'),
    text: textCell(row, 'text'),
    uses: usesIn(textCell(row, 'uses')),
    model: textCell(row, 'model'),
  };
}

function usesIn(text: string): readonly ModelUse[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) throw new Error('the journal has no list of uses');
  return value.map((use: unknown) => {
    if (!isObject(use)) throw new Error('the journal has a use that is no object');
    const { id, name, args } = use;
    if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(args)) {
      throw new Error('the journal has a use that is incomplete');
    }
    return { id, name, args };
  });
}

export function stepIn(row: SqlRow): JournalStep {
  return {
    taskId: textCell(row, 'task'),
    turn: integerCell(row, 'turn'),
    n: integerCell(row, 'n'),
    useId: textCell(row, 'use_id'),
    server: textCell(row, 'server'),
    tool: textCell(row, 'tool'),
    args: objectIn(textCell(row, 'args')),
    reasoning: textCell(row, 'reasoning'),
    key: textCell(row, 'key'),
    state: oneOf(STEP_STATES, row, 'state'),
    judgements: objectsIn(textCell(row, 'judgements')),
    callId: textOrNull(row, 'call_id'),
    runId: textOrNull(row, 'run_id'),
    result: textOrNull(row, 'result'),
    atMs: integerCell(row, 'at'),
  };
}

export function forwardedIn(row: SqlRow): ForwardedCall {
  return {
    server: textCell(row, 'server'),
    tool: textCell(row, 'tool'),
    args: objectIn(textCell(row, 'args')),
    key: textCell(row, 'key'),
    atMs: integerCell(row, 'at'),
  };
}

export function scheduleIn(row: SqlRow): JournalSchedule {
  return {
    id: textCell(row, 'id'),
    when: textCell(row, 'due'),
    request: textCell(row, 'request'),
    askedBy: oneOf(ASKERS, row, 'asked_by'),
    conversationId: textOrNull(row, 'conversation'),
    lastAtMs: integerCell(row, 'last_at'),
  };
}

function objectIn(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error('the journal has arguments that are no object');
  return value;
}

function objectsIn(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function oneOf<const T extends string>(
  values: readonly T[],
  row: SqlRow,
  column: string,
): T {
  const text = textCell(row, column);
  const found = values.find((value) => value === text);
  if (found === undefined) throw new Error(`the journal has an unknown ${column}`);
  return found;
}
