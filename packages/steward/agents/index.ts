export { type CodingAgent, codingAgent } from './coding-agent.ts';
export { SubAgentPool } from './sub-agent-pool.ts';
