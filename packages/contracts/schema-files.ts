// Which JSON Schemas are published, by file name.
import { BUNDLE, HINT_RECIPE, MATCH, RULE } from './bundle.ts';
import { DECISION, ERROR_DATA, HINT, POLICY_REF, TERMINATE } from './decision/decision.ts';
import { SOURCE, WORKLOAD } from './events/envelope.ts';
import { CALL_REF } from './events/tool-call.ts';
import { EVENT } from './events/types.ts';
import { HUB_ENDPOINTS } from './hub.ts';
import { PACK_VERSION } from './shape/formats.ts';
import { jsonSchema } from './shape/json-schema.ts';
import type { JsonObject, Shape } from './shape/shape.ts';
import { SNAPSHOT_FILE } from './snapshot.ts';

interface SchemaSource {
  readonly shape?: Shape;
  readonly title: string;
  readonly description: string;
  readonly defs: { readonly [name: string]: Shape };
}

const DECISION_PARTS = { Hint: HINT, Terminate: TERMINATE, PolicyRef: POLICY_REF };

const SOURCES: { readonly [file: string]: SchemaSource } = {
  'event.schema.json': {
    shape: EVENT,
    title: 'Subluminal event',
    description:
      'Contract A: one line of the event stream. Unknown fields are ignored; skip unknown types.',
    defs: { ...DECISION_PARTS, CallRef: CALL_REF, Source: SOURCE, Workload: WORKLOAD },
  },
  'bundle.schema.json': {
    shape: BUNDLE,
    title: 'Subluminal policy bundle',
    description: 'Contract B: a policy as written, in YAML or JSON.',
    defs: { Rule: RULE, Match: MATCH, HintRecipe: HINT_RECIPE },
  },
  'snapshot.schema.json': {
    shape: SNAPSHOT_FILE,
    title: 'Subluminal policy snapshot',
    description: 'Contract B: a policy as compiled, with its hash and perhaps a signature.',
    defs: { Rule: RULE, Match: MATCH, HintRecipe: HINT_RECIPE },
  },
  'decision.schema.json': {
    shape: DECISION,
    title: 'Subluminal decision',
    description: 'Contract C: what the data plane decided about a call.',
    defs: { Hint: HINT, Terminate: TERMINATE },
  },
  'error-data.schema.json': {
    shape: ERROR_DATA,
    title: 'Subluminal error data',
    description: 'Contract C: `error.data` of a refused call.',
    defs: { Hint: HINT, PolicyRef: POLICY_REF },
  },
  'hub.schema.json': {
    title: 'Subluminal hub API',
    description: 'Requests and responses of the hub, each a definition of its own.',
    defs: {
      EvaluateRequest: HUB_ENDPOINTS.evaluate.request,
      EvaluateResponse: HUB_ENDPOINTS.evaluate.response,
      TaskResponse: HUB_ENDPOINTS.task.response,
      HeartbeatRequest: HUB_ENDPOINTS.heartbeat.request,
      HeartbeatResponse: HUB_ENDPOINTS.heartbeat.response,
      HealthResponse: HUB_ENDPOINTS.health.response,
      Decision: DECISION,
      Workload: WORKLOAD,
    },
  },
};

/** Every published schema, by the name of its file. */
export function schemaFiles(): { readonly [file: string]: JsonObject } {
  const files = Object.entries(SOURCES).map(([file, source]): [string, JsonObject] => {
    const { shape, title, description, defs } = source;
    const id = `https://subluminal.dev/schemas/${PACK_VERSION}/${file}`;
    return [file, jsonSchema(shape, { id, title, description, defs })];
  });
  return Object.fromEntries(files);
}

/** A schema as its file has it. */
export function schemaText(schema: JsonObject): string {
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
