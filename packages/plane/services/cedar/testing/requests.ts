// Requests and opened policies for the tests of this folder.
import { formatProblem } from '@subluminal/core/policy';
import { openSources } from '../load-policies.ts';
import { wholeText } from '../parse-policies.ts';
import type { Cedar, CedarOpened, CedarRequest } from '../types.ts';

const NOON_MS = Date.UTC(2026, 10, 3, 12);

export function request(changes: Partial<CedarRequest> = {}): CedarRequest {
  return {
    principal: { kind: 'agent', id: 'coder' },
    server: 'filesystem',
    tool: 'read_file',
    args: {},
    env: 'dev',
    client: 'codex',
    run: 'run-1',
    agent: 'coder',
    risk: [],
    nowMs: NOON_MS,
    ...changes,
  };
}

/** A call whose arguments were too large to inspect. */
export function unseen(): CedarRequest {
  const { args: _args, ...rest } = request();
  return rest;
}

export function opened(result: CedarOpened): Cedar {
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.cedar;
}

export function problemsOf(result: CedarOpened): readonly string[] {
  return result.problems.map(formatProblem);
}

interface CedarTexts {
  /** By id; each text is one policy. */
  readonly policies: Readonly<Record<string, string>>;
  readonly schema?: string;
  readonly entities?: unknown;
}

/** Opens policies that are given as texts. */
export function openCedar({ policies, schema, entities }: CedarTexts): Promise<CedarOpened> {
  return openSources({
    path: 'policies',
    policies: Object.entries(policies).map(([id, text]) => wholeText(id, text)),
    schema: schema === undefined ? undefined : wholeText('schema', schema),
    entities: entities === undefined ? undefined : { file: 'entities', given: entities },
  });
}
