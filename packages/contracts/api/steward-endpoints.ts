// What the page asks of a running Steward: the ledger daemon relays it to the method of Steward's socket that has the
// same name.
import { ALERTS_NAMED } from '../steward-control/alert-shapes.ts';
import {
  CHANGE_EDIT,
  CHANGE_NAMED,
  CHANGE_ROLLBACK,
  CHANGE_SEEN,
  EXPANSION_PART,
  STEWARD_CHANGE,
  STEWARD_CHANGE_VIEW,
  STEWARD_CHANGES,
  STEWARD_EXPANSION,
} from '../steward-control/change-shapes.ts';
import {
  CORE_FACT_SET,
  MEMORY_FORGET,
  MEMORY_NAMED,
  MEMORY_QUERY,
  MEMORY_REQUEST_DECIDED,
  STEWARD_CORE_FACTS,
  STEWARD_DONE,
  STEWARD_FORGOTTEN,
  STEWARD_MEMORIES,
  STEWARD_MEMORY_REVIEW,
} from '../steward-control/memory-shapes.ts';
import {
  PAGE_MESSAGE,
  STEWARD_CONVERSATIONS,
  STEWARD_STATUS,
  STEWARD_STOP,
  STEWARD_STOPPED,
  STEWARD_TAKEN,
  STEWARD_TASKS,
  STEWARD_TASKS_QUERY,
  STEWARD_UPDATES,
  STEWARD_UPDATES_QUERY,
} from '../steward-control/methods.ts';
import { endpoint, input, search } from './define-endpoint.ts';

/** A long message, or the text of a file. */
const TEXT_BYTES_MAX = 1_048_576;

export const STEWARD_ENDPOINTS = {
  stewardStatus: endpoint('steward/status', STEWARD_STATUS),
  stewardConversations: endpoint('steward/conversations', STEWARD_CONVERSATIONS),
  stewardTasks: search('steward/tasks', STEWARD_TASKS, STEWARD_TASKS_QUERY),
  stewardUpdates: search('steward/updates', STEWARD_UPDATES, STEWARD_UPDATES_QUERY),
  stewardSend: {
    ...endpoint('steward/send', STEWARD_TAKEN),
    input: input(PAGE_MESSAGE, TEXT_BYTES_MAX),
  },
  stewardStop: { ...endpoint('steward/stop', STEWARD_STOPPED), input: input(STEWARD_STOP) },
  stewardAcknowledgeAlerts: {
    ...endpoint('steward/alerts/acknowledge', STEWARD_DONE),
    input: input(ALERTS_NAMED),
  },
  stewardMemory: search('steward/memory', STEWARD_MEMORIES, MEMORY_QUERY),
  stewardCore: endpoint('steward/memory/core', STEWARD_CORE_FACTS),
  stewardSetCore: {
    ...endpoint('steward/memory/core/set', STEWARD_CORE_FACTS),
    input: input(CORE_FACT_SET),
  },
  stewardMemoryReview: endpoint('steward/memory/review', STEWARD_MEMORY_REVIEW),
  stewardConfirmMemory: {
    ...endpoint('steward/memory/confirm', STEWARD_DONE),
    input: input(MEMORY_NAMED),
  },
  stewardForget: {
    ...endpoint('steward/memory/forget', STEWARD_FORGOTTEN),
    input: input(MEMORY_FORGET),
  },
  stewardDecideMemory: {
    ...endpoint('steward/memory/decide', STEWARD_DONE),
    input: input(MEMORY_REQUEST_DECIDED),
  },
  stewardChanges: endpoint('steward/changes', STEWARD_CHANGES),
  stewardChange: search('steward/changes/show', STEWARD_CHANGE_VIEW, CHANGE_NAMED),
  stewardApproveChange: {
    ...endpoint('steward/changes/approve', STEWARD_CHANGE),
    input: input(CHANGE_SEEN),
  },
  stewardRejectChange: {
    ...endpoint('steward/changes/reject', STEWARD_CHANGE),
    input: input(CHANGE_NAMED),
  },
  stewardEditChange: {
    ...endpoint('steward/changes/modify', STEWARD_CHANGE_VIEW),
    input: input(CHANGE_EDIT, TEXT_BYTES_MAX),
  },
  stewardRollBackChange: {
    ...endpoint('steward/changes/rollback', STEWARD_CHANGE),
    input: input(CHANGE_ROLLBACK),
  },
  stewardExpansion: endpoint('steward/expansion', STEWARD_EXPANSION),
  stewardRevoke: {
    ...endpoint('steward/expansion/revoke', STEWARD_CHANGE),
    input: input(EXPANSION_PART),
  },
} as const;
