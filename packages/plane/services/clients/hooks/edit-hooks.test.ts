import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { documentIn } from '../text/document.ts';
import { addHooks, findHooks, removeHooks } from './edit-hooks.ts';
import { hookCommand } from './hook-command.ts';
import { CLIENT_HOOKS, hooksOf } from './registry.ts';
import type { ClientHooks } from './types.ts';

const CALL = { program: ['/usr/bin/node', '/opt/sub.mjs'], homes: { HOME: '/home/u' } };

function clientHooks(id: string, isManaged = false): ClientHooks {
  const hooks = hooksOf(id, isManaged);
  if (hooks === undefined) throw new Error('no hooks');
  return hooks;
}

function added(text: string, hooks: ClientHooks, format: 'json' | 'jsonc' = 'jsonc'): string {
  const result = addHooks({ text, format }, hooks, hookCommand(hooks.client, CALL));
  if (result.kind === 'refused') throw new Error(result.why);
  return result.text;
}

function removed(text: string, hooks: ClientHooks, base?: string): string {
  const result = removeHooks({ text, format: 'jsonc' }, hooks, base);
  if (result.kind === 'refused') throw new Error(result.why);
  return result.text;
}

const claude = clientHooks('claude-code');

describe.each(CLIENT_HOOKS)('the hooks of $client', (hooks) => {
  const command = hookCommand(hooks.client, CALL);
  const events = Object.keys(hooks.settings.items(command));
  const own = fc.constantFrom<readonly unknown[]>(
    [],
    [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'echo "mine" # sub hook' }] }],
    [{ command: './mine.sh' }, { hooks: [{ type: 'http', url: 'http://x' }] }],
  );
  const settings = fc.record(
    {
      model: fc.string({ unit: 'binary' }),
      env: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
      hooks: fc.dictionary(fc.constantFrom(...events, 'Other'), own, { maxKeys: 3 }),
      version: fc.constant(1),
    },
    { requiredKeys: [] },
  );
  const style = fc.record({
    indent: fc.constantFrom('', '  ', '\t', '    '),
    lineBreak: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\uFEFF'),
    end: fc.constantFrom('', '\n'),
  });

  test('come behind those that are there, and go without a trace', () => {
    fc.assert(
      fc.property(settings, style, (value, { indent, lineBreak, mark, end }) => {
        // A lone surrogate has no bytes, so no file holds one.
        const plain = Buffer.from(JSON.stringify(value, null, indent)).toString();
        const base = mark + plain.replaceAll('\n', lineBreak) + end;
        const text = added(base, hooks, 'json');
        const after = documentIn(text, 'json');
        for (const event of events) {
          const before = value.hooks?.[event] ?? [];
          const list = after?.valueAt(['hooks', event]);
          expect(list).toEqual([...before, hooks.settings.items(command)[event]]);
        }
        expect(findHooks({ value: after?.value }, hooks)).toHaveLength(events.length);
        expect(text.slice(0, mark.length)).toBe(mark);
        const back = removed(text, hooks, base);
        expect(documentIn(back, 'json')?.value).toEqual(documentIn(base, 'json')?.value);
        // What is written elsewhere does not move.
        const hasOwn = Object.keys(value).some((key) => key !== 'hooks' && key !== 'version');
        expect(hasOwn && value.hooks === undefined ? back : base).toBe(base);
      }),
    );
  });

  test('make a whole file where there is none, and leave nothing of it', () => {
    const text = added('', hooks);
    expect(text).toMatch(/^\{\n {2}"/);
    expect(documentIn(removed(text, hooks, ''), 'jsonc')?.value).toEqual({});
  });
});

test('comments and commas stay where they are', () => {
  const base = `{
  // of mine
  "hooks": {
    "PreToolUse": [
      { "hooks": [{ "type": "command", "command": "a" }] }, // the first
      { "hooks": [] } // the last
    ], /* no more */
    "Stop": [ /* none */ ],
  },
  "model": "x", // fast
}
`;
  const text = added(base, claude);
  for (const note of ['of mine', 'the first', 'the last', 'no more', 'none', 'fast']) {
    expect(text).toContain(note);
  }
  expect(removed(text, claude, base)).toBe(base);
});

test('a handler that somebody has put beside ours stays', () => {
  const text = added('{"a":1}', claude);
  const mixed = text.replace(
    '"onFailure":"block"}',
    '"onFailure":"block"},{"type":"command","command":"mine"}',
  );
  const back = documentIn(removed(mixed, claude, '{"a":1}'), 'json')?.value;
  expect(back).toEqual({
    a: 1,
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
  });
});

test('an edit elsewhere stays, whatever came in between', () => {
  const base = '{\n  "model": "x"\n}\n';
  const changed = added(base, claude).replace('"x"', '"y"');
  expect(removed(changed, claude, base)).toBe('{\n  "model": "y"\n}\n');
});

test.each([
  ['[]', 'no object'],
  ['{"hooks": []}', '`hooks` is no object'],
  ['{"hooks": {"PreToolUse": {}}}', '`hooks.PreToolUse` is no list'],
  ['{"hooks": ', 'broken at line 1'],
  ['{"hooks": {}, "hooks": {}}', 'twice'],
])('%s is left as it is', (text, why) => {
  const result = addHooks({ text, format: 'json' }, claude, 'x');
  expect(result.kind === 'refused' && result.why).toContain(why);
});

describe('managed settings of Claude Code', () => {
  const managed = clientHooks('claude-code', true);

  test('also stop the shell of skills, which calls no hook, and let go of it again', () => {
    for (const base of ['', '{}', '{"model": "x"}\n']) {
      const text = added(base, managed);
      expect(documentIn(text, 'jsonc')?.valueAt(['disableSkillShellExecution'])).toBe(true);
      expect(documentIn(added(base, claude), 'jsonc')?.value).not.toHaveProperty(
        'disableSkillShellExecution',
      );
      expect(removed(text, managed, base || '{}')).toBe(
        removed(added(base, claude), claude, base || '{}'),
      );
    }
  });

  test('keep what was set there before', () => {
    const base = '{"disableSkillShellExecution": true}';
    expect(removed(added(base, managed), managed, base)).toBe(base);
  });
});
