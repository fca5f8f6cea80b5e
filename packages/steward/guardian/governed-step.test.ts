// The guardian in front of a governed run: both models and tools of one run, on one record.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Event, isFailure, parseEventLine } from '@subluminal/contracts';
import { resolveSecretRef } from '@subluminal/gateway/config';
import { startAgentRuns } from '@subluminal/plane/apps/agent-run';
import { loadConfig } from '@subluminal/plane/config';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { startScriptedModel } from '../../../test/steward/scripted-model.ts';
import { openModels } from '../models/index.ts';
import { localModel, snapshotOf, temporaryHome } from '../models/testing/model-run.ts';
import { judgeProposal } from './index.ts';

const RULES =
  '  - { rule_id: no_delete, kind: deny, match: { server_name: { glob: [notes] }, tool_name: { glob: [delete] } }, effect: { action: BLOCK } }\n';

test('a verdict of the guardian tightens what the policy allows, and frees nothing', async () => {
  verifies('ST-4-ring2');
  let word = 'ALLOW';
  const model = await startScriptedModel(({ asked }) => {
    const id = /^Case ([0-9a-f]+)/.exec(asked)?.[1];
    return { text: JSON.stringify({ case: id, verdict: word, reason: 'As told.' }) };
  });
  onTestFinished(() => model.close());
  const home = temporaryHome();
  const file = join(home, 'events.jsonl');
  const env = { SUB_HOME: home, HOME: home, SUB_EVENTS: `file:${file}` };
  const loaded = await loadConfig({ env, flags: {}, cwd: home });
  if (!loaded.ok) throw new Error('the configuration is broken');
  const warn = (): void => {};
  const runs = await startAgentRuns({ loaded, env, cwd: home, agentId: 'steward', warn });
  if (isFailure(runs)) throw new Error(runs.message);
  onTestFinished(() => runs.close());
  const { config, paths, prices } = loaded;
  const places = { env, home, userHome: home, settings: {} };
  const models = openModels({
    ...{ config, paths, prices, hasChannel: true, tell: warn },
    chains: () => ({ agent: [localModel(model.url)] }),
    secrets: places,
    secret: (ref) => resolveSecretRef(ref, places),
  });
  onTestFinished(() => models.close());
  const done: string[] = [];
  const tool = (name: string) => ({
    name,
    description: `Can ${name}.`,
    inputSchema: { type: 'object' },
    call: async () => {
      done.push(name);
      return { text: 'Done.' };
    },
  });
  const servers = [{ name: 'notes', tools: [tool('write'), tool('delete')] }];
  const policy = await snapshotOf(RULES);
  const run = runs.open({ policy, policyPaths: [], servers });
  expect(await models.openRun(run.turns)).toBeUndefined();

  const act = async (name: string, said: string) => {
    word = said;
    const proposal = { server: 'notes', tool: name, params: {}, reasoning: 'The user asked.' };
    const judgement = await judgeProposal(models, {
      ...{ userMessage: 'Write it down.', proposal, runId: run.id, isAttended: true },
      policy: { tier: 'log_and_execute', rules: '' },
      timeoutMs: 60_000,
    });
    const outcome = await run.call({
      ...{ server: 'notes', tool: name, args: {}, key: `${name} ${said}` },
      judgements: [judgement],
      about: { reasoning: proposal.reasoning, task: 't', channel: 'terminal' },
    });
    return outcome.kind === 'refused' ? outcome.ruleId : outcome.kind;
  };
  expect(await act('write', 'ALLOW')).toBe('answered');
  expect(await act('write', 'BLOCK')).toBe('gate:judgement');
  expect(await act('delete', 'ALLOW')).toBe('no_delete');
  expect(done).toEqual(['write']);

  models.closeRun(run.id);
  await run.close();
  await runs.close();
  const events = eventsIn(file);
  const decisions = events.filter(({ type }) => type === 'tool_call_decision');
  expect(JSON.stringify(decisions)).toContain('"reason":"As told."');
  expect(events.filter(({ type }) => type === 'turn_end')).toHaveLength(3);
  expect(events.filter(({ type }) => type === 'run_end')).toMatchObject([
    { run: { status: 'SUCCEEDED', summary: { calls_total: 6, calls_blocked: 2 } } },
  ]);
});

function eventsIn(file: string): readonly Event[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`no event: ${line}`);
    return parsed.event;
  });
}
