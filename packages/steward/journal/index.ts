export type { Journal } from './journal.ts';
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
  SubAgent,
  SubAgentKind,
  SubAgentState,
  TaskEnd,
  TaskState,
} from './types.ts';
