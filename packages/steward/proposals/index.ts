export type { ConfigProposals } from './config-proposals.ts';
export { openConfigProposals } from './config-proposals.ts';
export { proposalAnswer } from './proposal-answer.ts';
export type { ProposalView } from './proposal-desk.ts';
export { ProposalDesk } from './proposal-desk.ts';
