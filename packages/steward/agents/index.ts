export { type CodingAgent, SubAgentPool } from './sub-agent-pool.ts';
