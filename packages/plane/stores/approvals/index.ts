export type { Decided, Desk, PersonVerdict } from './desk.ts';
export { approves, openDesk } from './desk.ts';
export { findId, shortId } from './find-id.ts';
export type { GrantChange, GrantEntry, GrantState, Grants } from './grants.ts';
export { openGrants } from './grants.ts';
export type { GrantedCall } from './match.ts';
export { sameCall } from './match.ts';
export type { ApprovalPorts, Owner } from './ports.ts';
export type { ArgsWish, GrantWish } from './propose.ts';
export { grantFor } from './propose.ts';
export type {
  Asked,
  Ended,
  Ending,
  EndResult,
  Entry,
  EntryState,
  Question,
  Queue,
} from './queue.ts';
export { openQueue } from './queue.ts';
export type { Damaged, Listing } from './records.ts';
export type { Follower, Stoppable } from './watch.ts';
export { grantWords } from './words.ts';
