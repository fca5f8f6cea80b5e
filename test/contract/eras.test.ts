// A client can't tell that the server speaks the other era of MCP, when the shim or `sub serve` stands between them.
import { readFileSync } from 'node:fs';
import type { Client as ModernClient } from '@modelcontextprotocol/client';
import type { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { type Between, type EraSession, legacyClient, modernClient, neutral } from './eras.ts';

beforeAll(() => ensureBuilt());

interface Both<C> {
  readonly bridged: EraSession<C>;
  readonly direct: EraSession<C>;
}

/** What came of it, be it a result or an error. */
async function outcome(scene: () => Promise<unknown>): Promise<unknown> {
  try {
    return neutral(await scene());
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    return neutral({ thrown: cause.message, code: cause.code });
  }
}

async function expectSame<C>(
  both: Both<C>,
  scene: (client: C) => Promise<unknown>,
): Promise<unknown> {
  const [bridged, direct] = await Promise.all([
    outcome(() => scene(both.bridged.client)),
    outcome(() => scene(both.direct.client)),
  ]);
  expect(bridged).toEqual(direct);
  return bridged;
}

async function openBoth<C>(
  open: (between: Between) => Promise<EraSession<C>>,
  between: Between,
): Promise<Both<C>> {
  const [bridged, direct] = await Promise.all([open(between), open('direct')]);
  return { bridged, direct };
}

interface Ended {
  readonly type: string;
  readonly call?: { readonly tool_name?: string };
}

/** How often a tool was called, as the events of the shim tell. */
function callsOf(eventsPath: string, tool: string): number {
  // The shim writes on: what follows the last newline is half a line.
  const whole = readFileSync(eventsPath, 'utf8').split('\n').slice(0, -1);
  return whole
    .map((line) => JSON.parse(line) as Ended)
    .filter(({ type, call }) => type === 'tool_call_start' && call?.tool_name === tool).length;
}

describe.each(['shim', 'serve', 'address'] as const)(
  'a modern client on a legacy server: %s',
  (between) => {
    let both: Both<ModernClient>;
    beforeAll(async () => {
      both = await openBoth(modernClient, between);
      await both.direct.arrived('Roots updated');
    });
    afterAll(async () => {
      await Promise.all([both.bridged.close(), both.direct.close()]);
    });

    test('learns the same of the server, but for tasks', async () => {
      const { bridged, direct } = both;
      const { tasks: _, ...capabilities } = direct.client.getServerCapabilities() ?? {};
      expect(bridged.client.getServerCapabilities()).toEqual(capabilities);
      expect(bridged.client.getServerVersion()).toEqual(direct.client.getServerVersion());
      expect(bridged.client.getInstructions()).toEqual(direct.client.getInstructions());
      expect(bridged.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    });

    test.each([
      ['tools', (client: ModernClient) => client.listTools()],
      ['resources', (client: ModernClient) => client.listResources()],
      ['templates', (client: ModernClient) => client.listResourceTemplates()],
      ['prompts', (client: ModernClient) => client.listPrompts()],
      ['a prompt', (client: ModernClient) => client.getPrompt({ name: 'simple-prompt' })],
      [
        'a resource',
        (client: ModernClient) => client.readResource({ uri: 'demo://resource/dynamic/text/1' }),
      ],
      ['a missing resource', (client: ModernClient) => client.readResource({ uri: 'demo://no' })],
      ['a missing prompt', (client: ModernClient) => client.getPrompt({ name: 'no' })],
      [
        'a completion',
        (client: ModernClient) =>
          client.complete({
            ref: { type: 'ref/prompt', name: 'completable-prompt' },
            argument: { name: 'department', value: 'E' },
          }),
      ],
    ])('gets the same: %s', async (_, scene) => {
      await expectSame(both, scene);
    });

    test.each([
      ['echo', { message: 'héllo 😀 \u2028 "\\' }],
      ['echo', {}],
      ['get-structured-content', { location: 'Chicago' }],
      ['get-sum', { a: 1e21, b: -0.1 }],
      ['get-tiny-image', {}],
      ['get-resource-links', { count: 3 }],
      ['no-such-tool', {}],
      ['get-roots-list', {}],
      ['trigger-elicitation-request', {}],
      ['trigger-url-elicitation', { url: 'https://example.org/x', elicitationId: 'fixed' }],
      ['trigger-sampling-request', { prompt: 'Say é', maxTokens: 7 }],
    ])('gets the same from the tool %s with %j', async (name, args) => {
      await expectSame(both, (client) => client.callTool({ name, arguments: args }));
    });

    test.runIf(between === 'shim')(
      'a call that asks for input is executed once, and its rounds are recorded',
      async () => {
        const { client, eventsPath } = both.bridged;
        const before = callsOf(eventsPath, 'trigger-sampling-request');
        await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'once' } });
        expect(callsOf(eventsPath, 'trigger-sampling-request')).toBe(before + 2);
        expect(JSON.stringify(both.bridged.got)).toContain('"requestState"');
      },
    );

    test.runIf(between === 'shim')(
      'its rounds are no repeat of it, and another call is',
      async () => {
        const { client } = both.bridged;
        const again = client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
        await expect(again).rejects.toThrow('The same call passed');
      },
    );

    test('a tool that only runs as a task runs for a client without tasks', async () => {
      const { client } = both.bridged;
      await client.listTools();
      const answer = await client.callTool({
        name: 'simulate-research-query',
        arguments: { topic: 'eras', ambiguous: true },
      });
      expect(JSON.stringify(answer)).toContain('Research Report: eras');
    });

    test('a demand to visit a web page becomes a round of the call', async () => {
      const { client, got } = both.bridged;
      await client.callTool({
        name: 'trigger-url-elicitation',
        arguments: { url: 'https://example.org/demanded', errorPath: true },
      });
      expect(JSON.stringify(got)).toContain('"url":"https://example.org/demanded"');
      expect(JSON.stringify(got)).not.toContain('"code":-32042');
    });

    test('progress arrives', async () => {
      const { client, arrived } = both.bridged;
      await client.callTool(
        { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
        { onprogress: () => {} },
      );
      await expect(arrived('"progress":2')).resolves.toBeUndefined();
    });

    test('a subscription to a resource gets its updates', async () => {
      const { client, arrived } = both.bridged;
      const uri = 'demo://resource/dynamic/text/1';
      const subscription = await client.listen({ resourceSubscriptions: [uri] });
      await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
      await expect(arrived('notifications/resources/updated')).resolves.toBeUndefined();
      await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
      await subscription.close();
    });
  },
);

describe.each(['shim', 'serve', 'address'] as const)(
  'a legacy client on a modern server: %s',
  (between) => {
    let both: Both<LegacyClient>;
    beforeAll(async () => {
      both = await openBoth(legacyClient, between);
    });
    afterAll(async () => {
      await Promise.all([both.bridged.close(), both.direct.close()]);
    });

    test('learns the same of the server', () => {
      const { bridged, direct } = both;
      expect(bridged.client.getServerCapabilities()).toEqual(direct.client.getServerCapabilities());
      expect(bridged.client.getServerVersion()).toEqual(direct.client.getServerVersion());
      expect(bridged.client.getInstructions()).toEqual(direct.client.getInstructions());
    });

    test.each([
      ['tools', (client: LegacyClient) => client.listTools()],
      ['resources', (client: LegacyClient) => client.listResources()],
      ['prompts', (client: LegacyClient) => client.listPrompts()],
      ['a prompt that asks', (client: LegacyClient) => client.getPrompt({ name: 'greet' })],
      ['a resource', (client: LegacyClient) => client.readResource({ uri: 'test://watched' })],
      ['a missing prompt', (client: LegacyClient) => client.getPrompt({ name: 'no' })],
      ['a ping', (client: LegacyClient) => client.ping()],
      [
        'a completion',
        (client: LegacyClient) =>
          client.complete({
            ref: { type: 'ref/prompt', name: 'greet' },
            argument: { name: 'x', value: 'p' },
          }),
      ],
    ])('gets the same: %s', async (_, scene) => {
      await expectSame(both, scene);
    });

    test.each([
      ['echo', { message: 'héllo 😀 \u2028 "\\' }],
      ['fail', {}],
      ['structured', {}],
      ['no-such-tool', {}],
      ['name', {}],
      ['everything', {}],
      ['rounds', {}],
      ['page', {}],
    ])('gets the same from the tool %s', async (name, args) => {
      await expectSame(both, (client) => client.callTool({ name, arguments: args }));
    });

    test.runIf(between === 'shim')(
      'a call of several rounds is decided and recorded once',
      async () => {
        const { client, eventsPath } = both.bridged;
        const before = callsOf(eventsPath, 'rounds');
        await client.callTool({ name: 'rounds', arguments: {} });
        expect(callsOf(eventsPath, 'rounds')).toBe(before + 1);
      },
    );

    test('progress arrives', async () => {
      const { client, arrived } = both.bridged;
      await client.callTool({ name: 'progress', arguments: {} }, undefined, {
        onprogress: () => {},
      });
      await expect(arrived('"progress":3')).resolves.toBeUndefined();
    });

    test('messages arrive at the level that was set', async () => {
      const { client, got, arrived } = both.bridged;
      await client.setLoggingLevel('warning');
      await client.callTool({ name: 'log', arguments: {} });
      await arrived('a problem');
      expect(JSON.stringify(got)).not.toContain('a detail');
    });

    test('changes of lists and of subscribed resources arrive', async () => {
      const { client, arrived, got } = both.bridged;
      await client.subscribeResource({ uri: 'test://watched' });
      await client.callTool({ name: 'change', arguments: {} });
      await arrived('notifications/tools/list_changed');
      await arrived('notifications/resources/updated');
      await client.unsubscribeResource({ uri: 'test://watched' });
      expect(JSON.stringify(got)).not.toContain('subscriptionId');
    });

    test('a missing resource has the code of the era', async () => {
      const { client } = both.bridged;
      await expect(client.readResource({ uri: 'test://no' })).rejects.toMatchObject({
        code: -32002,
      });
    });

    test('a cancelled call ends at the client', async () => {
      const { client } = both.bridged;
      const controller = new AbortController();
      const { signal } = controller;
      const call = client.callTool({ name: 'hang', arguments: {} }, undefined, { signal });
      controller.abort();
      await expect(call).rejects.toThrow('aborted');
      await expect(client.ping()).resolves.toEqual({});
    });
  },
);
