export { isMoment, patternTimes } from './due-times.ts';
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
  StepState,
  SubAgent,
  SubAgentKind,
  SubAgentState,
  TaskEnd,
} from './types.ts';
export { waitForChange } from './wait-for-change.ts';
