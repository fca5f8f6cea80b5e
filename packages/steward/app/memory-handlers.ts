// What people ask of the memory, and what they decide about it, over the socket.
import { isFailure, type StewardAnswers, tableFailure } from '@subluminal/contracts';
import type { ControlHandlers } from '../control/index.ts';
import type { Memory, MemoryEntry, MemoryRequest } from '../memory/index.ts';

type MemoryMethod = Extract<keyof ControlHandlers, `memory${string}`>;
type ToldMemory = StewardAnswers['memory']['entries'][number];
type ToldRequest = StewardAnswers['memory/review']['requests'][number];

const ENTRIES_SHOWN = 50;
const DONE = { is_done: true };

export function memoryHandlers(memory: Memory): Pick<ControlHandlers, MemoryMethod> {
  const coreFacts = async () => {
    const facts = await memory.core();
    return {
      facts: facts.map(({ key, value, setMs }) => ({ key, value, set_at_ms: setMs })),
    };
  };
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
    'memory/core': coreFacts,
    'memory/core/set': async ({ key, value }) => {
      const done = value === '' ? await memory.removeCore(key) : await memory.setCore(key, value);
      return isFailure(done) ? done : coreFacts();
    },
    'memory/review': async () => {
      const { entries, requests } = await memory.review();
      return { entries: entries.map(entryAnswer), requests: requests.map(requestAnswer) };
    },
    'memory/confirm': async ({ id }) => {
      const confirmed = await memory.confirm(id);
      return isFailure(confirmed) ? confirmed : DONE;
    },
    'memory/forget': async ({ ids, containing }) => {
      if ((ids === undefined) === (containing === undefined)) {
        return tableFailure('SUB_STEWARD_REQUEST', 'Give either `ids` or `containing`.');
      }
      const told = await memory.forget(
        ids === undefined ? { containing: containing ?? '' } : { ids },
      );
      if (isFailure(told)) return told;
      const { entries, coreFacts: core_facts, requests } = told;
      return { entries, core_facts, requests };
    },
    'memory/search': async (query) => {
      const found = await memory.search(query);
      return { entries: found.map(({ entry }) => entryAnswer(entry)) };
    },
    'memory/audit': async (_, signal) => {
      const { checked, findings, unlisted } = await memory.audit(signal);
      return { checked, findings: [...findings], unlisted };
    },
    'memory/decide': async ({ id, verdict }) => (await memory.decideRequest(id, verdict)) ?? DONE,
  };
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
