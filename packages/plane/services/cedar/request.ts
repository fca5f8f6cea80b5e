// A call → what the engine is asked. What cannot be told without loss is not asked, but denied.
import type {
  CedarValueJson,
  EntityJson,
  StatefulAuthorizationCall,
  TypeAndId,
} from '@cedar-policy/cedar-wasm/nodejs';
import type { ArgumentType } from './argument-types.ts';
import { type EntityMap, entitiesFrom, keyOf, toolEntity, uidOf } from './entities.ts';
import { mapArgs } from './map.ts';
import { splitToolId, toolId } from './tool-id.ts';
import type { CedarRequest, PrincipalKind } from './types.ts';

/** What requests are built with; made once when policies are loaded. */
export interface Asking {
  readonly uses: { readonly args: boolean; readonly flat: boolean };
  readonly types: ArgumentType | undefined;
  readonly entities: EntityMap;
  /** Entities that policies name themselves. */
  readonly named: readonly TypeAndId[];
}

export type Question = Omit<StatefulAuthorizationCall, 'preparsedPolicySetId'>;
type Asked =
  | { readonly ok: true; readonly question: Question }
  | { readonly ok: false; readonly why: string };

const NAME_LENGTH_MAX = 1_024;
const RISKS_MAX = 256;
const TYPES: { readonly [kind in PrincipalKind]: string } = {
  agent: 'Agent',
  user: 'User',
  workload: 'Workload',
};
const FLAT = { type: 'Flat', id: 'arguments' };

export function ask(request: CedarRequest, asking: Asking): Asked {
  const id = toolId(request);
  const tool = id === undefined ? undefined : splitToolId(id);
  if (tool === undefined) return { ok: false, why: 'the server name is empty or has `::` in it' };
  const { principal, env, client, run, agent, user, workload, risk, nowMs } = request;
  const texts = [
    principal.id,
    tool.server,
    tool.tool,
    env,
    client,
    run,
    agent,
    user ?? '',
    workload ?? '',
  ];
  if (risk.length > RISKS_MAX || ![...texts, ...risk].every(isName)) {
    return { ok: false, why: 'a name of the call is too long or no valid text' };
  }
  const now = timeOf(nowMs);
  if (now === undefined) return { ok: false, why: 'the time of the call is no time' };
  const args = argsOf(request, asking);
  if (!args.ok) return args;
  const context = {
    args: args.args,
    flat: { __entity: FLAT },
    nulls: [...args.nulls],
    agent: { __entity: { type: TYPES.agent, id: agent } },
    ...(user === undefined ? {} : { user: { __entity: { type: TYPES.user, id: user } } }),
    ...(workload === undefined
      ? {}
      : { workload: { __entity: { type: TYPES.workload, id: workload } } }),
    env,
    client,
    run,
    risk: [...risk],
    now,
  };
  const who = { type: TYPES[principal.kind], id: principal.id };
  const others = [agent, user, workload].flatMap((name, index) => {
    return name === undefined ? [] : [{ type: Object.values(TYPES)[index] ?? '', id: name }];
  });
  const entities = [
    ...callEntities({ tool, others: [who, ...others] }, asking),
    ...(asking.uses.flat ? [{ uid: FLAT, attrs: {}, parents: [], tags: { ...args.flat } }] : []),
  ];
  const resource = { type: 'Tool', id: `${tool.server}::${tool.tool}` };
  const action = { type: 'Action', id: 'tools/call' };
  return { ok: true, question: { principal: who, action, resource, context, entities } };
}

/** Arguments that no policy looks at are not told, so that they can neither cost nor fail. */
function argsOf({ args }: CedarRequest, { uses, types }: Asking) {
  if (!uses.args) return { ok: true, args: {}, flat: {}, nulls: [] } as const;
  if (args === undefined) {
    return {
      ok: false,
      why: 'the arguments were too large to inspect, and a policy needs them',
    } as const;
  }
  return mapArgs(args, types);
}

interface Parties {
  readonly tool: { readonly server: string; readonly tool: string };
  readonly others: readonly TypeAndId[];
}

/** The tool and its server as they are, in the groups that the entities put them in. */
function callEntities({ tool, others }: Parties, asking: Asking): readonly EntityJson[] {
  const server = { type: 'Server', id: tool.server };
  const resource = { type: 'Tool', id: `${tool.server}::${tool.tool}` };
  const given = entitiesFrom(asking.entities, [...asking.named, ...others, server, resource]);
  const known = new Map(given.map((entity) => [keyOf(uidOf(entity.uid)), entity]));
  const groups = known.get(keyOf(server))?.parents ?? [];
  known.set(keyOf(server), { uid: server, attrs: { name: tool.server }, parents: groups });
  if (!known.has(keyOf(resource))) known.set(keyOf(resource), toolEntity(tool, []));
  return [...known.values()];
}

function isName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && !/\p{Cs}/u.test(text);
}

/** Cedar's datetime has four digits for the year. */
function timeOf(nowMs: number): CedarValueJson | undefined {
  const date = new Date(nowMs);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9_999) return undefined;
  return { __extn: { fn: 'datetime', arg: date.toISOString() } };
}
