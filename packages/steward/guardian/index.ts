export type { JudgedProposal } from './case-message.ts';
export {
  type Guardian,
  type GuardianOptions,
  type GuardianQuestion,
  judgeProposal,
  openGuardian,
} from './judge-proposal.ts';
