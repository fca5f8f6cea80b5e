// What people ask of the memory, and what they decide about it, over the socket.
import {
  type EventBody,
  isFailure,
  type StewardAnswers,
  tableFailure,
} from '@subluminal/contracts';
import type { ControlHandlers } from '../control/index.ts';
import type { Memory, MemoryEntry, MemoryRequest } from '../memory/index.ts';

type MemoryMethod = Extract<keyof ControlHandlers, `memory${string}`>;
type ToldMemory = StewardAnswers['memory']['entries'][number];
type ToldRequest = StewardAnswers['memory/review']['requests'][number];

const ENTRIES_SHOWN = 50;
const DONE = { is_done: true };

export interface MemoryParts {
  readonly memory: Memory;
  /** Into the ledger, with who has decided and where. */
  readonly record: (decision: MemoryDecision) => void;
}

/** Its title repeats nothing that is remembered: what is forgotten would stay in the ledger. */
export type MemoryDecision = EventBody<'change_decision'>['change'];

export function memoryHandlers(parts: MemoryParts): Pick<ControlHandlers, MemoryMethod> {
  return { ...questions(parts.memory), ...decisions(parts) };
}

type MemoryDecisionMethod =
  | 'memory/core/set'
  | 'memory/confirm'
  | 'memory/forget'
  | 'memory/decide';

function questions(
  memory: Memory,
): Pick<ControlHandlers, Exclude<MemoryMethod, MemoryDecisionMethod>> {
  return {
    memory: async ({ state, limit = ENTRIES_SHOWN, ...filter }) => {
      const states = state === undefined ? {} : { states: [state] };
      const [entries, { entries: counts, vectors }] = await Promise.all([
        memory.list({ ...filter, ...states, limit }),
        memory.status(),
      ]);
      return {
        entries: entries.map(entryAnswer),
        counts,
        vectors: vectors.kind === 'on' ? vectors.model : null,
      };
    },
    'memory/core': () => coreFacts(memory),
    'memory/review': async () => {
      const { entries, requests } = await memory.review();
      return { entries: entries.map(entryAnswer), requests: requests.map(requestAnswer) };
    },
    'memory/search': async (query) => {
      const found = await memory.search(query);
      return { entries: found.map(({ entry }) => entryAnswer(entry)) };
    },
    'memory/audit': async (_, signal) => {
      const { checked, findings, unlisted } = await memory.audit(signal);
      return { checked, findings: [...findings], unlisted };
    },
  };
}

function decisions({ memory, record }: MemoryParts): Pick<ControlHandlers, MemoryDecisionMethod> {
  const decided = (
    { person: by, channel }: { readonly person: string; readonly channel: string },
    change: Pick<MemoryDecision, 'id' | 'state' | 'title'>,
  ) => record({ ...change, kind: 'memory', by, channel });
  return {
    'memory/core/set': async ({ key, value, ...who }) => {
      const isGone = value === '';
      const done = isGone ? await memory.removeCore(key) : await memory.setCore(key, value);
      if (isFailure(done)) return done;
      const title = isGone ? 'a core fact is taken out' : 'a core fact is set';
      decided(who, { id: 'core', state: isGone ? 'revoked' : 'approved', title });
      return coreFacts(memory);
    },
    'memory/confirm': async ({ id, ...who }) => {
      const confirmed = await memory.confirm(id);
      if (isFailure(confirmed)) return confirmed;
      decided(who, { id, state: 'approved', title: 'an entry of the memory is confirmed' });
      return DONE;
    },
    'memory/forget': async ({ ids, containing, ...who }) => {
      if ((ids === undefined) === (containing === undefined)) {
        return tableFailure('SUB_STEWARD_REQUEST', 'Give either `ids` or `containing`.');
      }
      const told = await memory.forget(
        ids === undefined ? { containing: containing ?? '' } : { ids },
      );
      if (isFailure(told)) return told;
      const { entries, coreFacts: core_facts, requests, elsewhere } = told;
      const counts = `${entries} entries, ${core_facts} core facts, ${requests} requests`;
      const id = ids?.length === 1 ? (ids[0] ?? '') : 'several';
      decided(who, { id, state: 'revoked', title: `forgotten: ${counts}` });
      return {
        ...{ entries, core_facts, requests },
        journal_texts: elsewhere.changed,
        journal_texts_left: elsewhere.left,
      };
    },
    'memory/decide': async ({ id, verdict, ...who }) => {
      const failed = await memory.decideRequest(id, verdict);
      if (failed !== undefined) return failed;
      const state = verdict === 'accept' ? 'approved' : 'rejected';
      decided(who, { id, state, title: 'what Steward asked for its memory' });
      return DONE;
    },
  };
}

async function coreFacts(memory: Memory): Promise<StewardAnswers['memory/core']> {
  const facts = await memory.core();
  return { facts: facts.map(({ key, value, setMs }) => ({ key, value, set_at_ms: setMs })) };
}

function entryAnswer({ id, text, provenance, source, state, ...entry }: MemoryEntry): ToldMemory {
  const { server, tool, sender } = source;
  return {
    ...{ id, text, provenance, state, reasons: entry.reasons, tags: entry.tags },
    source: { ...(server && { server }), ...(tool && { tool }), ...(sender && { sender }) },
    created_at_ms: entry.createdMs,
    confirmed_at_ms: entry.confirmedMs,
    last_used_at_ms: entry.lastUsedMs,
    trust: entry.trust,
    freshness: entry.freshness,
  };
}

function requestAnswer({ id, body, reason, createdMs }: MemoryRequest): ToldRequest {
  const text = body.kind === 'forget' ? body.containing : `${body.key}: ${body.value}`;
  return { id, kind: body.kind, text, reason, created_at_ms: createdMs };
}
