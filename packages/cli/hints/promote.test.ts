// A rule from a hint: it goes into the text of a policy, and lets exactly that call pass.
import {
  compileBundle,
  decide,
  initialState,
  type ParseResult,
  parseWithEngines,
} from '@subluminal/core/policy';
import { unifiedDiff } from '@subluminal/plane/clients';
import { sha256 } from '@subluminal/plane/crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insertRule, type NewRule, ruleFor } from './allow-rule.ts';
import type { Hinted } from './find.ts';

const BLOCK = `# The policy of the tests.
policy_id: "p"   # odd spacing stays
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: first
    kind: tag
    enabled: true
    match: {}
    effect: { tag: { add_risk_class: [x] } }
    severity: info

  # Why nobody deletes.
  # It cannot be undone.
  - rule_id: no-delete
    kind: deny
    enabled: true
    match: {}
    effect: { action: BLOCK, hint: { hint_text: "Ask." } }
    severity: warn
`;

const CALL: Hinted = {
  id: 1,
  run_id: 'run-1',
  call_id: '0189abcd-0000-7000-8000-0000deadbeef',
  agent_id: 'coder',
  principal: null,
  client: null,
  approved_by: [],
  kind: 'tool_call',
  server_name: 'files',
  tool_name: 'delete',
  args_hash: 'ab'.repeat(32),
  args_content: undefined,
  result_content: undefined,
  tokens_in: null,
  tokens_out: null,
  cost_micros: null,
  transport: null,
  call_seq: 0,
  risk_class: [],
  decision: 'REJECT_WITH_HINT',
  rule_id: 'no-delete',
  severity: 'warn',
  reason_code: null,
  summary: null,
  would_action: null,
  would_rule_id: null,
  status: null,
  latency_ms: null,
  bytes_in: 10,
  bytes_out: null,
  error_class: null,
  error_message: null,
  preview_truncated: false,
  created_at_ms: 0,
  args_preview: '{}',
  result_preview: null,
  redaction_flags: 0,
  hint: {
    hint_text: 'Ask.',
    suggested_args_json: null,
    retry_advice: null,
    hint_kind: null,
    created_at_ms: 0,
  },
};

async function read(text: string, file = 'policy.yaml') {
  const parsed: ParseResult = await parseWithEngines({ file, text });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed;
}

interface Promoted {
  readonly text: string;
  readonly rule: NewRule;
}

async function promoted(
  text: string,
  call: Hinted = CALL,
  more: { readonly session?: boolean; readonly anyArgs?: boolean; readonly file?: string } = {},
): Promise<Promoted> {
  const { session = false, anyArgs = false, file = 'policy.yaml' } = more;
  const { bundle, positionOf } = await read(text, file);
  const index = bundle.rules.findIndex(({ rule_id }) => rule_id === call.rule_id);
  const wish = { call, env: 'dev', anyArgs, session, by: 'ann', at: '2026-01-31T12:00:00.000Z' };
  const rule = ruleFor(wish, bundle);
  return { text: insertRule(text, rule, positionOf(['rules', index])), rule };
}

async function verdict(text: string, call: Partial<Hinted> & { readonly env?: string } = {}) {
  const { bundle } = await read(text);
  const snapshot = await compileBundle(bundle, { sha256, profile: 'production' });
  const { run_id, agent_id, server_name, tool_name, args_hash, env = 'dev' } = { ...CALL, ...call };
  const identity = { run_id, agent_id, client: 'claude', env };
  const made = { identity, server_name, tool_name, args_hash, args: {}, bytes_in: 1 };
  return decide(snapshot, made, initialState(snapshot), 0).decision.action;
}

describe('a promoted rule', () => {
  test('a promoted rule stands above the rule that refused and its comments, and nothing else changes', async () => {
    const { text, rule } = await promoted(BLOCK);
    const diff = unifiedDiff({ before: BLOCK, after: text, name: 'policy.yaml' });
    expect(diff.split('\n')).toEqual([
      '--- a/policy.yaml',
      '+++ b/policy.yaml',
      '@@ -12,6 +12,17 @@',
      '     effect: { tag: { add_risk_class: [x] } }',
      '     severity: info',
      ' ',
      '+  - rule_id: "hint-deadbeef"',
      '+    kind: allow',
      '+    enabled: true',
      '+    match:',
      '+      server_name: { glob: ["files"] }',
      '+      tool_name: { glob: ["delete"] }',
      `+    when: '${rule.when}'`,
      '+    effect: { action: ALLOW }',
      '+    severity: info',
      '+    description: "Refused by no-delete with a hint; let pass by ann at 2026-01-31T12:00:00.000Z."',
      '+',
      '   # Why nobody deletes.',
      '   # It cannot be undone.',
      '   - rule_id: no-delete',
      '',
    ]);
  });

  test('a promoted rule lets this call pass, and no other', async () => {
    const { text } = await promoted(BLOCK);
    expect(await verdict(BLOCK)).toBe('REJECT_WITH_HINT');
    expect(await verdict(text)).toBe('ALLOW');
    expect(await verdict(text, { run_id: 'run-2' })).toBe('ALLOW');
    for (const other of [
      { args_hash: 'cd'.repeat(32) },
      { agent_id: 'other' },
      { env: 'prod' },
      { server_name: 'files2' },
      { tool_name: 'delete_all' },
    ]) {
      expect(await verdict(text, other), JSON.stringify(other)).toBe('REJECT_WITH_HINT');
    }
  });

  test('a promoted rule may apply to one run only, and to any arguments', async () => {
    const { text } = await promoted(BLOCK, CALL, { session: true, anyArgs: true });
    expect(await verdict(text, { args_hash: 'cd'.repeat(32) })).toBe('ALLOW');
    expect(await verdict(text, { run_id: 'run-2' })).toBe('REJECT_WITH_HINT');
  });

  test('a promoted rule gets another id when its own is taken', async () => {
    const once = await promoted(BLOCK);
    const twice = await promoted(once.text);
    expect(twice.rule.rule_id).toBe('hint-deadbeef-2');
    expect((await read(twice.text)).bundle.rules).toHaveLength(4);
  });

  test.each([
    ['carriage returns', BLOCK.replaceAll('\n', '\r\n'), 'policy.yaml'],
    ['a mark in front', `\uFEFF${BLOCK}`, 'policy.yaml'],
    [
      'a dash on its own line',
      BLOCK.replace('  - rule_id: no', '  -\n    rule_id: no'),
      'policy.yaml',
    ],
    ['a list that is not indented', BLOCK.replaceAll(/^ {2}/gm, ''), 'policy.yaml'],
    [
      'a flow list',
      BLOCK.replace(
        /rules:[\s\S]*/,
        'rules: [{ rule_id: no-delete, kind: deny, enabled: true, match: {}, effect: { action: BLOCK, hint: { hint_text: x } }, severity: warn }] # end\n',
      ),
      'policy.yaml',
    ],
  ])('a promoted rule can be inserted into a file with %s', async (_what, before, file) => {
    const { text } = await promoted(before, CALL, { file });
    expect(await verdict(text)).toBe('ALLOW');
    // What was there is there, in its order.
    let rest = text;
    for (const line of before.split(/(?<=\n)/)) {
      const words = line.trim().split('{ rule_id')[0] ?? '';
      const at = rest.indexOf(words);
      expect(at, words).toBeGreaterThanOrEqual(0);
      rest = rest.slice(at + words.length);
    }
    expect(text.includes('\r\n')).toBe(before.includes('\r\n'));
    expect(/[^\r]\n/.test(text)).toBe(!before.includes('\r\n'));
  });

  test('a promoted rule can be inserted into JSON', async () => {
    const { bundle } = await read(BLOCK);
    const json = JSON.stringify(bundle, null, 2);
    const { text } = await promoted(json, CALL, { file: 'policy.json' });
    const after = (await read(text, 'policy.json')).bundle;
    expect(after.rules.map(({ rule_id }) => rule_id)).toEqual([
      'first',
      'hint-deadbeef',
      'no-delete',
    ]);
  });

  test('a promoted rule matches exactly the same names, whatever they hold', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(name, name, name, async (server_name, tool_name, agent_id) => {
        const named = { server_name, tool_name, agent_id };
        const isNamed = [server_name, tool_name].every((one) => !/\p{Cc}/u.test(one));
        const { text } = await promoted(BLOCK, { ...CALL, ...named });
        expect(await verdict(text, named)).toBe(isNamed ? 'ALLOW' : 'BLOCK');
        const others = [
          { ...named, tool_name: `${tool_name}x` },
          { ...named, server_name: `x${server_name}` },
          { ...named, agent_id: `${agent_id} ` },
        ];
        for (const other of others) expect(await verdict(text, other)).not.toBe('ALLOW');
      }),
      { numRuns: 60 },
    );
  });
});
