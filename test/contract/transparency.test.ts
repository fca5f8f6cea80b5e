// The official client and server-everything cannot tell whether the shim stands between them.
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  type JSONRPCMessage,
  ListResourcesResultSchema,
  ListToolsResultSchema,
  type LoggingLevel,
  McpError,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { normal, openSession, type Session } from './everything.ts';
import { jsonOf } from './lines.ts';

type Scene = (session: Session) => Promise<unknown>;

/** What came of it, be it a result or an error. */
async function outcome(scene: Scene, session: Session): Promise<unknown> {
  try {
    return normal(await scene(session));
  } catch (cause) {
    if (!(cause instanceof McpError)) throw cause;
    return normal({ thrown: cause.message, code: cause.code, data: cause.data });
  }
}

const TOOLS: readonly (readonly [tool: string, args: { readonly [name: string]: unknown }])[] = [
  ['echo', { message: 'héllo 😀 \u2028 \u0000 "\\' }],
  ['echo', { message: '' }],
  ['echo', {}],
  ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ['get-annotated-message', { messageType: 'debug' }],
  ['get-annotated-message', { messageType: 'unknown' }],
  ['get-resource-links', { count: 10 }],
  ['get-resource-links', { count: 11 }],
  ['get-resource-reference', { resourceType: 'Text', resourceId: 3 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: 4 }],
  ['get-resource-reference', { resourceType: 'Blob', resourceId: -1 }],
  ['get-structured-content', { location: 'Chicago' }],
  ['get-structured-content', { location: 'Nowhere' }],
  ['get-sum', { a: 1e21, b: -0.1 }],
  ['get-sum', { a: 'one', b: 2 }],
  ['get-tiny-image', {}],
  [
    'gzip-file-as-resource',
    { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
  ],
  ['gzip-file-as-resource', { name: 'b.gz', data: 'data:text/plain,hello' }],
  ['gzip-file-as-resource', { name: 'c.gz', data: 'file:///etc/passwd' }],
  ['get-roots-list', {}],
  ['trigger-elicitation-request', {}],
  ['trigger-url-elicitation', { url: 'https://example.org/x', elicitationId: 'fixed' }],
  ['trigger-url-elicitation', { url: 'https://example.org/y', errorPath: true }],
  ['trigger-sampling-request', { prompt: 'Say é', maxTokens: 7 }],
  ['trigger-sampling-request-async', { prompt: 'later' }],
  ['trigger-elicitation-request-async', {}],
  ['trigger-long-running-operation', { duration: 0.1, steps: 2 }],
  ['no-such-tool', {}],
];
// These have scenes of their own below.
const STAGED = [
  'get-env',
  'simulate-research-query',
  'toggle-simulated-logging',
  'toggle-subscriber-updates',
];

describe.each(['stdio', 'http', 'sse'] as const)('over %s', (kind) => {
  let direct: Session;
  let governed: Session;

  beforeAll(async () => {
    ensureBuilt();
    [direct, governed] = await Promise.all([
      openSession('direct', kind),
      openSession('governed', kind),
    ]);
    // The server asks for the roots a moment after the handshake: afterwards both are at rest.
    await Promise.all([direct, governed].map((session) => session.arrived('Roots updated: 2')));
  }, 60_000);

  afterAll(async () => {
    await Promise.all([direct, governed].map((session) => session.close()));
  });

  /** Plays the scene on both sides and gives the one outcome that both had. */
  async function expectSame(scene: Scene): Promise<unknown> {
    const [without, within] = await Promise.all([outcome(scene, direct), outcome(scene, governed)]);
    expect(within).toEqual(without);
    return within;
  }

  describe('the handshake', () => {
    it('has the same result, capabilities and instructions', async () => {
      verifies('T-A1.1', 'F-017', 'SL-7.2');
      const told = await expectSame(({ client, got }) =>
        Promise.resolve({
          answer: got[0],
          version: client.getServerVersion(),
          capabilities: client.getServerCapabilities(),
          instructions: client.getInstructions(),
        }),
      );
      expect(told).toMatchObject({
        answer: { result: { protocolVersion: '2025-11-25' } },
        version: { name: 'mcp-servers/everything' },
      });
      expect(await expectSame(({ client }) => client.ping())).toEqual({});
    });
  });

  describe('tools', () => {
    it('are the same, and every one of them is called here', async () => {
      const listed = await expectSame(({ client }) => client.listTools());
      const named = new Set([...TOOLS.map(([tool]) => tool), ...STAGED]);
      named.delete('no-such-tool');
      const { tools } = ListToolsResultSchema.parse(listed);
      expect([...named].toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    });

    it.each(TOOLS)('answer the same: %s %j', async (name, args) => {
      verifies('T-A1', 'T-A1.2', 'F-012', 'F-017', 'SL-7.1');
      await expectSame(({ client }) => client.callTool({ name, arguments: args }));
    });

    it.runIf(kind === 'stdio')(
      'see the same environment but for the mark of the shim',
      async () => {
        const env = async ({ client }: Session): Promise<object> => {
          const told = await client.callTool({ name: 'get-env', arguments: {} });
          const [first] = CallToolResultSchema.parse(told).content;
          const parsed = jsonOf(first?.type === 'text' ? first.text : '');
          return typeof parsed === 'object' && parsed !== null ? parsed : {};
        };
        const [without, within] = await Promise.all([env(direct), env(governed)]);
        const added = Object.keys(within).filter((name) => !(name in without));
        expect(added).toEqual(['SUB_SHIM_ID']);
        // Each side has a home of its own for the product.
        const rest = { SUB_SHIM_ID: '', SUB_HOME: '' };
        expect({ ...within, ...rest }).toEqual({ ...without, ...rest });
      },
    );

    it('tell their progress as they go', async () => {
      verifies('F-017');
      const told = await expectSame(async ({ client }) => {
        const progress: unknown[] = [];
        const call = {
          name: 'trigger-long-running-operation',
          arguments: { duration: 0.3, steps: 4 },
        };
        await client.callTool(call, undefined, { onprogress: (one) => progress.push(one) });
        // The client itself may lose the last one, when it comes in one read with the answer.
        return progress.slice(0, 3);
      });
      expect(told).toMatchObject([{ progress: 1 }, { progress: 2 }, { progress: 3, total: 4 }]);
    });
  });

  describe('cancellation', () => {
    it('of a call reaches the server, which then never answers', async () => {
      verifies('F-017');
      await expectSame(async ({ client, sent }) => {
        const controller = new AbortController();
        const call = {
          name: 'trigger-long-running-operation',
          arguments: { duration: 0.2, steps: 2 },
        };
        const over = client.callTool(call, undefined, {
          signal: controller.signal,
          onprogress: () => controller.abort('enough'),
        });
        const failed = await over.then(
          () => 'answered',
          (cause: unknown) => String(cause),
        );
        const notices = sent.filter(
          (one) => 'method' in one && one.method === 'notifications/cancelled',
        );
        return [failed, notices.length];
      });
    });

    it('of a call leaves what the server had asked for it in order', async () => {
      verifies('EC-STDIO-019', 'F-017');
      await expectSame(async ({ client, holdSampling }) => {
        const { asked, release } = holdSampling();
        const controller = new AbortController();
        const call = { name: 'trigger-sampling-request', arguments: { prompt: 'never' } };
        const over = client.callTool(call, undefined, { signal: controller.signal });
        await asked;
        const failed = over.then(
          () => 'answered',
          (cause: unknown) => String(cause),
        );
        controller.abort('enough');
        release();
        // The session goes on, and the server still takes the answer to what it had asked.
        return [await failed, await client.ping()];
      });
    });
  });

  describe('prompts', () => {
    it.each([
      ['simple-prompt', {}],
      ['args-prompt', { city: 'Zürich', state: 'ZH' }],
      ['args-prompt', {}],
      ['completable-prompt', { department: 'Engineering', name: 'Alice' }],
      ['resource-prompt', { resourceType: 'Text', resourceId: '2' }],
      ['resource-prompt', { resourceType: 'Blob', resourceId: '2' }],
      ['resource-prompt', { resourceType: 'Neither', resourceId: '2' }],
      ['no-such-prompt', {}],
    ])('are the same: %s %j', async (name, args) => {
      await expectSame(({ client }) => client.getPrompt({ name, arguments: { ...args } }));
    });

    it('are listed and completed the same', async () => {
      const listed = await expectSame(({ client }) => client.listPrompts());
      expect(listed).toMatchObject({ prompts: { length: 4 } });
      const ref = { type: 'ref/prompt', name: 'completable-prompt' } as const;
      const argument = { name: 'department', value: 'E' };
      const completed = await expectSame(({ client }) => client.complete({ ref, argument }));
      expect(completed).toMatchObject({ completion: { values: ['Engineering'] } });
      const context = { arguments: { department: 'Sales' } };
      await expectSame(({ client }) =>
        client.complete({ ref, argument: { name: 'name', value: '' }, context }),
      );
    });
  });

  describe('resources', () => {
    it('are listed, described and read the same', async () => {
      await expectSame(({ client }) => client.listResourceTemplates());
      const listed = await expectSame(({ client }) => client.listResources());
      const { resources } = ListResourcesResultSchema.parse(listed);
      expect(resources.length).toBeGreaterThan(5);
      const uris = [
        ...resources.map(({ uri }) => uri),
        'demo://resource/dynamic/text/7',
        'demo://resource/dynamic/blob/7',
        'demo://resource/dynamic/text/none',
        'demo://nothing',
      ];
      for (const uri of uris) await expectSame(({ client }) => client.readResource({ uri }));
      const ref = {
        type: 'ref/resource',
        uri: 'demo://resource/dynamic/text/{resourceId}',
      } as const;
      const argument = { name: 'resourceId', value: '12' };
      await expectSame(({ client }) => client.complete({ ref, argument }));
    });

    it('tell of updates to whoever has subscribed', async () => {
      verifies('F-017', 'EC-STDIO-020');
      const uri = 'demo://resource/dynamic/text/9';
      const toggle = { name: 'toggle-subscriber-updates', arguments: {} };
      await expectSame(async ({ client, arrived }) => {
        const subscribed = await client.subscribeResource({ uri });
        await arrived(`Received Subscribe Resource request for URI: ${uri}`);
        const on = await client.callTool(toggle);
        await arrived(`"method":"notifications/resources/updated","params":{"uri":"${uri}"}`);
        const off = await client.callTool(toggle);
        return [subscribed, on, off, await client.unsubscribeResource({ uri })];
      });
    });
  });

  describe('logging', () => {
    it('has a level that the server heeds, and messages that arrive', async () => {
      verifies('F-017');
      const toggle = { name: 'toggle-simulated-logging', arguments: {} };
      await expectSame(async ({ client, arrived }) => {
        const levels: readonly LoggingLevel[] = ['emergency', 'debug'];
        const set = [];
        for (const level of levels) set.push(await client.setLoggingLevel(level));
        const on = await client.callTool(toggle);
        // Which one is left to chance.
        await arrived('level');
        return [set, on, await client.callTool(toggle)];
      });
      await expectSame(({ client }) =>
        client.request({ method: 'logging/setLevel', params: { level: 'loud' } }, ResultSchema),
      );
    });
  });

  describe('roots', () => {
    it('are asked for again when they have changed', async () => {
      verifies('EC-STDIO-019');
      await expectSame(async ({ client, arrived }) => {
        await client.sendRootsListChanged();
        await arrived('"method":"roots/list"', 2);
        await arrived('Roots updated: 2', 2);
        return client.callTool({ name: 'get-roots-list', arguments: {} });
      });
    });
  });

  describe('tasks', () => {
    it('are created, polled, asked for input, finished, listed and cancelled the same', async () => {
      const told = await expectSame(async ({ client }) => {
        const { tasks } = client.experimental;
        const messages: unknown[] = [];
        const call = {
          name: 'simulate-research-query',
          arguments: { topic: 'python', ambiguous: true },
        };
        for await (const message of tasks.callToolStream(call, CallToolResultSchema, {
          task: { ttl: 60_000 },
        })) {
          messages.push(message.type === 'taskStatus' ? message.type : message);
        }
        // How often it was polled is a matter of time.
        const kinds = messages.filter((one) => one !== 'taskStatus');
        const { task } = await client.request(
          { method: 'tools/call', params: { ...call, task: { ttl: 60_000 } } },
          CreateTaskResultSchema,
        );
        const cancelled = await tasks.cancelTask(task.taskId);
        const { tasks: listed } = await tasks.listTasks();
        const states = listed.map(({ status }) => status).toSorted();
        return [kinds, cancelled.status, states];
      });
      expect(told).toMatchObject([
        [{ type: 'taskCreated' }, { type: 'result' }],
        'cancelled',
        ['cancelled', 'completed'],
      ]);
    });
  });

  describe('what nobody knows', () => {
    it('is answered the same', async () => {
      await expectSame(({ client }) => client.request({ method: 'no/such/method' }, ResultSchema));
      await expectSame(({ client }) =>
        client.request(
          { method: 'tools/list', params: { cursor: 'beyond', unknown: [1] } },
          ResultSchema,
        ),
      );
    });
  });

  describe('all in all', () => {
    /** What the times of a run leave open: logs by chance, how often tasks are polled, and ids. */
    function lasting(messages: readonly JSONRPCMessage[]): readonly string[] {
      const texts = messages.map((message) => {
        const { id: _id, ...rest } = { id: null, ...message };
        return JSON.stringify(normal(rest)).replace(/"progressToken":\d+/, '"progressToken":0');
      });
      return texts
        .filter(
          (text) => !/-level message|level-message|"pollInterval"|SUB_SHIM_ID|SUB_HOME/.test(text),
        )
        .toSorted();
    }

    it('the client got the very same messages', () => {
      verifies('F-012', 'F-017');
      // Over http, the official client asks for streams again that have ended, and this server then repeats other streams.
      const compared = (messages: readonly string[]) =>
        kind === 'http' ? [...new Set(messages)] : messages;
      expect(compared(lasting(governed.got))).toEqual(compared(lasting(direct.got)));
      expect(governed.got.length).toBeGreaterThan(80);
    });
  });
});
