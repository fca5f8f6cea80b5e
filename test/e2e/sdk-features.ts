// What a client sees of a server, feature by feature, in a form that two connections can be compared by.
import type { OpenClient } from './sdk-client.ts';

export type Call = readonly [name: string, args: Record<string, unknown>];

export interface Surface {
  readonly tools: readonly Call[];
  /** A call that reports progress for long enough to be cancelled. */
  readonly long?: Call;
  readonly resources: readonly string[];
  readonly prompts: readonly (readonly [name: string, args: Record<string, string>])[];
  /** Its log messages come with its calls, and not at moments of its own. */
  readonly logs?: boolean;
  readonly completion: readonly [prompt: string, argument: string];
}

/** The answer to each request, or the error that it ended with. */
export async function transcript(open: OpenClient, surface: Surface): Promise<object> {
  const { client, logged } = open;
  const seen: Record<string, unknown> = {
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
  const record = async (name: string, ask: () => Promise<object>): Promise<void> => {
    seen[name] = await ask().catch(errorOf);
  };
  await record('tools/list', () => client.listTools());
  for (const [name, args] of surface.tools) {
    const progress: object[] = [];
    const onprogress = (step: object): void => {
      // Where input is part of a result, the SDK reports its rounds itself.
      if (!JSON.stringify(step).includes('Fulfilling input')) progress.push(step);
    };
    await record(`tools/call ${name}`, () => open.call(name, args, { onprogress }));
    // The SDK's client on stdio drops a report that comes in one piece with the answer.
    seen[`progress of ${name}`] = progress.slice(0, 2);
  }
  await record('tools/call of no tool', () => open.call('no_such_tool', {}));
  await record('resources/list', () => client.listResources());
  await record('resources/templates/list', () => client.listResourceTemplates());
  for (const uri of surface.resources) {
    await record(`resources/read ${uri}`, () => client.readResource({ uri }));
  }
  await record('prompts/list', () => client.listPrompts());
  for (const [name, args] of surface.prompts) {
    await record(`prompts/get ${name}`, () => client.getPrompt({ name, arguments: args }));
  }
  const [prompt, argument] = surface.completion;
  await record('completion/complete', () =>
    client.complete({
      ref: { type: 'ref/prompt', name: prompt },
      argument: { name: argument, value: 'par' },
    }),
  );
  const { long } = surface;
  if (long !== undefined) await record('cancelled call', () => cancelled(open, long));
  if (surface.logs === true) seen['logged'] = logged;
  return JSON.parse(JSON.stringify(seen).replaceAll(TIME, 'TIME'), withoutEra) as object;
}

/** What a revision adds or leaves out: a client of 2026-07-28 sees it through `sub`, whatever the server speaks. */
const OF_ERA: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/serverInfo',
  'cacheScope',
  'ttlMs',
  'tasks',
  'execution',
]);

function withoutEra(key: string, value: unknown): unknown {
  if (OF_ERA.has(key)) return undefined;
  return key === '_meta' && JSON.stringify(value) === '{}' ? undefined : value;
}

/** Of the server's clock. */
const TIME = /\b\d{1,2}:\d\d:\d\d(?: [AP]M)?\b/g;

/** Cancels the call at its first progress. */
function cancelled(open: OpenClient, [name, args]: Call): Promise<object> {
  const controller = new AbortController();
  return open.call(name, args, {
    signal: controller.signal,
    onprogress: () => controller.abort('enough'),
  });
}

function errorOf(cause: unknown): object {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return { code, message };
}
