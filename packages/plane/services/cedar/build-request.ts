// A call as the rules see it → the question for the Cedar engine. A call that has no exact form in
// Cedar is denied without a question.
import type {
  CedarValueJson,
  EntityJson,
  StatefulAuthorizationCall,
  TypeAndId,
} from '@cedar-policy/cedar-wasm/nodejs';
import type { JsonObject } from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import {
  type EntityMap,
  entitiesFrom,
  entityKey,
  entityUid,
  toolEntity,
  toolId,
} from './entities.ts';
import { type ArgumentType, mapArgs } from './map-arguments.ts';
import type { CedarRequest } from './types.ts';

/** The agent is the principal; its user and its workload are in the context. */
export function cedarRequest(
  { identity, server_name, tool_name, args }: Call,
  { riskClass, nowMs }: { readonly riskClass: readonly string[]; readonly nowMs: number },
): CedarRequest {
  const { agent_id: agent, client, env, run_id: run, principal } = identity;
  const workload = identity.workload && workloadName(identity.workload);
  return {
    principal: { kind: 'agent', id: agent },
    server: server_name,
    tool: tool_name,
    ...(args !== undefined && { args }),
    env,
    client,
    run,
    agent,
    ...(principal !== undefined && { user: principal }),
    ...(workload !== undefined && { workload }),
    risk: riskClass,
    nowMs,
  };
}

/** `namespace/account` in Kubernetes, `provider/repository` in a CI job; otherwise undefined. */
function workloadName(workload: JsonObject): string | undefined {
  const { namespace, service_account, ci_provider, repo } = workload;
  if (typeof namespace === 'string' && typeof service_account === 'string') {
    return `${namespace}/${service_account}`;
  }
  const isJob = typeof ci_provider === 'string' && typeof repo === 'string';
  return isJob ? `${ci_provider}/${repo}` : undefined;
}

/** What questions are built from; made once when policies are loaded. */
export interface QuestionInput {
  readonly uses: { readonly args: boolean; readonly flat: boolean };
  readonly types: ArgumentType | undefined;
  readonly entities: EntityMap;
  /** Entities that the policies name. */
  readonly named: readonly TypeAndId[];
}

export type CedarQuestion = Omit<StatefulAuthorizationCall, 'preparsedPolicySetId'>;

const NAME_LENGTH_MAX = 1_024;
const RISKS_MAX = 256;
const TYPES = { agent: 'Agent', user: 'User', workload: 'Workload' } as const;
const FLAT = { type: 'Flat', id: 'arguments' };

/** The question, or why the call cannot be asked about. */
export function buildQuestion(
  request: CedarRequest,
  input: QuestionInput,
): CedarQuestion | { readonly why: string } {
  const { principal, server, env, client, run, agent, user, workload, risk, nowMs } = request;
  const tool = toolId(request);
  if (tool === undefined) return { why: 'the server name is empty or has `::` in it' };
  const names = [principal.id, server, request.tool, env, client, run, agent, ...risk];
  names.push(user ?? '', workload ?? '');
  if (risk.length > RISKS_MAX || !names.every(isName)) {
    return { why: 'a name of the call is too long or no valid text' };
  }
  const now = cedarTime(nowMs);
  if (now === undefined) return { why: 'the time of the call is no time' };
  const args = mappedArguments(request, input);
  if (!args.ok) return { why: args.why };
  const uidOf = (type: keyof typeof TYPES, id: string) => ({ type: TYPES[type], id });
  const parties: { readonly [name: string]: TypeAndId } = {
    agent: uidOf('agent', agent),
    ...(user !== undefined && { user: uidOf('user', user) }),
    ...(workload !== undefined && { workload: uidOf('workload', workload) }),
  };
  const context: { [name: string]: CedarValueJson } = {
    args: args.args,
    flat: { __entity: FLAT },
    nulls: [...args.nulls],
    env,
    client,
    run,
    risk: [...risk],
    now,
  };
  for (const [name, uid] of Object.entries(parties)) context[name] = { __entity: uid };
  const who = uidOf(principal.kind, principal.id);
  const entities = callEntities(request, [who, ...Object.values(parties)], input);
  if (input.uses.flat) {
    entities.push({ uid: FLAT, attrs: {}, parents: [], tags: { ...args.flat } });
  }
  const action = { type: 'Action', id: 'tools/call' };
  return { principal: who, action, resource: { type: 'Tool', id: tool }, context, entities };
}

/** Arguments that no policy looks at are left out, so that they neither cost time nor fail. */
function mappedArguments({ args }: CedarRequest, { uses, types }: QuestionInput) {
  if (!uses.args) return { ok: true, args: {}, flat: {}, nulls: [] } as const;
  const why = 'the arguments were too large to inspect, and a policy needs them';
  return args === undefined ? ({ ok: false, why } as const) : mapArgs(args, types);
}

/** The tool and its server, in the groups that the entities file puts them in. */
function callEntities(
  { server, tool }: CedarRequest,
  others: readonly TypeAndId[],
  { entities, named }: QuestionInput,
): EntityJson[] {
  const host = { type: 'Server', id: server };
  const resource = { type: 'Tool', id: `${server}::${tool}` };
  const given = entitiesFrom(entities, [...named, ...others, host, resource]);
  const known = new Map(given.map((entity) => [entityKey(entityUid(entity.uid)), entity]));
  const groups = known.get(entityKey(host))?.parents ?? [];
  known.set(entityKey(host), { uid: host, attrs: { name: server }, parents: groups });
  const key = entityKey(resource);
  if (!known.has(key)) known.set(key, toolEntity({ server, tool }, []));
  return [...known.values()];
}

function isName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && !/\p{Cs}/u.test(text);
}

/** Cedar's datetime has four digits for the year. */
function cedarTime(nowMs: number): CedarValueJson | undefined {
  const date = new Date(nowMs);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9_999) return undefined;
  return { __extn: { fn: 'datetime', arg: date.toISOString() } };
}
