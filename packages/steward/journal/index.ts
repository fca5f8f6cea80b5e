export type { Journal, NewStep, TaskEnd } from './journal.ts';
export { openJournal } from './journal.ts';
export type {
  AskedBy,
  Conversation,
  JournalMessage,
  JournalSchedule,
  JournalStep,
  JournalTask,
  JournalTurn,
  MessageRole,
  Spending,
  SpentTurn,
  StepState,
  TaskState,
} from './types.ts';
