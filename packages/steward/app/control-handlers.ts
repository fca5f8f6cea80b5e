// What Steward answers on its socket.
import {
  type Failure,
  failure,
  type GuardrailsFile,
  type StewardAnswers,
  tableFailure,
} from '@subluminal/contracts';
import {
  alertsAnswer,
  type ControlHandlers,
  spendingAnswer,
  taskAnswer,
  updatesAnswer,
} from '../control/index.ts';
import { type Journal, waitForChange } from '../journal/index.ts';
import type { Conversations } from '../loop/index.ts';
import type { Memory } from '../memory/index.ts';
import { monitorRules } from '../monitor/index.ts';
import { type ChangeDesks, changeHandlers, openChangesIn } from './change-handlers.ts';
import { type ExpansionControl, expansionHandlers } from './expansion-handlers.ts';
import { type MemoryParts, memoryHandlers } from './memory-handlers.ts';
import { lastMemoryAudit } from './open-own-memory.ts';
import { type Pairing, pairingHandlers } from './pairing-handlers.ts';

type Status = StewardAnswers['status'];
type AboutItself =
  | ('pid' | 'version' | 'started_at_ms' | 'servers' | 'channels' | 'shared_model')
  | ('config_folder' | 'config_problems' | 'restart_needed');

export interface ControlParts {
  readonly memory: Memory;
  readonly recordMemory: MemoryParts['record'];
  readonly desks: ChangeDesks;
  readonly expansion: ExpansionControl;
  readonly pairing: Pairing;
  readonly journal: Journal;
  readonly conversations: Conversations;
  readonly about: () => Pick<Status, AboutItself>;
  readonly pending: () => Pick<Status, 'pending_confirmations' | 'pending_changes'>;
  readonly guardrails: () => Pick<GuardrailsFile, 'monitor' | 'day'>;
  readonly nowMs: () => number;
}

const TASKS_SHOWN = 50;

export function controlHandlers(parts: ControlParts): ControlHandlers {
  const { journal, conversations, about, pending, guardrails, nowMs } = parts;
  const changes = changeHandlers(parts.desks, parts.expansion.apply);
  return {
    ...changes,
    ...expansionHandlers(parts.expansion, changes['changes/show']),
    ...memoryHandlers({ memory: parts.memory, record: parts.recordMemory }),
    ...pairingHandlers(parts.pairing),
    status: async () => ({
      ...about(),
      ...pending(),
      memory: await memoryState(parts),
      open_tasks: journal.openTasks().map((task) => taskAnswer(journal, task)),
      spending: spendingAnswer(journal, nowMs()),
      alerts: alertsAnswer(journal, nowMs()),
      monitor_rules: monitorRules(guardrails()),
    }),
    'alerts/acknowledge': async ({ ids, person }) => {
      journal.alerts.acknowledge(ids, person);
      return { is_done: true };
    },
    conversations: async () => ({
      conversations: journal
        .conversations()
        .filter(({ parentId }) => parentId === null)
        .map(({ id, channel, person, ...known }) => ({
          ...{ id, channel, person },
          run_id: known.runId,
          created_at_ms: known.createdAtMs,
        })),
    }),
    tasks: async ({ conversation_id: id, limit = TASKS_SHOWN }) => {
      const last =
        id === undefined ? journal.lastTasks(limit) : journal.lastTasksOf(id, limit).toReversed();
      return { tasks: last.map((task) => taskAnswer(journal, task)) };
    },
    send: async ({ channel, person, thread = '', text }) => {
      if (conversations.halted.aborted) return halted();
      const taken = conversations.receive({ channel, person, address: thread, text });
      switch (taken.kind) {
        case 'refused':
          return tableFailure('SUB_STEWARD_REQUEST', taken.why);
        case 'stopped':
          return { kind: 'stopped', conversation_id: taken.conversationId, task_id: null };
        case 'task': {
          const { id, conversationId } = taken.task;
          return { kind: 'task', conversation_id: conversationId, task_id: id };
        }
      }
    },
    stop: async ({ conversation_id, task_id }) => ({
      count: conversations.stop(conversation_id, task_id),
    }),
    updates: async ({ conversation_id, after, version, wait_ms: waitMs = 0 }, signal) => {
      const ends = AbortSignal.any([signal, conversations.halted]);
      if (version !== undefined) {
        const isNew = () => journal.version !== version;
        await waitForChange(journal, isNew, { waitMs, signal: ends });
      }
      if (conversations.halted.aborted) return halted();
      const openChanges = () => openChangesIn(parts.desks, journal, conversation_id);
      return updatesAnswer(journal, { conversationId: conversation_id, after, openChanges });
    },
  };
}

function halted(): Failure {
  const message = 'The journal takes no writes, so Steward does nothing more.';
  const fix = 'Look whether the disk is full, then run `sub steward stop` and `sub steward start`.';
  return failure('SUB_STEWARD_JOURNAL', message, fix);
}

async function memoryState({ memory, journal }: ControlParts): Promise<Status['memory']> {
  const { engine, entries, requests, vectors } = await memory.status();
  return {
    engine,
    vectors: vectors.kind === 'on' ? vectors.model : null,
    trouble: vectors.kind === 'on' ? null : vectors.why,
    waiting: entries.review + entries.quarantined + requests,
    last_audit: lastMemoryAudit(journal),
  };
}
