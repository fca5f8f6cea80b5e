// The schema: the user's declarations followed by ours; and the check of policies against it.
import type { Problem } from '@subluminal/core/policy';
import type { Engine } from './evaluate.ts';
import { type ArgumentType, argumentTypes } from './map-arguments.ts';
import {
  cedarProblem,
  engineText,
  errorByte,
  type ParsedPolicy,
  type PolicyText,
  problemAt,
  wholeText,
} from './parse-policies.ts';

type SchemaRead =
  | { readonly ok: true; readonly text: string; readonly types: ArgumentType | undefined }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const SCHEMA_CODE = 'SUB_CEDAR_SCHEMA';

/** Joins the schema; the user's declarations keep their positions because they come first. */
export function readSchema(engine: Engine, own: PolicyText | undefined): SchemaRead {
  const ownText = own?.text ?? '';
  const code = ownText.replace(/\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"/g, '');
  const declared = /\btype\s+Arguments\b/.test(code);
  const text = `${ownText}\n${declared ? '' : NO_ARGUMENTS}${BASE_SCHEMA}`;
  const answer = engine.schemaToJson(text);
  const source = own ?? wholeText('schema', '');
  if (answer.type === 'failure') {
    const problems = answer.errors.map((error) => {
      const found = engineText(error, 'Declare only `type Arguments` and types that it needs');
      const byte = undeclaredAt(found.fix, source.text) ?? errorByte(error);
      return problemAt(source, byte, { code: SCHEMA_CODE, ...found });
    });
    return { ok: false, problems };
  }
  const extra = Object.entries(answer.json).flatMap(([namespace, { actions }]) => {
    return Object.keys(actions).filter((name) => namespace !== '' || name !== 'tools/call');
  });
  if (extra.length > 0) {
    const message = `the action \`${extra[0]}\` is declared, but calls only ever have \`tools/call\``;
    const fix = 'Remove the action, and use `resource` to tell tools apart.';
    return { ok: false, problems: [problemAt(source, 0, { code: SCHEMA_CODE, message, fix })] };
  }
  return { ok: true, text, types: argumentTypes(answer.json) };
}

/** The engine gives no position for a type that is not declared, only its name. */
function undeclaredAt(fix: string, text: string): number | undefined {
  const [, name] = /^`(\w+)` has not been declared/.exec(fix) ?? [];
  const at = name === undefined ? -1 : text.search(new RegExp(`\\b${name}\\b`));
  return at === -1 ? undefined : Buffer.byteLength(text.slice(0, at));
}

/** Checks every policy against the schema; a set with errors is not used. */
export function validatePolicies(
  engine: Engine,
  policies: readonly ParsedPolicy[],
  schema: string,
): readonly Problem[] {
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const staticPolicies = Object.fromEntries(policies.map(({ id, source }) => [id, source.text]));
  const answer = engine.validate({ schema, policies: { staticPolicies } });
  if (answer.type === 'failure') {
    return answer.errors.map((error) => {
      return cedarProblem('policies', {
        code: 'SUB_CEDAR_POLICY',
        ...engineText(error, 'Correct it'),
      });
    });
  }
  const found = [
    ...answer.validationErrors.map((one) => ({ ...one, level: 'error' as const })),
    ...answer.validationWarnings.map((one) => ({ ...one, level: 'warning' as const })),
  ];
  return found.map(({ policyId, error, level }) => {
    const policy = byId.get(policyId);
    const source = policy?.source ?? wholeText(policyId, '');
    const said = engineText(error, 'Correct the policy, or declare its arguments in the schema');
    const isNever = policy?.effect === 'forbid' && said.message.startsWith('policy is impossible');
    const text = isNever
      ? { level: 'error' as const, ...NEVER_FORBIDS }
      : { level, ...explainMissingArgument(said) };
    return problemAt(source, errorByte(error), {
      code: 'SUB_CEDAR_POLICY',
      path: policyId,
      ...text,
    });
  });
}

/** A forbid that never holds is worse than none; most often it misspells an argument. */
const NEVER_FORBIDS = {
  message: 'this policy can never forbid anything, because its conditions never hold together',
  fix: 'Declare in the schema what it asks for with `has`, correct the name, or remove the policy.',
} as const;

/** The most frequent mistake is an argument that is not declared. */
function explainMissingArgument({ message, fix }: ReturnType<typeof engineText>) {
  const [, name] = /^attribute `args\.(\w+)` in context for .* not found$/.exec(message) ?? [];
  if (name === undefined) return { message, fix };
  const declare = `declare it: \`type Arguments = { ${name}?: String };\``;
  const isGuess = fix.startsWith('Did you mean');
  return {
    message: `the argument \`${name}\` is not declared in the schema`,
    fix: isGuess ? `${fix} Else ${declare}.` : `In the schema, ${declare}.`,
  };
}

/** What every policy can rely on; declarations of the user come before it. */
const BASE_SCHEMA = `
// Any set of principals, servers or tools that the entities file names.
entity Group in [Group];
entity Agent in [Group];
entity User in [Group];
entity Workload in [Group];
entity Server in [Group] { name: String };
// Its id is server::tool.
entity Tool in [Server, Group] { server: Server, name: String };
// A number that is neither whole nor exact in four decimals; equal to itself only.
entity Number;
// Every argument as text, by its path: context.flat.getTag("message.to[0]").
entity Flat tags String;

action "tools/call" appliesTo {
  principal: [Agent, User, Workload],
  resource: [Tool],
  context: {
    args: Arguments,
    flat: Flat,
    nulls: Set<String>,
    agent: Agent,
    user?: User,
    workload?: Workload,
    env: String,
    client: String,
    run: String,
    risk: Set<String>,
    now: datetime,
  },
};
`;
const NO_ARGUMENTS = '\ntype Arguments = {};\n';
