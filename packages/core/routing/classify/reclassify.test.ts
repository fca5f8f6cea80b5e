import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { envelope } from '../rules/worked-policy.test-support.ts';
import type { Repo } from '../types.ts';
import { type ClassifiedTurn, reclassify } from './reclassify.ts';
import { type TurnTags, tagTurn } from './tag-turn.ts';

const NOTHING = tagTurn({
  messages: [],
  isContinuation: false,
  hasSecret: false,
  hasPersonalData: false,
});
const EDIT: TurnTags = {
  ...NOTHING,
  languages: ['go'],
  hints: { ...NOTHING.hints, task_type: 'code_edit', complexity: 'medium' },
};
const REPO: Repo = { id: 'r', sensitivity: 'high', tags: [], storage: 'metadata_only' };
const classify = (over: Partial<ClassifiedTurn>) =>
  reclassify({ tags: EDIT, findings: [], ...over });

test('the task that the gateway sees holds against what the client claims', () => {
  verifies('R-11');
  const claim = envelope({ hints: { task_type: 'summary', complexity: 'low' } });
  expect(classify({ envelope: claim })).toMatchObject({
    taskType: 'code_edit',
    complexity: 'medium',
  });
});

test('a claim fills a gap only when the client is sure', () => {
  verifies('R-11');
  const claim = (confidence: number) => {
    const hints = {
      task_type: 'debug',
      confidence: { task_type: confidence, complexity: 0, data_sensitivity: 0 },
    } as const;
    return classify({ tags: NOTHING, envelope: envelope({ hints }) }).taskType;
  };
  expect(claim(0.5)).toBe('debug');
  expect(claim(0.4)).toBe('unknown');
  expect(classify({ tags: NOTHING }).taskType).toBe('unknown');
});

test.each([
  ['nothing', {}, 'low'],
  [
    'a secret that was found',
    { findings: [{ class: 'secret', rule: 'jwt', confidence: 'likely' }] },
    'high',
  ],
  [
    'personal data',
    { findings: [{ class: 'personal', rule: 'email', confidence: 'likely' }] },
    'medium',
  ],
  ['a sensitive repository', { repo: REPO }, 'high'],
  [
    'a client that says so',
    { envelope: envelope({ hints: { data_sensitivity: 'high' } }) },
    'high',
  ],
  [
    'a client that denies a secret',
    {
      envelope: envelope({ hints: { data_sensitivity: 'low' } }),
      findings: [{ class: 'secret', rule: 'jwt', confidence: 'certain' }],
    },
    'high',
  ],
] as const)('the sensitivity comes from %s', (_, over, level) => {
  verifies('R-11');
  expect(classify(over).dataSensitivity).toBe(level);
});

test('a hint of a secret is listed, and makes nothing sensitive', () => {
  const findings = [{ class: 'secret', rule: 'assignment', confidence: 'hint' }] as const;
  expect(classify({ findings })).toMatchObject({
    dataSensitivity: 'low',
    hasSecretFinding: false,
    findings: [{ type: 'assignment', confidence: 'hint' }],
  });
});

test('findings have the names that policies use, each once', () => {
  const findings = [
    'aws-access-key',
    'aws-secret-key',
    'private-key',
    'google-api-key',
    'jwt',
    'slack-token',
  ].map((rule) => ({ class: 'secret', rule, confidence: 'certain' }) as const);
  expect(classify({ findings })).toMatchObject({
    hasSecretFinding: true,
    hasPersonalDataFinding: false,
    findings: ['aws_key', 'private_key', 'gcp_key', 'jwt', 'slack_token'].map((type) => {
      return { type, confidence: 'certain' };
    }),
    languages: ['go'],
  });
});
