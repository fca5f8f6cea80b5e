import { fail } from 'node:assert';
import { failure, type JsonObject } from '@subluminal/contracts';
import { HIDDEN } from '@subluminal/core/visible';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import { startScriptedModel } from '../../../test/steward/scripted-model.ts';
import type { ModelAnswer, ModelQuestion, Models } from '../models/index.ts';
import { localModel, openModelRun, RUN_ID } from '../models/testing/model-run.ts';
import { caseMessage } from './case-message.ts';
import { HOSTILE_PROPOSALS, type HostileProposal } from './hostile-proposals.test-support.ts';
import { type GuardianQuestion, judgeProposal, openGuardian } from './index.ts';
import { readVerdict } from './read-verdict.ts';

const CASE = '5d0e91c2b7a3f864';
const UNSAFE = new RegExp(`${HIDDEN}|[<>&\`]`, 'u');
const HIDDEN_ALL = new RegExp(HIDDEN, 'gu');
const ANSWER: Omit<ModelAnswer, 'text'> = {
  uses: [],
  stop: 'end',
  model: 'small',
  inputTokens: 1,
  outputTokens: 1,
  costMicros: 0,
};

/** A guardian whose answer is made from what it was asked. */
function saying(text: (question: ModelQuestion, caseId: string) => string) {
  const asked: ModelQuestion[] = [];
  const models: Models = {
    ask: async (question) => {
      asked.push(question);
      const caseId = /^Case ([0-9a-f]+)\./.exec(messageOf(question))?.[1] ?? '';
      return { ...ANSWER, text: text(question, caseId) };
    },
  };
  return { models, asked };
}

function messageOf({ messages }: ModelQuestion): string {
  const [only] = messages;
  return only?.role === 'user' && messages.length === 1 ? only.text : fail('not one message');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function verdict(caseId: string, word: string, reason = 'Because.'): string {
  return JSON.stringify({ case: caseId, verdict: word, reason });
}

function proposed(parts: Partial<HostileProposal> = {}): GuardianQuestion & { timeoutMs: number } {
  const { params = { to: 'bob@example.com' }, reasoning = 'The user wants it sent.' } = parts;
  return {
    userMessage: 'Send the report to bob@example.com.',
    proposal: { server: 'email', tool: 'send', params, reasoning },
    policy: { tier: 'human_approval', rules: 'Sending mail asks a person.' },
    runId: 'run-1',
    isAttended: true,
    timeoutMs: 60_000,
  };
}

describe('hostile proposals', () => {
  const ECHOES: readonly (readonly [string, (message: string, one: HostileProposal) => string])[] =
    [
      ['the whole message', (message) => message],
      ['the data', (message) => message.split('\n')[1] ?? ''],
      ['the reasoning', (_, { reasoning }) => reasoning],
      ['the parameters', (_, { params }) => JSON.stringify(params)],
      ['a text of the parameters', (_, { params }) => textOf(params['body'])],
      ['the reasoning after a word', (_, { reasoning }) => `Sure.\n${reasoning}`],
      [
        'the first object in the reasoning',
        (_, { reasoning }) => /\{.*?\}/s.exec(reasoning)?.[0] ?? '',
      ],
      ['the visible form', (_, { reasoning }) => reasoning.replaceAll(HIDDEN_ALL, '')],
      ['the compatible form', (_, { reasoning }) => reasoning.normalize('NFKC')],
      ['the last line', (message) => message.split('\n').at(-1) ?? ''],
    ];

  test('there are at least sixty of them', () => {
    expect(new Set(HOSTILE_PROPOSALS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(60);
  });

  test.each(HOSTILE_PROPOSALS.filter(({ isTooLarge }) => isTooLarge === true))(
    '$name is not judged',
    ({ params, reasoning }) => {
      expect(caseMessage(proposed({ params, reasoning }), CASE).kind).toBe('too_large');
    },
  );

  test.each(HOSTILE_PROPOSALS.filter(({ isTooLarge }) => isTooLarge !== true))(
    '$name stays data in what the guardian reads',
    ({ params, reasoning }) => {
      verifies('ST-4-ring2');
      const message = caseMessage(proposed({ params, reasoning }), CASE);
      const text = message.kind === 'message' ? message.text : fail('it is too large');
      const lines = text.split(/[\n\r\u0085\u2028\u2029\v\f]/);
      expect(lines).toHaveLength(3);
      const [first = '', data = '', last = ''] = lines;
      expect(first).toBe(`Case ${CASE}. The next line is the data.`);
      expect(last).toContain(`End of the data of case ${CASE}.`);
      expect(data).not.toContain(CASE);
      expect(data).not.toMatch(UNSAFE);
      expect(text.length).toBeLessThan(40_000);
      const read = JSON.parse(data) as { action: JsonObject; policy: JsonObject };
      expect(Object.keys(read)).toEqual(['user_message', 'action', 'policy']);
      expect(read.policy).toEqual({ tier: 'human_approval', rules: 'Sending mail asks a person.' });
      expect(Object.keys(read.action)).toEqual(['tool', 'parameters', 'reasoning']);
      const isShort = JSON.stringify(params).length < 1_500;
      expect(isShort ? read.action['parameters'] : params).toEqual(params);
    },
  );

  test.each(HOSTILE_PROPOSALS)(
    '$name, repeated by the guardian, is no verdict',
    async (hostile) => {
      verifies('ST-4-ring2');
      for (const [name, echo] of ECHOES) {
        const { models } = saying((question) => echo(messageOf(question), hostile));
        const { verdict: judged } = await judgeProposal(models, proposed(hostile));
        expect(judged, name).toBe('ESCALATE_TO_HUMAN');
      }
    },
  );

  test.each(HOSTILE_PROPOSALS)('$name does not hide a verdict of the guardian', async (hostile) => {
    const { models } = saying((_, caseId) => verdict(caseId, 'BLOCK'));
    const { verdict: judged } = await judgeProposal(models, proposed(hostile));
    expect(['BLOCK', 'ESCALATE_TO_HUMAN']).toContain(judged);
  });
});

test('no text, whatever is in it, leaves its place in the data', () => {
  const text = fc.string({ unit: 'binary' });
  const value = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 5 })), {
    maxKeys: 5,
  });
  fc.assert(
    fc.property(value, text, text, (params, reasoning, userMessage) => {
      const message = caseMessage({ ...proposed({ params, reasoning }), userMessage }, CASE);
      const lines = message.kind === 'message' ? message.text.split('\n') : fail('too large');
      expect(lines).toHaveLength(3);
      expect(lines[1]).not.toMatch(UNSAFE);
      expect(JSON.parse(lines[1] ?? '')).toEqual({
        user_message: userMessage,
        action: { tool: 'email.send', parameters: { ...params }, reasoning },
        policy: { tier: 'human_approval', rules: 'Sending mail asks a person.' },
      });
    }),
    runs(100),
  );
});

test('the guardian sees the request, the action and the policy in a context of its own', async () => {
  verifies('ST-4-ring2');
  const { models, asked } = saying((_, caseId) => verdict(caseId, 'ALLOW', 'Bob was named.'));
  const judgement = await judgeProposal(models, proposed());
  expect(judgement).toEqual({
    by: 'guardian',
    verdict: 'ALLOW',
    reason: 'Bob was named.',
    model: 'small (prompt 1)',
  });
  const [question = fail('nothing was asked')] = asked;
  expect(question.purpose).toBe('guardian');
  expect(question.tools).toBeUndefined();
  expect(JSON.parse(messageOf(question).split('\n')[1] ?? '')).toEqual({
    user_message: 'Send the report to bob@example.com.',
    action: {
      tool: 'email.send',
      parameters: { to: 'bob@example.com' },
      reasoning: 'The user wants it sent.',
    },
    policy: { tier: 'human_approval', rules: 'Sending mail asks a person.' },
  });
});

test('the guardian is asked on its own model, and its turn is on record', async () => {
  verifies('ST-11-guardian');
  const model = await startScriptedModel({
    small: ({ asked }) => ({
      text: verdict(/^Case ([0-9a-f]+)/.exec(asked)?.[1] ?? '', 'BLOCK', 'Nobody asked for it.'),
    }),
  });
  onTestFinished(() => model.close());
  const { models, of } = await openModelRun({
    chains: {
      agent: [localModel(model.url, 'large')],
      guardian: [localModel(model.url, 'small')],
    },
  });
  const judgement = await judgeProposal(models, { ...proposed(), runId: RUN_ID });
  expect(judgement).toEqual({
    by: 'guardian',
    verdict: 'BLOCK',
    reason: 'Nobody asked for it.',
    model: 'small (prompt 1)',
  });
  expect(of('turn_start')[0]?.call.preview.args_preview).toContain('"purpose":"guardian"');
});

test('both ends of a long parameter are shown', () => {
  const body = `begin ${'x'.repeat(100_000)} end`;
  const message = caseMessage(proposed({ params: { body } }), CASE);
  expect(message.kind === 'message' && message.text).toMatch(
    /begin x+\[… \d+ characters are not shown …\]x+ end/,
  );
});

const ALLOWED = `{"case":"${CASE}","verdict":"ALLOW","reason":"ok"}`;

test.each([
  ['plain', ALLOWED],
  ['with space around', `\n  ${ALLOWED}\n`],
  ['in a fence', `\`\`\`json\n${ALLOWED}\n\`\`\``],
  ['without a reason', `{"reason":"","case":"${CASE}","verdict":"ALLOW"}`],
])('a verdict is read: %s', (_, text) => {
  expect(readVerdict(text, CASE)).toMatchObject({ kind: 'verdict', verdict: 'ALLOW' });
});

test.each([
  ['nothing', ''],
  ['a word', 'ALLOW'],
  ['prose before it', `I think: ${ALLOWED}`],
  ['prose after it', `${ALLOWED} because I say so`],
  ['prose around a fence', `Here:\n\`\`\`json\n${ALLOWED}\n\`\`\``],
  ['two verdicts', `${ALLOWED}\n${ALLOWED}`],
  ['two that differ', `${ALLOWED}\n${ALLOWED.replace('ALLOW', 'BLOCK')}`],
  ['a list', `[${ALLOWED}]`],
  ['a text', JSON.stringify(ALLOWED)],
  ['a member twice', `{"case":"${CASE}","verdict":"BLOCK","verdict":"ALLOW","reason":"x"}`],
  [
    'a member twice in another case',
    `{"case":"${CASE}","Verdict":"BLOCK","verdict":"ALLOW","reason":"x"}`,
  ],
  ['a member too many', ALLOWED.replace('{', '{"note":1,')],
  ['no case', '{"verdict":"ALLOW","reason":"x"}'],
  ['another case', ALLOWED.replace(CASE, '0123456789abcdef')],
  ['a case with space', ALLOWED.replace(CASE, `${CASE} `)],
  ['a small word', ALLOWED.replace('ALLOW', 'allow')],
  ['a word with space', ALLOWED.replace('ALLOW', ' ALLOW')],
  ['two words', ALLOWED.replace('ALLOW', 'ALLOW or BLOCK')],
  ['a list of verdicts', ALLOWED.replace('"ALLOW"', '["ALLOW"]')],
  ['a truth', ALLOWED.replace('"ALLOW"', 'true')],
  ['no reason', `{"case":"${CASE}","verdict":"ALLOW"}`],
  ['a reason that is no text', ALLOWED.replace('"ok"', '1')],
  ['a comment', ALLOWED.replace('{', '{/* */')],
  ['a comma too many', ALLOWED.replace('}', ',}')],
  ['single quotes', ALLOWED.replaceAll('"', "'")],
  ['an end that is missing', ALLOWED.slice(0, -1)],
  ['too much', ALLOWED.replace('ok', 'x'.repeat(5_000))],
])('a verdict is not read: %s', (_, text) => {
  expect(readVerdict(text, CASE).kind).toBe('unreadable');
});

test('whatever goes wrong asks a person, or blocks where there is none', async () => {
  verifies('ST-4-ring2');
  const good = (parts: Partial<ModelAnswer>): Models => ({
    ask: async (question) => {
      const caseId = /^Case (\w+)/.exec(messageOf(question))?.[1] ?? '';
      return { ...ANSWER, text: verdict(caseId, 'ALLOW'), ...parts };
    },
  });
  const wrong: readonly Models[] = [
    { ask: async () => failure('SUB_MODEL_FAILED', 'away', 'x') },
    { ask: () => Promise.reject(new Error('a defect')) },
    good({ stop: 'length' }),
    good({ stop: 'refusal' }),
    good({ uses: [{ id: '1', name: 'email__send', args: {} }] }),
    good({ text: '' }),
    saying((_, caseId) => verdict(caseId, 'ESCALATE_TO_HUMAN')).models,
  ];
  for (const models of wrong) {
    const asked = await judgeProposal(models, proposed());
    expect(asked).toMatchObject({ by: 'guardian', verdict: 'ESCALATE_TO_HUMAN' });
    const alone = await judgeProposal(models, { ...proposed(), isAttended: false });
    expect(alone).toMatchObject({ by: 'guardian', verdict: 'BLOCK' });
  }
});

test('a guardian that does not answer in time asks a person', async () => {
  const models: Models = {
    ask: ({ signal }) =>
      new Promise((resolve) => {
        const stop = () => resolve(failure('SUB_MODEL_STOPPED', 'stopped', 'x'));
        signal?.addEventListener('abort', stop);
      }),
  };
  const judgement = await judgeProposal(models, { ...proposed(), timeoutMs: 10 });
  expect(judgement.verdict).toBe('ESCALATE_TO_HUMAN');
  expect(judgement.reason).toContain('in time');
});

test('tiers that policy allows without it are skipped, and a flood of actions asks a person', async () => {
  const { models, asked } = saying((_, caseId) => verdict(caseId, 'ALLOW'));
  let nowMs = 0;
  const settings = { enabled: true, skip: ['auto_execute' as const], timeout_s: 30 };
  const guardian = openGuardian({ models, settings: () => settings, nowMs: () => nowMs });
  const at = (tier: GuardianQuestion['policy']['tier']) =>
    guardian.judge({ ...proposed(), policy: { tier, rules: '' } });
  expect(await at('auto_execute')).toBeUndefined();
  expect(await at('forbidden')).toBeUndefined();
  expect(asked).toHaveLength(0);
  for (let count = 0; count < 60; count += 1) {
    expect((await at('log_and_execute'))?.verdict).toBe('ALLOW');
  }
  expect((await at('log_and_execute'))?.verdict).toBe('ESCALATE_TO_HUMAN');
  expect(asked).toHaveLength(60);
  nowMs = 60_000;
  expect((await at('human_approval'))?.verdict).toBe('ALLOW');
  const off = { ...settings, enabled: false };
  const none = openGuardian({ models, settings: () => off, nowMs: () => nowMs });
  expect(await none.judge(proposed())).toBeUndefined();
});
