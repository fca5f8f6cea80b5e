export {
  type Guardian,
  type GuardianQuestion,
  judgeProposal,
  openGuardian,
} from './judge-proposal.ts';
