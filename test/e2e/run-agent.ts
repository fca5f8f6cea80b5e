// How the agent of run-agent.mjs is started: one file for it, and one for its servers.
import { bundled, everythingServer } from '../bundled.ts';
import { ROOT, SUB } from './sub.ts';

export interface Plan {
  readonly servers: readonly string[];
  /** Another program than the reference server, with its arguments. */
  readonly server?: string;
  readonly serverArgs?: readonly string[];
  readonly calls: readonly (readonly [server: string, tool: string, args: object])[];
  /** Its servers get the environment that the SDK gives by itself. */
  readonly bare?: boolean;
  readonly together?: boolean;
  readonly linger?: boolean;
  readonly exit?: number;
  /** How long it waits for an answer; without it a minute, as the SDK does. */
  readonly timeoutMs?: number;
}

/** The command of an agent with this plan. */
export function runAgent(plan: Plan): readonly string[] {
  const whole = { sub: SUB, server: everythingServer(), serverArgs: ['stdio'], ...plan };
  const agent = bundled(`${ROOT}test/e2e/run-agent.mjs`);
  return [process.execPath, agent, JSON.stringify(whole)];
}
