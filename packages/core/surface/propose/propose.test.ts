import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { GMAIL_TOOLS, manifestOf } from '../gmail.test-support.ts';
import { toolRule } from '../manifest/lookup.ts';
import { guessOf } from '../names/tool-verbs.ts';
import { proposeManifest } from './propose.ts';

const SERVER = { server: 'mail', transport: 'stdio' } as const;

async function tierIn(text: string, tool: string) {
  return toolRule(await manifestOf(text), tool).tier;
}

describe('a proposed manifest', () => {
  it('allows reads, asks for the rest, and forbids what looks destructive', async () => {
    verifies('ST-8.4', 'ST-7.2');
    const text = proposeManifest({
      ...SERVER,
      serverInfo: { name: 'Mail', version: '1' },
      tools: GMAIL_TOOLS,
    });
    expect(await tierIn(text, 'gmail.search')).toBe('auto_execute');
    expect(await tierIn(text, 'gmail.read')).toBe('auto_execute');
    expect(await tierIn(text, 'gmail.send')).toBe('human_approval');
    expect(await tierIn(text, 'gmail.modify_labels')).toBe('human_approval');
    expect(await tierIn(text, 'gmail.delete')).toBe('forbidden');
    expect(await tierIn(text, 'gmail.anything')).toBe('forbidden');
    expect(toolRule(await manifestOf(text), 'gmail.search').limits[0]?.limits.rate).toEqual({
      calls: 30,
      periodMs: 60_000,
    });
    expect(text).toContain(
      '  - name: "gmail.search" # reads, by its name\n    # says: "Searches the mailbox."\n',
    );
    expect(text).toMatch(
      /- name: "gmail.delete" # looks destructive.*\n {4}allowed: false # to allow/,
    );
  });

  it.each([
    ['get_issue', 'read'],
    ['listFiles', 'read'],
    ['get_and_delete', 'destroy'],
    ['read_or_update', 'write'],
    ['HTTPGet', 'read'],
    ['frobnicate', 'unknown'],
    ['rеad', 'unknown'],
    ['already', 'unknown'],
    ['dropTable', 'destroy'],
  ])('takes the name %s for %s', (name, guess) => {
    expect(guessOf(name)).toBe(guess);
  });

  it('takes the hints of a server only to be stricter', async () => {
    verifies('ST-8.4');
    const tools = [
      { name: 'frobnicate', annotations: { readOnlyHint: true } },
      { name: 'get_a', annotations: { readOnlyHint: false } },
      { name: 'get_b', annotations: { destructiveHint: true } },
      { name: 'delete_a', annotations: { readOnlyHint: true, destructiveHint: false } },
    ];
    const text = proposeManifest({ ...SERVER, tools });
    expect(await tierIn(text, 'frobnicate')).toBe('human_approval');
    expect(await tierIn(text, 'get_a')).toBe('human_approval');
    expect(await tierIn(text, 'get_b')).toBe('forbidden');
    expect(await tierIn(text, 'delete_a')).toBe('forbidden');
  });

  it('lists prompts and resources as denied until a person has read them', async () => {
    const text = proposeManifest({
      ...SERVER,
      tools: [],
      prompts: [{ name: 'hi' }],
      resources: [{ uri: 'file:///a?b=*' }],
    });
    const manifest = await manifestOf(text);
    expect(manifest.prompts).toMatchObject([{ source: 'hi', allowed: false }]);
    expect(manifest.resources).toMatchObject([{ exact: true, allowed: false }]);
  });

  it('cannot be made to say more by a hostile server', async () => {
    verifies('ST-8.4');
    const hostile = fc.oneof(
      fc.constantFrom(
        '*',
        'get_*',
        '?',
        '[a-z]',
        '{a,b}',
        'get\nallowed: true',
        '" #',
        "'",
        '\\',
        '\u202eget',
        '__proto__',
        'get_🩷',
        '\u{e0041}get',
      ),
      fc.string({ unit: 'binary' }),
    );
    const item = fc.oneof(
      fc.record({
        name: hostile,
        description: hostile,
        annotations: fc.constant({ readOnlyHint: true }),
      }),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item), hostile, hostile, async (tools, server, probe) => {
        fc.pre(server !== '' && !/\p{Cs}/u.test(server));
        const manifest = await manifestOf(proposeManifest({ server, transport: 'http', tools }));
        expect(manifest.server).toBe(server);
        const isOffered = tools.some(
          (tool) =>
            typeof tool === 'object' && tool !== null && 'name' in tool && tool.name === probe,
        );
        const { tier } = toolRule(manifest, probe);
        const isSafe = tier !== 'auto_execute' || guessOf(probe) === 'read';
        expect(isSafe && (isOffered || tier === 'forbidden')).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
