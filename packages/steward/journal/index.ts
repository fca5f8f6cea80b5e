export type { Journal, NewStep, TaskEnd } from './journal.ts';
export { openJournal } from './journal.ts';
export type {
  Conversation,
  JournalMessage,
  JournalSchedule,
  JournalStep,
  JournalTask,
  JournalTurn,
  MessageRole,
  Spending,
  StepState,
  TaskState,
} from './types.ts';
