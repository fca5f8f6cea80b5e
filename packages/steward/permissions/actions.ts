// Actions as permissions.yaml names them: `SERVER.TOOL`, with globs.
import { compileGlob } from '@subluminal/core/policy';

/** Ids of rules hold the action, and have a limit themselves. */
const ACTION_LENGTH_MAX = 96;

export interface ActionPattern {
  readonly server: string;
  readonly tool: string;
}

/** Servers have no dot in their names, so the first dot ends the name of the server. */
function splitAction(action: string): ActionPattern | undefined {
  const dot = action.indexOf('.');
  if (dot < 1 || dot === action.length - 1) return undefined;
  return { server: action.slice(0, dot), tool: action.slice(dot + 1) };
}

/** Why an action cannot be read; undefined when it can. */
export function actionFault(action: string): string | undefined {
  const parts = splitAction(action);
  if (parts === undefined) return 'it is not of the form `SERVER.TOOL`';
  if (action.length > ACTION_LENGTH_MAX) return `it is longer than ${ACTION_LENGTH_MAX} characters`;
  for (const part of [parts.server, parts.tool]) {
    const glob = compileGlob(part);
    if (!glob.ok) return glob.message;
  }
  return undefined;
}

type ActionTest = (action: ActionPattern) => boolean;

/** Compiled once for each list of a file; `any` is in any case. */
const compiled = {
  exact: new WeakMap<readonly string[], ActionTest>(),
  any: new WeakMap<readonly string[], ActionTest>(),
};

/** Whether some of the actions mean a tool. */
export function meansAction(
  actions: readonly string[],
  action: ActionPattern,
  spelling: keyof typeof compiled = 'exact',
): boolean {
  const known = compiled[spelling].get(actions);
  const test = known ?? actionTest(actions, spelling === 'any');
  if (known === undefined) compiled[spelling].set(actions, test);
  return test(action);
}

function actionTest(actions: readonly string[], ignoresCase: boolean): ActionTest {
  const tests = actions.flatMap((action) => {
    const parts = splitAction(action);
    const server = parts && compileGlob(parts.server, { ignoresCase });
    const tool = parts && compileGlob(parts.tool, { ignoresCase });
    return server?.ok && tool?.ok ? [{ server: server.test, tool: tool.test }] : [];
  });
  return ({ server, tool }) => tests.some((test) => test.server(server) && test.tool(tool));
}

/** The tools of each server: a rule matches names of servers and names of tools, each as one list. */
export function byServer(actions: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const servers = new Map<string, string[]>();
  for (const action of new Set(actions)) {
    const parts = splitAction(action);
    if (parts === undefined) continue;
    const tools = servers.get(parts.server) ?? [];
    servers.set(parts.server, [...tools, parts.tool]);
  }
  return servers;
}
