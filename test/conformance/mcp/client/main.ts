// The client that the suite starts: `node main.mjs direct|serve|shim URL`, the scenario in its environment.
import { fileURLToPath } from 'node:url';
import { type Agent, legacyAgent, modernAgent } from './agent.ts';
import { direct } from './direct.ts';
import { scenario } from './scenarios.ts';
import { throughServe, throughShim } from './through-sub.ts';
import type { Connection } from './types.ts';

const SUB = fileURLToPath(new URL('../../../../packages/cli/bin/sub.mjs', import.meta.url));
const MODERN = '2026-07-28';
/** A user who is asked again and again gives up. */
const LOGINS_MAX = 3;

async function connect(way: string, url: string): Promise<Connection> {
  if (way === 'serve') return throughServe(SUB, url);
  if (way === 'shim') return throughShim(SUB, url);
  return direct(url);
}

/** Does it again when the user has logged in. */
function withLogins(connection: Connection) {
  let logins = 0;
  return async function attempt<Result>(action: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await action();
      } catch (cause) {
        if (++logins > LOGINS_MAX || !(await connection.logIn(cause))) throw cause;
      }
    }
  };
}

async function main(way = '', url = ''): Promise<void> {
  const { MCP_CONFORMANCE_SCENARIO: name = '', MCP_CONFORMANCE_PROTOCOL_VERSION: version } =
    process.env;
  const run = scenario(name);
  const connection = await connect(way, url);
  try {
    const attempt = withLogins(connection);
    const agent = await attempt<Agent>(() =>
      version === MODERN ? modernAgent(connection.modern()) : legacyAgent(connection.legacy()),
    );
    const patient = new Proxy(agent, {
      get: (target, member) => {
        const method: unknown = Reflect.get(target, member);
        return typeof method === 'function'
          ? (...args: unknown[]) =>
              attempt(async () => (await Reflect.apply(method, target, args)) as unknown)
          : method;
      },
    });
    await run(patient);
    await agent.close();
  } finally {
    await connection.close();
  }
}

const isDone = await main(...process.argv.slice(2)).then(
  () => true,
  (cause: unknown) => {
    process.stderr.write(`${String(cause)}\n`);
    return false;
  },
);
// The SDK leaves streams open.
process.exit(isDone ? 0 : 1);
