// A secret at every place of a message, of every format there is: nothing of it is kept or shown.
import type { Rule } from '@subluminal/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { optionsOf } from '../gates/guard.test-support.ts';
import { createGuard } from '../gates/index.ts';
import { deny, snapshotOf } from '../policy/testing/scenario.ts';
import { formatSamples, type Sample } from '../scan/formats/samples.test-support.ts';
import { createRedactor } from '../scan/redact/index.ts';
import { answersOf, call, type Play, play, request, result } from './playbook.test-support.ts';
import type { Command, SessionConfig, Side } from './types.ts';

const { plain, isClean } = createRedactor({});
/** As the shim has it. */
const REDACTION = { redact: plain, isClean } satisfies Partial<SessionConfig>;
const SAMPLES = formatSamples();

const HINT: Rule = {
  rule_id: 'few',
  kind: 'deny',
  enabled: true,
  severity: 'warn',
  match: { tool_name: { glob: ['search'] } },
  effect: {
    action: 'BLOCK',
    message: 'Too many.',
    hint: { hint_text: 'Ask for less.', suggest: { clamp: { limit: { max: 10 } } } },
  },
};
const DENIED = deny('no', { tool_name: { glob: ['*value*', '*key*'] } });

/** Compiled once: there are thousands of sessions. */
const SNAPSHOTS = await Promise.all([
  snapshotOf([DENIED, HINT], { mode: 'control' }),
  snapshotOf([DENIED, HINT]),
  snapshotOf([DENIED, HINT], { profile: 'development' }),
]);

type Said = readonly [side: Side, message: unknown];

/** Messages with a text at one place of them; the first ones open what the last one answers. */
const PLACES: { readonly [place: string]: (text: string) => readonly Said[] } = {
  'the name of a tool': (text) => [['agent', call(1, text)]],
  'the end of a long name of a tool': (text) => [['agent', call(1, 'x'.repeat(100) + text)]],
  'an argument': (text) => [['agent', call(1, 'a', { note: [text] })]],
  'the key of an argument': (text) => [['agent', call(1, 'a', { [text]: 1 })]],
  'an argument that a hint corrects': (text) => [
    ['agent', call(1, 'search', { limit: 500, note: text })],
  ],
  'a key that stands twice': (text) => {
    const key = JSON.stringify(text);
    const args = `{${key}:1,${key}:2}`;
    const params = `{"name":"a","arguments":${args}}`;
    return [['agent', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`]];
  },
  'the id of a call': (text) => [['agent', call(text, 'a')]],
  'the id of a refused call': (text) => [['agent', call(text, 'value')]],
  'the id of an answer to nothing': (text) => [['server', result(text)]],
  'a token for progress': (text) => [
    [
      'agent',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'a', _meta: { progressToken: text } },
      },
    ],
  ],
  'the method of a request': (text) => [['agent', request(1, text)]],
  'the method of a notification': (text) => [['agent', { jsonrpc: '2.0', method: text }]],
  'the method of a request of the server': (text) => [['server', request('s', text)]],
  'a resource': (text) => [
    ['agent', request(1, 'resources/read', { uri: `file:///${text}` })],
    ['server', { jsonrpc: '2.0', id: 1, error: { code: -1, message: `no ${text}` } }],
  ],
  'a prompt': (text) => [['agent', request(1, 'prompts/get', { name: text })]],
  'a result': (text) => [
    ['agent', call(1, 'a')],
    ['server', result(1, { content: [{ type: 'text', text }] })],
  ],
  'the key of a result': (text) => [
    ['agent', call(1, 'a')],
    ['server', result(1, { structuredContent: { [text]: 1 } })],
  ],
  'the message of an error': (text) => [
    ['agent', call(1, 'a')],
    ['server', { jsonrpc: '2.0', id: 1, error: { code: -1, message: text, data: { text } } }],
  ],
  'the message of progress': (text) => [
    ['server', { jsonrpc: '2.0', method: 'notifications/progress', params: { message: text } }],
  ],
  'a log': (text) => [
    ['server', { jsonrpc: '2.0', method: 'notifications/message', params: { data: text } }],
  ],
  'no JSON': (text) => [
    ['agent', text],
    ['server', text],
  ],
  'the version of the protocol': (text) => [
    ['agent', request(1, 'initialize', { protocolVersion: text })],
  ],
};

/** What is kept, shown or said: all but the messages themselves and answers to who has sent them. */
function keptOf(commands: readonly Command[]): string {
  const kept = commands.filter((command) => command.do === 'emit' || command.do === 'report');
  return JSON.stringify(kept, (key, value: unknown) => (key === 'sample' ? '' : value));
}

async function sessions(recorded: string[]): Promise<readonly Play[]> {
  const hooks: Partial<SessionConfig> = {
    // As the logs of the shim tell it.
    counted: (_, method) => void recorded.push(plain(method)),
    decided: (ref, decision, id) =>
      void recorded.push(ref.tool_name, plain(decision.summary), plain(id ?? '')),
  };
  const content = { inbound: { secret: 'block' }, outbound: { secret: 'block' } } as const;
  const guard = () => createGuard(optionsOf({ content, redact: plain }));
  const [controlling, guarded, developing] = SNAPSHOTS;
  const config = { ...REDACTION, ...hooks };
  return Promise.all([
    play([], { config: { ...config, snapshot: controlling } }),
    play([], { config: { ...config, snapshot: guarded, guard: guard() } }),
    play([], { profile: 'development', config: { ...config, snapshot: developing } }),
  ]);
}

describe.each(Object.entries(PLACES))('a secret as %s', (_, saidOf) => {
  let leaked: readonly string[];

  beforeAll(async () => {
    const found: string[] = [];
    for (const { text, secret, rule } of SAMPLES) {
      const recorded: string[] = [];
      for (const { send } of await sessions(recorded)) {
        for (const [side, message] of saidOf(text)) recorded.push(keptOf(send(side, message)));
      }
      if (isIn({ secret }, recorded)) found.push(`${rule}: ${text}`);
    }
    leaked = found;
  });

  it('is in no event, no report and no log, whatever its format', () => {
    expect(leaked).toEqual([]);
  });
});

function isIn({ secret }: Pick<Sample, 'secret'>, recorded: readonly string[]): boolean {
  const written = [secret, JSON.stringify(secret).slice(1, -1)];
  return recorded.some((text) => written.some((form) => text.includes(form)));
}

describe('a name that is cut inside of a secret', () => {
  const LONG = SAMPLES.filter(({ text, secret }) => text === `value ${secret} ok`);
  const NOTE = { note: formatSamples()[0]?.text };
  const content = { inbound: { secret: 'block' }, outbound: { secret: 'block' } } as const;

  it.each([
    ['the name of a tool', (name: string) => call(1, name, NOTE)],
    ['a method', (method: string) => request(1, method, NOTE)],
  ])('shows nothing of it: %s', async (_, messageOf) => {
    const guard = createGuard(optionsOf({ content, redact: plain }));
    const { send } = await play([], { config: { ...REDACTION, guard } });
    const leaked = LONG.filter(({ secret }) => {
      const name = `${'x '.repeat(30)}${secret}`;
      const kept = keptOf(send('agent', messageOf(name)));
      return kept.includes(secret.slice(0, 16));
    });
    expect(leaked.map(({ rule }) => rule)).toEqual([]);
  });
});

describe('a refusal', () => {
  it('suggests no arguments that hold a secret, whatever its format', async () => {
    const { send } = await play([HINT], { mode: 'control', config: REDACTION });
    const leaked = SAMPLES.filter(({ text, secret }, index) => {
      const commands = send('agent', call(index + 1, 'search', { limit: 500, note: text }));
      return isIn({ secret }, [JSON.stringify(answersOf(commands))]);
    });
    expect(leaked.map(({ rule }) => rule)).toEqual([]);
  });

  it('still suggests arguments that hold none', async () => {
    const { send } = await play([HINT], { mode: 'control', config: REDACTION });
    const commands = send('agent', call(1, 'search', { limit: 500, note: 'plain' }));
    expect(JSON.stringify(answersOf(commands))).toContain('Suggested arguments');
  });
});

describe('a name that begins like a secret', () => {
  it.each(['npm_install', 'secret_list', 'hf_search', 'pa-system', 'key-rotate'])(
    'is shown as it is: %s',
    async (name) => {
      const { send } = await play([], { config: REDACTION });
      expect(keptOf(send('agent', call(1, name)))).toContain(`"tool_name":"${name}"`);
    },
  );
});
