// The policy as the API shows it: what is in force, a reload, and what would be decided.
import {
  definedFields,
  type ExplainRequest,
  isFailure,
  isJsonObject,
  type JsonObject,
  parseModelEnvelope,
  tableFailure,
} from '@subluminal/contracts';
import { reclassify, tagTurn } from '@subluminal/core/classify';
import type { Caller, ServerClass } from '@subluminal/core/routing';
import { explainTurn } from '@subluminal/core/turn-policy';
import { parseJson } from '@subluminal/plane/os';
import { parse as parseYaml } from 'yaml';
import type { PolicyDesk, ReloadResult } from '../api/index.ts';
import { budgetLimits, budgetSnapshot } from '../budgets/index.ts';
import type { LiveGatewayConfig } from '../config/index.ts';
import type { GatewayStore } from '../store/types.ts';

export interface PolicyDeskOptions {
  readonly live: Pick<LiveGatewayConfig, 'current' | 'reload'>;
  readonly store: GatewayStore;
  readonly nowMs: () => number;
  readonly newId: () => string;
}

export function policyDesk({ live, store, nowMs, newId }: PolicyDeskOptions): PolicyDesk {
  return {
    version: () => live.current().version,
    current: () => policyValue(live.current().policySource.text),
    reload: async () => reloadResult(await live.reload()),
    async explain(request, caller) {
      const input = await explainedInput(request, caller);
      if (isFailure(input)) return input;
      const { decision, checked_rules: rules } = explainTurn(live.current().policy, input);
      return { decision: plain(decision), rules: rules.map(plain) };
    },
    rulesFor: () =>
      live
        .current()
        .policy.rules.map(({ id, description, priority, effect }) =>
          plain({ id, description, priority, action: effect.primary, ...effect }),
        ),
  };

  async function explainedInput(request: ExplainRequest, caller: Caller) {
    const envelope = parseModelEnvelope(request.envelope);
    if (!envelope.ok) return tableFailure('SUB_WIRE_REQUEST', 'The envelope is not well-formed.');
    const { value } = envelope;
    const { model = '', stream: isStream = true, max_tokens: maxTokens } = request.request ?? {};
    const config = live.current();
    const limits = budgetLimits(config.budgets, { caller, runId: null, nowMs: nowMs() });
    const states = await store.budgets.states(caller.tenantId, limits);
    const { task_hints: hints } = value;
    const tags = tagTurn({
      messages: [],
      isContinuation: value.session.is_continuation,
      hasSecret: hints.contains_secret_like_pattern,
      hasPersonalData: hints.contains_pii_like_pattern,
    });
    const repo = config.identity.repos.get(value.repo.repo_id ?? '');
    return {
      traceId: newId(),
      envelope: value,
      serverClass: {
        ...reclassify({ tags, findings: [], envelope: value, ...(repo && { repo }) }),
        ...givenClass(request.classifier ?? {}),
      },
      caller,
      ...(repo && { repo }),
      budget: budgetSnapshot(states),
      request: {
        model,
        wire: value.agent.wire_protocol,
        isStream,
        ...definedFields({ maxTokens }),
      },
    };
  }
}

/** What the asker says of the turn instead of what would be worked out. */
function givenClass(given: NonNullable<ExplainRequest['classifier']>): Partial<ServerClass> {
  return definedFields({
    taskType: given.task_type,
    complexity: given.complexity,
    dataSensitivity: given.data_sensitivity,
    isAgenticLoop: given.agentic_loop,
    hasSecretFinding: given.has_secret_finding,
    hasPersonalDataFinding: given.has_personal_data_finding,
    findings: given.findings,
    languages: given.languages,
  });
}

function reloadResult(result: Awaited<ReturnType<LiveGatewayConfig['reload']>>): ReloadResult {
  if (result.kind !== 'rejected') return { changed: result.kind === 'changed', problems: [] };
  const problems = result.problems.map(({ file, position, message, fix }) => {
    return { file, line: position.line, message, fix };
  });
  return { changed: false, problems };
}

function policyValue(text: string): JsonObject {
  return plain(parseYaml(text));
}

/** As JSON has it. */
function plain(value: unknown): JsonObject {
  const copy = parseJson(JSON.stringify(value));
  return isJsonObject(copy) ? copy : {};
}
