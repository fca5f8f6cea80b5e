// What a server lists, as a session sees it: every digit counts, and only a list is a list.
import { describe, expect, it } from 'vitest';
import { call, play, request } from '../session/playbook.test-support.ts';
import type { Command } from '../session/types.ts';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { EMPTY_PINS, type PinStore } from '../surface/index.ts';
import { optionsOf } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import type { GuardOptions } from './guard-options.ts';
import { createLeakFinder } from './leak-finder.ts';

const opened = (store: PinStore) => ({ mode: 'on', opened: { ok: true, store } }) as const;
const tool = (name: string, digits: string) =>
  `{"name":"${name}","inputSchema":{"type":"object","properties":{"n":{"maximum":${digits}},"gone":{}}}}`;

/** A session that has asked for a list, and what arrives of the answer. */
async function session(options: Partial<GuardOptions>) {
  const guard = createGuard(optionsOf({ server: 'files', ...options }));
  const played = await play([], { config: { guard } });
  let id = 0;
  const answered = (method: string, result: string) => {
    id++;
    played.send('agent', request(id, method));
    const line = `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
    return arrivedOf(played.send('server', line), line);
  };
  return { ...played, guard, answered };
}

function arrivedOf(commands: readonly Command[], line: string): string {
  return commands
    .map((command) => {
      if (command.do === 'answer') return command.text;
      if (command.do !== 'forward') return '';
      return command.bytes === undefined ? line : Buffer.from(command.bytes).toString();
    })
    .join('');
}

describe('digits that a double cannot hold', () => {
  it('make a definition another one for the pins', async () => {
    const first = await session({ pins: opened(EMPTY_PINS) });
    first.answered('tools/list', `{"tools":[${tool('a', '9007199254740993')}]}`);
    const news = first.guard.pins();
    const store = {
      servers: new Map([['files', { instructions: undefined, tools: new Map(news?.tools) }]]),
    };
    const same = await session({ pins: opened(store) });
    same.answered('tools/list', `{"tools":[${tool('a', '9007199254740993')}]}`);
    expect(same.sendInShort('agent', call('c', 'a'))).toContain('forward to server');
    const other = await session({ pins: opened(store) });
    const shown = other.answered('tools/list', `{"tools":[${tool('a', '9007199254740992')}]}`);
    expect(shown).toContain('"tools":[]');
    expect(other.sendInShort('agent', call('c', 'a'))).toContain('decision BLOCK PIN_CHANGED');
  });

  it('stay as they were written where a manifest hides and rewrites', async () => {
    const manifest = await manifestOf(
      'server: files\nallowed_tools: [{ name: b }]\nblocked_params: [{ pattern: gone }]\n',
    );
    const { answered } = await session({ manifest });
    const list = `{"tools":[${tool('hidden', '9007199254740992')},${tool('b', '9007199254740993')}],"ttlMs":1}`;
    const shown = answered('tools/list', list);
    expect(shown).not.toContain('hidden');
    expect(shown).not.toContain('"gone":{}');
    expect(shown).toContain('"maximum":9007199254740993');
  });

  it('cannot be held against a pin once a secret was taken out of the list', async () => {
    const leaks = createLeakFinder([{ name: 'token', value: 'tk-9fX2qLm8Zr4Wv7Bd1Kp6' }]);
    const { answered } = await session({ pins: opened(EMPTY_PINS), leaks });
    const shown = answered(
      'tools/list',
      `{"note":"tk-9fX2qLm8Zr4Wv7Bd1Kp6","tools":[${tool('a', '9007199254740993')},${tool('b', '5')}]}`,
    );
    expect(shown).not.toContain('"name":"a"');
    expect(shown).toContain('"name":"b"');
  });
});

describe('an answer to a list', () => {
  const hidden = { name: 'hidden', uri: 'x:hidden', uriTemplate: 'x:{hidden}', inputSchema: {} };
  const lists = [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates'],
  ] as const;
  const shapes = lists.flatMap(([method, field]) =>
    [
      { [field]: { hidden } },
      { [field]: { 0: hidden, length: 1 } },
      { [field]: JSON.stringify([hidden]) },
      { [field]: 'hidden' },
      [hidden],
      [{ [field]: [hidden] }],
      'hidden',
    ].map((shape) => [method, JSON.stringify(shape)] as const),
  );

  it.each(shapes)(
    '%s that holds %s does not pass a manifest or the content gate',
    async (method, shape) => {
      const manifest = await manifestOf('server: files\nallowed_tools: [{ name: read }]\n');
      for (const options of [{ manifest }, { content: {} }]) {
        const { answered } = await session(options);
        const shown = answered(method, shape);
        expect(shown).toContain('"error"');
        expect(shown).not.toContain('hidden');
      }
    },
  );

  it.each(shapes.filter(([method]) => method === 'tools/list'))(
    '%s that holds %s does not pass the pins',
    async (method, shape) => {
      const { answered } = await session({ pins: opened(EMPTY_PINS) });
      expect(answered(method, shape)).not.toContain('hidden');
    },
  );

  it.each(['{}', '{"tools":null}', '{"tools":[]}', '{"nextCursor":"x"}'])(
    'passes where it lists nothing: %s',
    async (shape) => {
      const { answered } = await session({ pins: opened(EMPTY_PINS) });
      expect(answered('tools/list', shape)).toContain(shape);
    },
  );

  it('holds no entry that is no object with a name', async () => {
    const { answered } = await session({ pins: opened(EMPTY_PINS) });
    const entries = [[hidden], 'hidden', { name: ['hidden'] }, { title: 'hidden' }, { name: 'a' }];
    const shown = answered('tools/list', JSON.stringify({ tools: entries }));
    expect(shown).toContain('"tools":[{"name":"a"}]');
  });
});
