// The example that `sub gateway init` writes.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFailure, TASK_TYPES } from '@subluminal/contracts';
import { LIST_PRICES, priceBook } from '@subluminal/core/routing';
import { formatProblem } from '@subluminal/core/source';
import { decideTurn, type TurnPolicyInput } from '@subluminal/core/turn-policy';
import { expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { loadGatewayConfig } from './load-config.ts';
import type { GatewayConfig } from './types.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/gateway', import.meta.url));
const HOME = join(tmpdir(), 'no-home-of-subluminal');
const ENV = { ANTHROPIC_API_KEY: 'a-key', OPENAI_API_KEY: 'another-key' };

async function example(): Promise<GatewayConfig> {
  const places = { env: ENV, home: HOME, userHome: HOME, settings: {} };
  const loaded = await loadGatewayConfig(EXAMPLE, { places, use: 'check' });
  if (isFailure(loaded)) throw new Error(loaded.message);
  // The folder of a checkout may be writable by a group.
  const problems = loaded.problems.filter(({ code }) => code !== 'SUB_FILE_UNSAFE');
  expect(problems.map(formatProblem)).toEqual([]);
  if (!loaded.ok) throw new Error('not loaded');
  return loaded.config;
}

function turn(taskType: string, dataSensitivity: string, isSecret = false): TurnPolicyInput {
  return {
    traceId: '01890a5d-ac96-774b-bcce-b302099a8057',
    serverClass: {
      taskType,
      complexity: 'medium',
      dataSensitivity,
      isAgenticLoop: false,
      hasSecretFinding: isSecret,
      hasPersonalDataFinding: false,
      findings: [],
      languages: [],
    },
    caller: {
      tenantId: 'default',
      userId: 'ada',
      teamId: 'platform',
      role: 'developer',
      keyId: 'k',
    },
    budget: {
      teamMonthlyUsedMicros: 0,
      teamMonthlyReservedMicros: 0,
      teamMonthlyCapMicros: null,
      userDailyUsedMicros: 0,
      userDailyReservedMicros: 0,
      userDailyCapMicros: null,
      isSoftHit: false,
      isHardHit: false,
    },
    request: { model: 'claude-sonnet-4-6', wire: 'anthropic_messages', isStream: true },
  };
}

/** The table of default pools that the requirements give. */
const POOLS_BY_TASK: { readonly [task: string]: string } = {
  summary: 'cheap',
  test_output: 'cheap',
  repo_search: 'cheap',
  simple_edit: 'standard',
  code_edit: 'standard',
  planning: 'standard',
  review: 'standard',
  unknown: 'standard',
  architecture: 'strong',
  debug: 'strong',
  security_review: 'strong',
};

it('the shipped policy routes every kind of task, as the table of default pools says', async () => {
  verifies('R-6');
  const { policy, pools } = await example();
  for (const task of TASK_TYPES) {
    for (const level of ['low', 'medium', 'unknown', 'high']) {
      const { decision, failures } = decideTurn(policy, turn(task, level));
      const reading = level === 'low' ? 'cheap' : 'standard';
      const usual = task === 'file_reading' ? reading : POOLS_BY_TASK[task];
      expect(decision, `${task} ${level}`).toMatchObject(
        level === 'high'
          ? { primary_action: 'route_to_private_model', model_pool: 'private_strong' }
          : { primary_action: 'route', model_pool: usual },
      );
      expect(pools.has(decision.model_pool ?? '')).toBe(true);
      expect(failures).toEqual([]);
    }
  }
});

it('the shipped policy redacts secrets, and blocks them in a restricted repository', async () => {
  const { policy, identity } = await example();
  const secret = turn('code_edit', 'low', true);
  expect(decideTurn(policy, secret).decision).toMatchObject({
    primary_action: 'route',
    modifiers: ['redact'],
  });
  const repo = identity.repos.get('payments-core');
  expect(repo).toBeDefined();
  expect(decideTurn(policy, { ...secret, ...(repo && { repo }) }).decision).toMatchObject({
    primary_action: 'block',
    reasons: ['P-SEC-001'],
  });
});

it('the shipped prices cover the main hosted models and a local endpoint', async () => {
  verifies('R-7');
  const { prices, pools, endpoints } = await example();
  const book = priceBook(prices);
  for (const price of LIST_PRICES) {
    const provider = [...endpoints.values()].find((one) => one.provider === price.provider);
    if (provider === undefined) throw new Error(`no endpoint of ${price.provider}`);
    const target = { provider: provider.provider, endpointId: provider.id, model: price.model };
    expect(book.priceFor(target)).toEqual(price);
  }
  const local = { provider: 'openai_compat', endpointId: 'local', model: 'qwen2.5-coder' } as const;
  expect(book.priceFor(local)).toMatchObject({ inputMicros: 0, isEstimated: true });
  for (const { members } of pools.values()) {
    for (const { endpointId, model } of members) {
      const provider = endpoints.get(endpointId)?.provider ?? 'openai';
      expect(book.priceFor({ provider, endpointId, model })).toBeDefined();
    }
  }
});
